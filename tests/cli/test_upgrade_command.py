"""blendwright compare and upgrade: exit codes, both forms of output, the report on the disk."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import blendwright
from blendwright.bridge.environments.series import own_blender
from blendwright.versions import pictures as version_pictures
from blendwright.workspace.reading import read_journal
from support.plans.documents import box
from support.processes.blender_environments import use_blender
from support.processes.shell import Shell

OWN = (own_blender() or "").rpartition(".")[0]
OTHER = "4.5"

pytestmark = pytest.mark.skipif(OWN == OTHER, reason="the Blender of this environment is the one to move from")


@pytest.fixture
def other(monkeypatch: pytest.MonkeyPatch) -> str:
    return use_blender(OTHER, monkeypatch)


@pytest.fixture(scope="module")
def scene_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A scene of the own Blender with much that a comparison has to read."""
    place = tmp_path_factory.mktemp("file")
    with blendwright.open(place / "workspace", roots=[place], spare=False) as scene:
        for tool, args in (
            ("mesh.create_primitive", {"kind": "uv_sphere", "name": "Ball"}),
            ("material.ensure_principled", {"name": "Clay", "base_color": [0.6, 0.3, 0.2]}),
            ("material.assign", {"object": "Ball", "material": "Clay"}),
            ("modifier.add", {"object": "Ball", "name": "Row", "settings": {"type": "ARRAY", "count": 3}}),
            ("animation.set_keyframe", {"object": "Ball", "channel": "location", "frame": 1, "value": [0, 0, 0]}),
            ("light.create", {"name": "Sun", "type": "SUN"}),
            ("camera.create", {"name": "Camera", "location": [0, -8, 2], "rotation_euler_deg": [80, 0, 0]}),
        ):
            done = scene.call(tool, **args)
            assert done.ok, (tool, done.message)
        assert scene.call("file.export", path=str(place / "scene.blend")).ok
    return place / "scene.blend"


def test_a_file_is_the_same_in_one_blender_twice(shell: Shell, scene_file: Path) -> None:
    before = scene_file.read_bytes()
    ran = shell("compare", str(scene_file), "--blender", OWN, "--blender", OWN, "--json", code=0)
    assert ran.document["same"] is True and ran.document["ok"] is True
    assert ran.document["by_design"] == [] and ran.document["scenes"][0]["parts"] == []
    assert scene_file.read_bytes() == before


@pytest.mark.slow
def test_a_file_that_parts_is_told_with_pictures(shell: Shell, other: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(version_pictures, "WIDTH", 96)
    monkeypatch.setattr(version_pictures, "HEIGHT", 72)
    file = shell.place / "clay.blend"
    with blendwright.open(shell.place / "w", blender=other, roots=[shell.place], spare=False) as scene:
        assert scene.call("mesh.create_primitive", kind="cube", name="Box").ok
        assert scene.call("material.ensure_principled", name="Clay", base_color=[0.6, 0.3, 0.2]).ok
        assert scene.call("material.assign", object="Box", material="Clay").ok
        assert scene.call("file.export", path=str(file)).ok
    ran = shell("compare", file.name, "--blender", other, "--blender", OWN, "--report", "told", code=1)
    # Later Blenders read this flag of older files the other way round.
    flag = "use_backface_culling_lightprobe_volume"
    assert "materials Clay" in ran.out and flag[:20] in ran.out and "True" in ran.out
    assert "by design" in ran.out
    document = json.loads((shell.place / "told" / "report.json").read_text())
    assert {"Material.use_nodes"} <= {f"{note['type']}.{note['property']}" for note in document["by_design"]}
    assert {"kind": "materials", "name": "Clay", "property": flag, "old": True, "new": False} in document["scenes"][0][
        "parts"
    ]
    pictures = document["scenes"][0]["pictures"]
    assert all((shell.place / "told" / pictures[name]).is_file() for name in ("old", "new", "side_by_side"))
    assert pictures["side_by_side"] in (shell.place / "told" / "report.html").read_text()


@pytest.mark.parametrize("blenders", [[OWN], [OWN, OWN, OWN]], ids=["one", "three"])
def test_two_blenders_are_compared(shell: Shell, scene_file: Path, blenders: list[str]) -> None:
    options = [text for blender in blenders for text in ("--blender", blender)]
    ran = shell("compare", str(scene_file), *options, "--json", code=2)
    assert "--blender OLD --blender NEW" in ran.document["error"]["cure"]


def test_what_cannot_be_compared_is_refused(shell: Shell) -> None:
    twice = ("--blender", OWN, "--blender", OWN)
    assert "there is no file" in shell("compare", "nothing.blend", *twice, code=2).err
    (shell.place / "text.blend").write_text("no scene")
    assert "text.blend cannot be opened" in shell("compare", "text.blend", *twice, code=1).err
    shell("compare", "text.blend", code=2)
    unknown = shell("compare", "text.blend", "--blender", "1.0", "--blender", OWN, code=3)
    assert "there is no Blender 1.0 here" in unknown.err


def test_a_workspace_is_moved_only_when_what_parts_is_accepted(shell: Shell, other: str) -> None:
    workspace = shell.place / "w"
    with blendwright.open(workspace, blender=other, spare=False) as scene:
        assert scene.run({"request_id": "made", "operations": [box("a")]}).ok
    told = shell("upgrade", "--workspace", "w", "--blender", OWN, "--pictures", "0", "--yes", code=1)
    assert "nothing was changed" in told.out and "--accept-differences" in told.out
    done = shell(
        "upgrade", "--workspace", "w", "--blender", OWN, "--pictures", "0", "--accept-differences", "--json", code=0
    )
    assert done.document["moved"]["commit"] == 3 and done.document["same"] is False
    # From here on it belongs to the new one.
    again = shell("upgrade", "--workspace", "w", "--blender", OWN, code=2)
    assert f"is already on Blender {OWN}" in again.err
    refused = shell("undo", "--workspace", "w", code=3)
    assert f"commit 2 was made with Blender {other}" in refused.err and f"--blender {other}" in refused.err
    assert "left out" in shell("replay", "--workspace", "w", code=0).out
    shell("audit", "verify", "--workspace", "w", code=0)
    shell("checkout", "2", "--workspace", "w", "--blender", other, code=0)
    with read_journal(workspace) as journal:
        assert journal.head is not None and journal.head.number == 2
