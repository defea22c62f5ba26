"""Scenes of the past on real workers: compared, replayed, and returned to out of trouble."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, cast

import orjson
import pytest

from blendwright.engine.scene import problems as workspace_problems
from blendwright.engine.scene.differences import PAGE, SceneSnapshot, compare, take_snapshot
from blendwright.engine.scene.rebuild import rebuild_commit, replay, same_result, take_worker
from blendwright.journal import Journal, JournalView
from blendwright.records.recovery import NewIntent
from blendwright.values.errors import EnvironmentUnfit, RebuildFailed, Refusal
from blendwright.wire.remote_scene import RemoteScene
from engine.moves.past import copy_of, do, edit_arguments
from journal.ledger import raw
from support.engine.engine import Engine

# ---------------------------------------------------------------------- differences


@pytest.mark.parametrize(
    ("tool", "args", "expected"),
    [
        ("object.transform", {"name": "Box a", "location": [4, 5, 6]},
         {("objects", "Box a", "transform.location", (1.0, 2.0, 3.0), (4.0, 5.0, 6.0))}),
        ("object.set_property", {"name": "Box a", "key": "weight", "value": 3},
         {("objects", "Box a", "custom_properties.weight.type", None, "int"),
          ("objects", "Box a", "custom_properties.weight.value", None, 3),
          ("objects", "Box a", "custom_properties.weight.truncated", None, False)}),
        ("light.set", {"name": "Key", "energy": 77}, {("lights", "Key", "energy", 100.0, 77.0)}),
        ("object.set_parent", {"child": "Box b", "parent": "Box a", "keep_transform": False},
         {("objects", "Box b", "parent.object", None, "Box a"), ("objects", "Box b", "parent.type", None, "OBJECT")}),
        ("scene.set_frame_range", {"start": 5, "end": 99},
         {("settings", "render", "frame_start", 1, 5), ("settings", "render", "frame_end", 250, 99)}),
        ("object.set_visibility", {"name": "Box b", "render": False},
         {("objects", "Box b", "visible_render", True, False)}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_a_difference_is_exactly_what_was_changed(
    engine: Engine, worker: RemoteScene, tool: str, args: dict[str, Any], expected: set[Any]
) -> None:
    rebuild_commit(worker, engine.journal, engine.head().number)
    before = take_snapshot(worker)
    do(engine, worker, tool, args)
    found = compare(before, take_snapshot(worker))
    assert (found.created, found.removed, found.unseen) == ((), (), False)
    told = {
        (entry.kind, entry.name, change.property, _frozen(change.old), _frozen(change.new))
        for entry in found.changed
        for change in entry.properties
    }
    assert told == expected


def _frozen(value: Any) -> Any:
    return tuple(cast("list[Any]", value)) if isinstance(value, list) else value


def test_what_came_and_went_is_named_and_equal_scenes_do_not_differ(engine: Engine, worker: RemoteScene) -> None:
    rebuild_commit(worker, engine.journal, engine.head().number)
    before = take_snapshot(worker)
    do(engine, worker, "object.rename", {"name": "Box b", "new_name": "Crate"})
    do(engine, worker, "material.ensure_principled", {"name": "Red"})
    after = take_snapshot(worker)
    found = compare(before, after)
    assert [(entry.kind, entry.name) for entry in found.created] == [("materials", "Red")]
    assert not found.removed and len(found.renamed) == 1, "a rename is a rename"
    assert compare(after, after).is_empty and not found.is_empty


def test_no_datablock_is_passed_over_beside_what_is_listed(engine: Engine, worker: RemoteScene) -> None:
    """Two scenes that differ in a listed property and in the pixels of an image: both are told, and nothing else."""

    def snapshot(x: float, shade: float) -> SceneSnapshot:
        rebuild_commit(worker, engine.journal, engine.head().number)
        do(engine, worker, "object.transform", {"name": "Box a", "location": [x, 0, 0]})
        do(engine, worker, "image.create", {"name": "Grain", "size": [4, 4], "rows": [[[0, 0, 0], [shade, 0, 0]]]})
        return take_snapshot(worker)

    first = snapshot(1, 0.5)
    found = compare(first, snapshot(2, 1))
    told = {(entry.kind, entry.name): [each.property for each in entry.properties] for entry in found.changed}
    assert told == {("objects", "Box a"): ["transform.location"], ("images", "Grain"): ["fingerprint"]}
    assert not (found.created or found.removed or found.unseen)
    assert compare(first, snapshot(1, 0.5)).is_empty


def test_scenes_of_more_than_a_page_are_compared_whole(engine: Engine, worker: RemoteScene) -> None:
    rebuild_commit(worker, engine.journal, engine.head().number)
    before = take_snapshot(worker)
    tool = engine.tools["object.create_empty"]
    for number in range(PAGE + 5):
        args = tool.args_model.model_validate({"name": f"E{number}"}).model_dump(mode="json")
        worker.submit("scene.step", {"tool": tool.name, "version": tool.version, "args": args})
    found = compare(before, take_snapshot(worker))
    assert len(found.created) == PAGE + 5 and not found.changed and not found.removed


# ---------------------------------------------------------------------- replay


def test_the_journal_replays_to_its_hashes_and_exports_nothing_again(engine: Engine, worker: RemoteScene) -> None:
    (engine.place / "out.stl").unlink()
    found = replay(worker, engine.journal)
    assert found.ok and found.by == "hashes" and found.agreed == found.head == engine.head().number
    # Of seven commits the baseline is empty, the export changed nothing, and the import is opened from its checkpoint.
    assert (found.commits, found.redone, found.opened) == (7, 4, 1)
    assert not (engine.place / "out.stl").exists()


def _edit_a_hash(db: Any) -> None:
    forged = db.execute("SELECT hash_after FROM commits WHERE number = 3").get[:-4] + "0000"
    db.execute("UPDATE commits SET hash_after = ? WHERE number = 3", (forged,))
    db.execute("UPDATE commits SET hash_before = ? WHERE number = 4", (forged,))


def _leave_out_a_change(db: Any) -> None:
    db.execute("UPDATE commits SET hash_after = hash_before WHERE number = 3")


@pytest.mark.parametrize(
    ("tamper", "at"),
    [(edit_arguments, 3), (_edit_a_hash, 3), (_leave_out_a_change, 4)],
    ids=["arguments", "hash", "left out"],
)
def test_a_tampered_commit_is_caught_with_both_hashes(
    engine: Engine, worker: RemoteScene, tmp_path: Path, tamper: Callable[[Any], None], at: int
) -> None:
    place = copy_of(engine, tmp_path / "copy")
    with closing(raw(place)) as db:
        tamper(db)
    with closing(JournalView(place)) as view:
        found = replay(worker, view)
    assert found.mismatch is not None and not found.ok
    assert (found.mismatch.commit, found.agreed) == (at, at - 1)
    assert found.mismatch.expected != found.mismatch.found


def test_with_another_blender_results_are_compared_instead_of_hashes(
    engine: Engine, worker: RemoteScene, tmp_path: Path
) -> None:
    place = copy_of(engine, tmp_path / "copy")
    series = ".".join(map(str, worker.profile.version[:2]))
    with closing(raw(place)) as db:
        for column in ("hash_before", "hash_after"):
            db.execute(f"UPDATE commits SET {column} = replace({column}, ?, ':3.6:')", (f":{series}:",))
    with closing(JournalView(place)) as view:
        agreed = replay(worker, view)
        assert agreed.ok and agreed.by == "results" and agreed.redone == 4
        with pytest.raises(EnvironmentUnfit, match=r"commit 2 was made with Blender 3\.6"):
            rebuild_commit(worker, view, 2)
    with closing(raw(place)) as db:
        receipt = orjson.loads(db.execute("SELECT receipt FROM commits WHERE number = 3").get)
        receipt["result"]["object"] = "Another"
        db.execute("UPDATE commits SET receipt = ? WHERE number = 3", (orjson.dumps(receipt).decode(),))
    with closing(JournalView(place)) as view:
        mismatch = replay(worker, view).mismatch
    assert mismatch is not None and mismatch.commit == 3
    assert mismatch.expected["object"] == "Another" and mismatch.found["object"] == "Box b"


def test_results_agree_within_rounding_and_without_fingerprints() -> None:
    ours = {"at": [1.0, 2.0], "fingerprint": "a", "count": 3, "name": "x"}
    assert same_result(ours, {"at": [1.0000001, 2], "fingerprint": "b", "count": 3, "name": "x"})
    for other in ({"at": [1.1, 2]}, {"count": 4}, {"name": None}, {"at": [1.0]}, {"more": 1}):
        assert not same_result(ours, ours | other)


# ---------------------------------------------------------------------- ways out of trouble


def test_a_quarantine_ends_only_on_a_commit_whose_scene_is_proved(
    engine: Engine, worker: RemoteScene, tmp_path: Path
) -> None:
    place = copy_of(engine, tmp_path / "copy")
    with closing(raw(place)) as db:
        edit_arguments(db)
    with closing(Journal(place)) as journal:
        journal.recovery.begin_boundary("unfinished")
        intent = journal.recovery.begin_intent(NewIntent("key", "r", "op", "file.export", "file.export writes x.stl"))
        journal.recovery.begin_quarantine("it led elsewhere", expected="a", found="b")
    with pytest.raises(EnvironmentUnfit, match="in quarantine"):
        Journal(place)
    with closing(Journal(place, recovering=True)) as journal:
        trouble = workspace_problems.find_problems(journal)
        assert trouble.quarantine is not None and trouble.boundary is not None and not trouble.fit
        assert [each.id for each in trouble.indeterminate] == [intent]
        told = "\n".join(trouble.ways_out())
        assert "recover --to" in told and f"recover --resolve {intent}" in told and "'unfinished'" in told
        with pytest.raises(RebuildFailed, match="commit 3"):
            workspace_problems.return_to(journal, worker, 4)
        assert journal.recovery.quarantine() is not None
        assert workspace_problems.return_to(journal, worker, 2).number == 2
        journal.recovery.resolve_intent(intent, "it is not there")
        after = workspace_problems.find_problems(journal)
        assert after.fit and after.boundary is None and list(after.ways_out()) == []
    with closing(Journal(place)) as journal:
        assert journal.head is not None and journal.head.number == 2


def test_a_head_that_no_checkpoint_leads_to_can_be_left(engine: Engine, worker: RemoteScene, tmp_path: Path) -> None:
    place = copy_of(engine, tmp_path / "copy")
    for file in (place / "checkpoints").glob("*.blend"):
        file.unlink()
    with closing(Journal(place, recovering=True)) as journal:
        trouble = workspace_problems.find_problems(journal)
        assert trouble.quarantine is None and trouble.lost is not None and "no checkpoint leads" in trouble.lost
        assert trouble.reachable[0] == 5, "the commit before the import can be redone from the empty baseline"
        workspace_problems.return_to(journal, worker, 5)
        assert workspace_problems.find_problems(journal).fit


# ---------------------------------------------------------------------- the newest scene


@pytest.fixture
def other(engine: Engine) -> Iterator[RemoteScene]:
    """A second worker, which finds what the first one saved."""
    worker = take_worker(engine.pool, engine.catalogue)
    yield worker
    worker.close()


def scene_of(worker: RemoteScene) -> set[tuple[str, str]]:
    return set(take_snapshot(worker).entries)


def adopted(engine: Engine, tmp_path: Path, sql: str, worker: RemoteScene, other: RemoteScene) -> tuple[str, ...]:
    """The newest scene of a journal that was edited, taken over; what is not in it."""
    rebuild_commit(worker, engine.journal, engine.head().number)
    seen, workspace = scene_of(worker), copy_of(engine, tmp_path / "copy")
    with raw(workspace) as db:
        db.execute(sql)
    with closing(Journal(workspace)) as journal:
        journal.recovery.begin_quarantine("trial", expected="one", found="another")
    with closing(Journal(workspace, recovering=True)) as journal:
        head = journal.head
        assert head is not None
        with pytest.raises(RebuildFailed):
            rebuild_commit(worker, journal, head.number)
        problems = workspace_problems.find_problems(journal)
        assert next(problems.ways_out()).startswith("blendwright recover --adopt")
        kept = workspace_problems.adopt_head(journal, worker, other)
        assert (kept.commit.kind, kept.commit.parent, kept.commit.hash_before) == (
            "adopt",
            head.number,
            head.hash_after,
        )
        assert journal.recovery.quarantine() is None and workspace_problems.find_problems(journal).fit
    assert kept.missing or scene_of(other) == seen
    with closing(Journal(workspace)) as journal:
        assert rebuild_commit(worker, journal, kept.commit.number).hash == kept.commit.hash_after
        assert kept.missing or scene_of(worker) == seen
    return kept.missing


WRONG = "hash_after = substr(hash_after, 1, length(hash_after) - 4) || '0000'"


def test_the_newest_scene_is_kept_where_its_saved_file_has_another_hash(
    engine: Engine, worker: RemoteScene, other: RemoteScene, tmp_path: Path
) -> None:
    """As an import left it whose hash was not that of the file; with the commits that came after it."""
    sql = (
        f"UPDATE commits SET {WRONG} WHERE tool = 'file.import';"
        " UPDATE checkpoints SET scene_hash = (SELECT k.hash_after FROM commits k WHERE k.number = checkpoints.number);"
    )
    assert adopted(engine, tmp_path, sql, worker, other) == ()


def test_the_newest_scene_is_kept_as_far_as_it_can_be_redone(
    engine: Engine, worker: RemoteScene, other: RemoteScene, tmp_path: Path
) -> None:
    sql = "UPDATE commits SET args = replace(args, 'Box a', 'Nobody') WHERE tool = 'object.transform'"
    (missing,) = adopted(engine, tmp_path, sql, worker, other)
    assert "object.transform" in missing and "Nobody" in missing


def test_nothing_is_adopted_of_a_scene_that_is_lost(
    engine: Engine, worker: RemoteScene, other: RemoteScene, tmp_path: Path
) -> None:
    workspace = copy_of(engine, tmp_path / "copy")
    for file in (workspace / "checkpoints").iterdir():
        file.unlink()
    with closing(Journal(workspace, recovering=True)) as journal:
        problems = workspace_problems.find_problems(journal)
        assert problems.lost and not any("--adopt" in way for way in problems.ways_out())
        with pytest.raises(Refusal, match="no checkpoint leads") as caught:
            workspace_problems.adopt_head(journal, worker, other)
        assert "recover --to" in (caught.value.findings[0].cure or "")
        assert journal.head == engine.head()


def test_a_checkpoint_that_opens_to_another_scene_is_passed_over_where_a_longer_way_leads_there(
    engine: Engine, worker: RemoteScene, tmp_path: Path
) -> None:
    """A saved scene is a short cut: as long as the commits lead to the hash, nothing is wrong with the journal."""
    workspace = copy_of(engine, tmp_path / "copy")
    with closing(Journal(workspace)) as journal:
        head = journal.head
        assert head is not None
        short = journal.checkpoints.route(head.number)
        assert short.checkpoint is not None and short.redo
        # The file of another scene, under the hash of HEAD's.
        journal.checkpoints.add(journal.checkpoints.stage(short.checkpoint.path, head.hash_after), head.number)
        assert journal.checkpoints.route(head.number).redo == ()
        rebuilt = rebuild_commit(worker, journal, head.number)
        assert (rebuilt.hash, rebuilt.redone) == (head.hash_after, len(short.redo))
        assert rebuilt.passed_over == (short.checkpoint.path.name,)
