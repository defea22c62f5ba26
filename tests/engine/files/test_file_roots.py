"""No root opens the workspace itself to calls; what else lies in or around it is as the policy says."""

from __future__ import annotations

from pathlib import Path

import pytest

import blendwright
from blendwright.engine.files.roots import FileRoots
from blendwright.engine.scene.external_files import External, Externals
from blendwright.journal.file_modes import OWN
from blendwright.policy.policy import Levels, Policy, Rules, Verdict
from support.plans.documents import box

BOX = {"kind": "cube", "name": "Box"}
REPLACING = Policy(policy=Rules(levels=Levels(destructive=Verdict.ALLOW)))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "ws" / "checkpoints").mkdir(parents=True)
    return tmp_path


def allowed(reach: FileRoots, path: Path) -> bool:
    return reach.allows(path.resolve(), Verdict.ALLOW)


def test_a_workspace_inside_a_root_is_closed(project: Path) -> None:
    reach = FileRoots({str(project): Verdict.ALLOW}, project / "ws")
    for name in ("ws", "ws/x.blend", "ws/new/x.blend", "ws/checkpoints/a.blend", "ws/journal.db"):
        assert not allowed(reach, project / name), name
    for name in ("x.blend", "ws.blend", "ws2/x.blend", "checkpoints/x.blend", "journal.db"):
        assert allowed(reach, project / name), name


def test_links_lead_to_it_in_vain(project: Path) -> None:
    (project / "shortcut").symlink_to(project / "ws" / "checkpoints")
    (project / "elsewhere").mkdir()
    (project / "ws" / "artifacts").symlink_to(project / "elsewhere")
    (project / "link").symlink_to(project / "ws")
    reach = FileRoots({str(project): Verdict.ALLOW}, project / "link")
    for name in ("shortcut/a.blend", "link/x.blend", "ws/../link/x.blend", "elsewhere/a.png"):
        assert not allowed(reach, project / name), name


def test_where_a_project_lies_in_the_workspace_only_what_the_program_keeps_is_closed(project: Path) -> None:
    for roots in ({str(project): Verdict.ALLOW}, {str(project.parent): Verdict.DENY, str(project): Verdict.ALLOW}):
        reach = FileRoots(roots, project)
        assert allowed(reach, project / "x.blend") and allowed(reach, project / "models" / "x.obj")
        assert not any(allowed(reach, project / name / "x.blend") for name in OWN)
    named = FileRoots({str(project): Verdict.ALLOW, str(project / "ws" / "out"): Verdict.ALLOW}, project / "ws")
    assert allowed(named, project / "ws" / "out" / "x.blend") and not allowed(named, project / "ws" / "x.blend")
    inside = FileRoots({str(project / "ws" / "checkpoints"): Verdict.ALLOW}, project / "ws")
    assert not allowed(inside, project / "ws" / "checkpoints" / "x.blend")


def test_a_scene_does_not_read_the_workspace_as_its_external_file(project: Path) -> None:
    picture = project / "ws" / "artifacts" / "a.png"
    picture.parent.mkdir()
    picture.write_bytes(b"png")
    recorded = External(str(picture), "present", None, None, ())
    roots = {str(project): Verdict.ALLOW}
    assert Externals(FileRoots(roots, project / "ws")).now(recorded).state == "withheld"
    assert Externals(FileRoots(roots)).now(recorded).state == "present"


def test_calls_and_plans_leave_the_workspace_alone(project: Path) -> None:
    place = project / "used"
    with blendwright.open(place, roots=[project], policy=REPLACING, spare=False) as scene:
        assert scene.call("mesh.create_primitive", **BOX).ok
        assert scene.call("python.run", code="import bpy\nbpy.data.objects['Box'].location.x = 1").ok
        assert scene.call("render.preview", view="ISO").ok
        (saved,) = (place / "checkpoints").iterdir()
        before = saved.read_bytes()
        for tool, path in (("file.export", saved), ("file.import", saved), ("render.still", place / "new.png")):
            more = {} if tool == "file.import" else {"overwrite": True}
            outcome = scene.outcome(tool, {"path": str(path), **more})
            (finding,) = outcome.findings
            assert (finding.rule, finding.pointer) == ("path_workspace", "/path"), tool
            assert str(place) in (finding.cure or "")
        plan = {
            "request_id": "r",
            "operations": [box("a", tool_name="file.export", args={"path": str(place / "x.stl")})],
        }
        for report in (scene.run(plan), scene.preview(plan).report):
            assert [finding.rule for finding in report.all_findings()] == ["path_workspace"]
        assert saved.read_bytes() == before
    kept = {path.name for path in place.iterdir()}
    assert kept <= set(OWN), "what the program keeps is in the list"
    assert {"artifacts", "logs", "scratch"} <= kept
    assert [path for path in (place, *place.rglob("*")) if path.stat().st_mode & 0o077] == [], "for its owner alone"
