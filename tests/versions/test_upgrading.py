"""A workspace moves to another Blender: what parts is said before anything is changed, and nothing of its history is lost.

On two real Blenders, 4.5 and that of this environment. What they do differently of themselves shows; what is planted in a worker must show
at its very operation.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

import blendwright
from blendwright.bridge.environments.series import own_blender
from blendwright.bridge.sources import worker_source
from blendwright.bridge.worker_source import WorkerSource
from blendwright.engine.scene.fingerprint_scheme import blender_of
from blendwright.records.commits import Commit
from blendwright.values.errors import EnvironmentUnfit, Refusal
from blendwright.versions import upgrade as upgrading
from blendwright.versions.pictures import CAPTION_PIXELS, HEIGHT, WIDTH
from blendwright.versions.upgrade import Upgrade, UpgradeOptions, upgrade
from blendwright.views.queries import replay
from blendwright.workspace.reading import read_journal
from support.plans.documents import box
from support.planting.planted_workers import PlantedWorkers
from support.processes.blender_environments import use_blender

OLD = "4.5"
NEW = (own_blender() or "").rpartition(".")[0]
TRIANGLE = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"
QUIET = UpgradeOptions(pictures=0)

pytestmark = pytest.mark.skipif(NEW == OLD, reason="the Blender of this environment is the one to move from")


def operation(id: str, tool: str, *waits_for: str, **args: Any) -> dict[str, Any]:
    return box(id, *waits_for, tool_name=tool, args=args)


PLAN = {
    "request_id": "made",
    "operations": [
        box("a"),
        box("b"),
        operation("c.move", "object.transform", "b", name="Box b", location=[1, 2, 3]),
        operation("d.clay", "material.ensure_principled", "b", name="Clay", base_color=[0.6, 0.3, 0.2]),
        operation("e.move", "object.transform", "c.move", name="Box b", scale=[1, 1, 2]),
    ],
}
LATER = {
    "request_id": "later",
    "operations": [operation("f.move", "object.transform", name="Box a", location=[0, 0, 4])],
}


CHANGED = """
from blendwright.tool_api import Kind
from blendwright.tools.object.transform import Transform

original = Transform.apply


def apply(self, scene, args):
    result = original(self, scene, args)
    {change}
    return result


