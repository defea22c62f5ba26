"""What a plan would do is found out beside the scene, and leaves it alone, whatever becomes of the preview."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import blendwright
from blendwright.engine.options import RunOptions
from blendwright.records.results import Preview
from blendwright.values.errors import EnvironmentUnfit
from blendwright.workspace.preview import preview
from support.engine.engine import TRIALS, all_tools
from support.plans.documents import box, step

Known = tuple[Any, ...]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("preview")


@pytest.fixture(scope="module")
def scene(place: Path) -> Iterator[blendwright.OpenScene]:
    with blendwright.open(place / "workspace", roots=[place], tools=all_tools(), environment=TRIALS) as scene:
        made = {"request_id": "made", "operations": [box("a"), box("b")]}
        assert scene.run(made).ok
        bevel = {"type": "BEVEL", "width": 0.1}
        assert scene.call("modifier.add", object="Box a", name="Edge", settings=bevel).ok
        yield scene


def operation(id: str, tool: str, level: str = "safe_write", waits_for: tuple[str, ...] = (), **args: Any) -> Any:
    return box(id, *waits_for, tool_name=tool, args=args, safety_level=level)


def plan(*operations: Any, id: str = "previewed") -> dict[str, Any]:
    return {"request_id": id, "operations": list(operations)}


def everything(scene: blendwright.OpenScene, place: Path) -> Known:
    """What must be as before: the scene, its worker, the journal, and the files of the workspace."""
    journal = scene.journal
    workspace = place / "workspace"
    files = sorted(path for path in workspace.rglob("*") if "scratch" not in path.relative_to(workspace).parts)
    records = [record.record for record in journal.audit.records(limit=100_000)]
    return scene.hash, scene.worker_pid, journal.head, journal.moves(), records, files, journal.audit.verify().ok


def statuses(shown: Preview) -> list[str]:
    return [operation.status for operation in shown.report.operations]


def properties(shown: Preview, name: str) -> dict[str, tuple[Any, Any]]:
    (entry,) = [entry for entry in shown.differences.difference.changed if entry.name == name]
    return {change.property: (change.old, change.new) for change in entry.properties}


def created(shown: Preview) -> set[str]:
    return {entry.name for entry in shown.differences.difference.created}


@pytest.mark.proves("EXEC-PLAN-02")
def test_it_tells_what_would_be_created_changed_and_removed_and_changes_nothing(
    scene: blendwright.OpenScene, place: Path
) -> None:
    before = everything(scene, place)
    wanted = plan(
        operation("move", "object.transform", name="Box a", location=[1, 2, 3]),
        operation("set", "modifier.set", object="Box a", modifier="Edge", settings={"type": "BEVEL", "segments": 4}),
        operation("kill", "object.delete", "destructive", name="Box b"),
        box("new"),
    )
    shown = scene.preview(wanted)
    assert shown.ok and statuses(shown) == ["succeeded"] * 4
    assert "Box new" in created(shown)
    assert ("objects", "Box b") in {(entry.kind, entry.name) for entry in shown.differences.difference.removed}
    assert properties(shown, "Box a") == {
        "transform.location": ([0.0, 0.0, 0.0], [1.0, 2.0, 3.0]),
        "modifiers.Edge.settings.segments": (1, 4),
    }
    assert all(op.commit is None and op.receipt is None for op in shown.report.operations)
    assert everything(scene, place) == before
    assert [path.name for path in (place / "workspace" / "scratch" / "previews").iterdir()] == [".lock"]


def test_a_run_reaches_the_hashes_that_the_preview_told(scene: blendwright.OpenScene) -> None:
    wanted = plan(box("c"), operation("turn", "object.transform", name="Box c", waits_for=("c",), scale=[1, 2, 1]),
                  id="same")  # fmt: skip
    told = [op.scene_hash_after for op in scene.preview(wanted).report.operations]
    assert told == [op.scene_hash_after for op in scene.run(wanted).operations]
    again = scene.preview(wanted)
    assert statuses(again) == ["skipped_idempotent"] * 2 and again.differences.difference.is_empty


@pytest.mark.parametrize(("how", "fault"), [("crash", "WORKER_LOST"), ("run_away", "TOOL_TIMEOUT")])
def test_a_preview_that_loses_its_blender_leaves_the_scene_and_tells_what_would_stand(
    scene: blendwright.OpenScene, place: Path, how: str, fault: str
) -> None:
    before = everything(scene, place)
    bad = operation("b", "trial.misbehave", waits_for=("a",), how=how)
    timeout = 2.0 if how == "run_away" else None
    shown = scene.preview(
        plan(operation("a", "object.create_empty", name="First"), bad, box("z", "b")), RunOptions(timeout=timeout)
    )
    assert not shown.ok and statuses(shown)[0] == "succeeded" and statuses(shown)[2] == "skipped"
    found = shown.report.operations[1].fault
    assert found is not None and found.value == fault
    assert created(shown) == {"First"}
    assert everything(scene, place) == before


def test_steps_go_on_after_a_failure_as_they_would_in_a_run(scene: blendwright.OpenScene) -> None:
    bad = step("a", tool={"name": "trial.misbehave", "args": {"how": "fail"}})
    shown = scene.preview({"steps": [bad, step("b", "a"), step("d")]})
    assert statuses(shown) == ["failed", "skipped", "succeeded"] and "Box d" in created(shown)
    assert shown.report.dialect == "steps" and [finding.pointer for finding in shown.report.all_findings()]


def test_of_a_plan_that_is_kept_whole_a_failure_leaves_nothing(scene: blendwright.OpenScene) -> None:
    gone = operation("z", "object.delete", "destructive", ("n",), name="Nobody")
    shown = scene.preview(plan(box("n"), gone), boundary="plan")
    assert shown.report.status == "rolled_back" and shown.differences.difference.is_empty


def test_files_and_pictures_of_operations_are_dropped(scene: blendwright.OpenScene, place: Path) -> None:
    before = everything(scene, place)
    target = place / "out.obj"
    export = operation("a", "file.export", path=str(target))
    picture = operation("b", "render.preview", "read_only", ("a",), view="ISO", width=32, height=32)
    again = operation("c", "file.export", "safe_write", ("b",), path=str(target))
    shown = scene.preview(plan(export, picture, again))
    assert statuses(shown) == ["succeeded", "succeeded", "failed"], "the second export would meet the first one's file"
    assert not target.exists() and not target.with_suffix(".mtl").exists()
    assert everything(scene, place) == before


def test_a_plan_that_cannot_run_is_refused_with_its_findings(scene: blendwright.OpenScene) -> None:
    shown = scene.preview(plan(box("a", "nobody", args={"kind": "cueb", "name": "A"})))
    assert shown.report.status == "refused" and shown.differences.difference.is_empty
    assert {finding.fault.value for finding in shown.report.all_findings()} == {"DEPENDENCY_MISSING", "ARGS_INVALID"}


def test_a_workspace_that_does_not_exist_is_not_started_and_one_that_has_a_scene_takes_no_other(
    scene: blendwright.OpenScene, place: Path
) -> None:
    blend = place / "start.blend"
    assert scene.call("file.export", path=str(blend)).ok
    nowhere = place / "nowhere"
    shown = preview(plan(operation("a", "object.delete", "destructive", name="Box a")), nowhere, scene=blend)
    assert shown.ok and {entry.name for entry in shown.differences.difference.removed} >= {"Box a"}
    assert not nowhere.exists()
    with blendwright.open(place / "started", scene=blend, spare=False) as other:
        delete = operation("a", "object.delete", "destructive", name="Box a")
        assert other.preview(plan(delete)).ok and other.call("object.inspect", name="Box a").ok
    with pytest.raises(EnvironmentUnfit, match="has a scene already"):
        preview(plan(box("a")), place / "workspace", scene=blend)
    with pytest.raises(EnvironmentUnfit, match="no file"):
        preview(plan(box("a")), nowhere, scene=place / "no.blend")


def test_a_rename_is_shown_as_a_rename(scene: blendwright.OpenScene, place: Path) -> None:
    moves = operation("moved", "object.transform", waits_for=("named",), object="Crate", location=[0, 0, 1])
    renames = operation("named", "object.rename", object="Box b", new_name="Crate", rename_data=True)
    shown = scene.preview(plan(renames, moves, id="renamed"))
    found = shown.differences.difference
    assert [(one.kind, one.old, one.name) for one in found.renamed] == [("objects", "Box b", "Crate")]
    assert not found.created and not found.removed and shown.differences.totals["renamed"] == 1
    assert properties(shown, "Crate")["transform.location"] == ([0.0, 0.0, 0.0], [0.0, 0.0, 1.0])