Transform.apply = apply
"""

Plant = Callable[[str], WorkerSource]


@pytest.fixture
def plant(tmp_path: Path) -> Plant:
    """The Blender of this environment, with a change in what `object.transform` does."""

    def planted(change: str) -> WorkerSource:
        file = tmp_path / "planted_change.py"
        file.write_text(CHANGED.format(change=change))
        return PlantedWorkers(worker_source(NEW), file)

    return planted


@pytest.fixture(scope="module")
def patch() -> Iterator[pytest.MonkeyPatch]:
    with pytest.MonkeyPatch.context() as patch:
        yield patch


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, patch: pytest.MonkeyPatch) -> Path:
    """A workspace of the old Blender, with a step that cannot be replayed among others."""
    use_blender(OLD, patch)
    place = tmp_path_factory.mktemp("made")
    (place / "triangle.obj").write_text(TRIANGLE)
    with blendwright.open(place / "workspace", blender=OLD, roots=[place], spare=False) as scene:
        assert scene.run(PLAN).ok
        assert scene.call("file.import", path=str(place / "triangle.obj")).ok
        assert scene.run(LATER).ok
    return place / "workspace"


@pytest.fixture
def workspace(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "workspace"))


@pytest.fixture(scope="module")
def reported(made: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Upgrade, Path, bytes]:
    """The report of one workspace, that workspace, and its journal as it was before."""
    copy = Path(shutil.copytree(made, tmp_path_factory.mktemp("reported") / "workspace"))
    before = (copy / "journal.db").read_bytes()
    return upgrade(copy, NEW, options=UpgradeOptions(pictures=1)), copy, before


def commits(workspace: Path) -> tuple[Commit, ...]:
    with read_journal(workspace) as journal:
        return journal.log(limit=1000)[::-1]


def places(result: Upgrade, operation_id: str) -> list[str]:
    """The properties that part since an operation."""
    parts = [part for part in result.report.operations if part.operation_id == operation_id]
    return [" ".join(each.place()) for part in parts for each in part.properties]


# ---------------------------------------------------------------------- the report


def test_a_report_changes_nothing(reported: tuple[Upgrade, Path, bytes]) -> None:
    result, workspace, before = reported
    assert (workspace / "journal.db").read_bytes() == before
    assert result.commit is None
    assert blender_of(commits(workspace)[-1].hash_after) == OLD


def test_every_commit_was_run_again_in_both_or_opened_where_that_cannot_be(
    reported: tuple[Upgrade, Path, bytes],
) -> None:
    report, workspace = reported[0].report, reported[1]
    line = commits(workspace)
    assert report.commits == len(line)
    imported = next(commit.number for commit in line if commit.tool == "file.import")
    assert [(each.commit, each.tool) for each in report.opened] == [(imported, "file.import")]
    assert report.redone == len(PLAN["operations"]) + len(LATER["operations"])


def test_what_the_versions_do_differently_shows_at_its_operation_and_apart_from_what_only_one_has(
    reported: tuple[Upgrade, Path, bytes],
) -> None:
    result = reported[0]
    # 4.5 and every later one begin with other render settings; known from opening both by hand.
    assert "scenes Scene grease_pencil_settings.aa_samples" in places(result, "baseline")
    only = {(note.type, note.property) for note in result.report.notes if note.what.startswith("only in")}
    assert ("Material", "use_nodes") in only, "5.0 has no such property any more"
    assert not any("use_nodes" in each.property for scene in result.report.scenes for each in scene.parts)
    assert not result.report.same


def test_the_report_can_be_read_and_looked_at(reported: tuple[Upgrade, Path, bytes]) -> None:
    result = reported[0]
    document = json.loads((result.directory / "report.json").read_text())
    assert document["same"] is False and document["from"].startswith(OLD) and document["to"].startswith(NEW)
    listed = {part["commit"] for part in document["operations"]}
    assert listed == {part.commit for part in result.report.operations}
    pairs = [scene["pictures"] for scene in document["scenes"] if scene["pictures"]]
    assert pairs, "the last scene has objects, so there are pictures of it"
    page = (result.directory / "report.html").read_text()
    for pair in pairs:
        assert pair["side_by_side"] in page
        with Image.open(result.directory / pair["side_by_side"]) as whole:
            assert whole.size == (3 * WIDTH, HEIGHT + CAPTION_PIXELS)
        for name in ("old", "new"):
            with Image.open(result.directory / pair[name]) as picture:
                assert picture.size == (WIDTH, HEIGHT)
                assert len(picture.convert("RGB").getcolors(WIDTH * HEIGHT) or ()) > 10, "there is something to see"


# ---------------------------------------------------------------------- what is planted is found


PLANTED = """
    obj = scene.require(Kind.OBJECT, args.object)
    scene.set(obj, "color", (0.25, 0.5, 0.75, 1.0))
    if args.scale is not None:
        scene.set(obj, "delta_location", (0.0, 0.0, 0.5))
        result = result.model_copy(update={"object": "Another"})
"""


def test_what_a_worker_does_differently_is_found_at_its_operation(workspace: Path, plant: Plant) -> None:
    result = upgrade(workspace, plant(PLANTED), options=QUIET)
    colour = "objects Box b color"
    assert colour in places(result, "c.move")
    assert colour not in places(result, "a") + places(result, "b")
    assert colour not in places(result, "e.move"), "what parted before is not said again"
    # Where it stands after all of its channels is compared too.
    assert {"objects Box b delta_location", "objects Box b evaluated.matrix_world"} <= set(places(result, "e.move"))
    # The import has its scene from a file of the old Blender, which does not know of the changes.
    assert "objects Box a color" in places(result, "f.move")
    final = next(scene for scene in result.report.scenes if scene.how == upgrading.REPLAYED)
    found = {
        each.place(): (each.old, each.new) for each in final.parts if "Box" in each.name and each.kind == "objects"
    }
    assert found == {("objects", "Box a", "color"): ([1, 1, 1, 1], [0.25, 0.5, 0.75, 1])}
    answered = next(part for part in result.report.operations if part.operation_id == "e.move")
    assert answered.kind == "result"
    assert [(each.path, each.old, each.new) for each in answered.results] == [("/object", "Box b", "Another")]


@pytest.mark.slow
def test_an_operation_that_fails_in_the_new_blender_is_found_and_the_rest_is_compared(
    workspace: Path, plant: Plant
) -> None:
    result = upgrade(workspace, plant('assert args.object != "Box b", "no such thing here"'), options=QUIET)
    failed = [part for part in result.report.operations if part.kind == "failed"]
    assert [part.operation_id for part in failed] == ["c.move", "e.move"]
    assert all("no such thing here" in part.message for part in failed)
    assert result.report.redone == len(PLAN["operations"]) + len(LATER["operations"])
    assert result.taken == "opened"
    # It went on with the old one's scene.
    assert not any("Box b" in each.place() for scene in result.report.scenes for each in scene.parts)


# ---------------------------------------------------------------------- the move


@pytest.fixture(scope="module")
def moved(made: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    copy = Path(shutil.copytree(made, tmp_path_factory.mktemp("moved") / "workspace"))
    result = upgrade(copy, NEW, options=replace(QUIET, accept_differences=True))
    assert result.commit is not None
    return copy


def test_the_move_is_one_commit_behind_an_untouched_history(made: Path, moved: Path) -> None:
    old, line = commits(made), commits(moved)
    assert line[:-1] == old
    move = line[-1]
    assert (move.kind, move.tool, move.parent) == ("rebaseline", "workspace.upgrade", old[-1].number)
    assert move.hash_before == old[-1].hash_after and blender_of(move.hash_after) == NEW
    assert move.receipt["accepted_differences"] is True
    report = moved / "artifacts" / f"upgrade-{OLD}-to-{NEW}-commit-{old[-1].number}" / "report.json"
    assert move.receipt["report_sha256"] == hashlib.sha256(report.read_bytes()).hexdigest()
    with read_journal(moved) as journal:
        assert journal.audit.verify().ok


def test_work_goes_on_in_the_new_blender_and_what_was_done_is_known(moved: Path, tmp_path: Path) -> None:
    workspace = Path(shutil.copytree(moved, tmp_path / "workspace"))
    with blendwright.open(workspace, spare=False) as scene:
        assert ".".join(map(str, scene.blender.version[:2])) == NEW
        again = scene.run(PLAN)
        assert {each.status for each in again.operations} == {"skipped_idempotent"}
        assert scene.run({"request_id": "new", "operations": [box("n")]}).ok
        after = scene.hash
    by_new, by_old = replay(workspace), replay(workspace, blender=OLD)
    assert by_new.ok and by_new.by == "hashes" and by_new.other == len(commits(workspace)) - 2
    assert by_old.ok and by_old.by == "hashes" and by_old.other == 2
    with blendwright.open(workspace, spare=False) as scene:
        assert scene.hash == after
        boundary = scene.history.undo(1).commit
        assert boundary.kind == "rebaseline"
        with pytest.raises(EnvironmentUnfit) as refused:
            scene.history.undo(1)
    target = boundary.parent
    assert f"commit {target} was made with Blender {OLD}, but this is Blender {NEW}" in refused.value.message
    assert f"blendwright checkout {target} --blender {OLD}" in str(refused.value.cure)
    with read_journal(workspace) as journal:
        assert journal.recovery.quarantine() is None
        assert journal.head is not None and journal.head.number == boundary.number
        assert journal.audit.verify().ok


@pytest.mark.slow
def test_the_old_line_is_reached_with_the_old_blender_and_goes_on_there(moved: Path, tmp_path: Path) -> None:
    workspace = Path(shutil.copytree(moved, tmp_path / "workspace"))
    move = commits(workspace)[-1]
    assert move.parent is not None
    with blendwright.open(workspace, blender=OLD, spare=False) as scene:
        scene.history.checkout(move.parent)
        assert scene.run({"request_id": "old line", "operations": [box("o")]}).ok
    # The workspace belongs to the old Blender again, which is found without being named.
    with blendwright.open(workspace, spare=False) as scene:
        assert ".".join(map(str, scene.blender.version[:2])) == OLD
        assert scene.call("object.inspect", name="Box o").ok
    with blendwright.open(workspace, blender=NEW, spare=False) as scene:
        with pytest.raises(EnvironmentUnfit, match="was written with Blender"):
            scene.call("object.inspect", name="Box o")
        assert scene.history.checkout(move.number).commit.hash_after == move.hash_after


@pytest.mark.slow
def test_a_workspace_in_which_nothing_parts_moves_when_it_is_told_to(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # One Blender in both places, since no two versions are the same: nobody looks whether it is another one.
    def any_pair(*_: object) -> None:
        return None

    monkeypatch.setattr(upgrading, "_require_pair", any_pair)
    result = upgrade(workspace, OLD, options=replace(QUIET, move=True))
    assert result.report.same and result.taken == "replayed"
    assert not result.report.notes and not result.report.operations
    assert result.commit is not None and result.commit.kind == "rebaseline"
    assert result.commit.receipt["accepted_differences"] is False
    assert replay(workspace).ok


# ---------------------------------------------------------------------- refusals


@pytest.mark.slow
def test_a_workspace_is_not_moved_to_the_blender_that_it_belongs_to(workspace: Path) -> None:
    with pytest.raises(Refusal, match=f"is already on Blender {OLD}"):
        upgrade(workspace, OLD, options=QUIET)


@pytest.mark.slow
def test_the_old_blender_must_be_the_one_of_the_workspace(workspace: Path) -> None:
    with pytest.raises(EnvironmentUnfit) as unfit:
        upgrade(workspace, NEW, old=NEW, options=QUIET)
    assert f"blendwright blender add {OLD}" in str(unfit.value.cure)


def test_a_directory_without_a_workspace_is_left_as_it_is(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentUnfit, match="is not a workspace"):
        upgrade(tmp_path, NEW, options=QUIET)
    assert not list(tmp_path.iterdir())


# ---------------------------------------------------------------------- crashes


POINTS = [("upgrade.staged", False), ("upgrade.before_commit", False), ("upgrade.committed", True)]


@pytest.mark.timeout(240)
@pytest.mark.parametrize(
    ("point", "happened"),
    [pytest.param(*POINTS[0], marks=pytest.mark.slow), pytest.param(*POINTS[1], marks=pytest.mark.slow), POINTS[2]],
)
def test_a_move_that_is_killed_has_happened_or_not_and_can_be_asked_for_again(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, point: str, happened: bool
) -> None:
    command = [
        sys.executable,
        "-m",
        "blendwright",
        "upgrade",
        "--blender",
        NEW,
        "--accept-differences",
        "--pictures",
        "0",
    ]
    command += ["--workspace", str(workspace)]
    before = commits(workspace)
    monkeypatch.setenv("BLENDWRIGHT_CRASH_AT", f"{point}:1")
    done = subprocess.run(command, capture_output=True, timeout=200, check=False)
    assert done.returncode == -9, done
    monkeypatch.delenv("BLENDWRIGHT_CRASH_AT")
    assert (len(commits(workspace)) > len(before)) == happened
    assert commits(workspace)[: len(before)] == before
    if not happened:
        assert upgrade(workspace, NEW, options=replace(QUIET, accept_differences=True)).commit is not None
    assert replay(workspace, blender=NEW).ok
    with read_journal(workspace) as journal:
        assert journal.audit.verify().ok
