"""Moving through history, comparing commits, replaying them, and the ways out of quarantine. On real workers."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, cast

import apsw
import orjson
import pytest

from blendwright.contracts.journal_entries import NewIntent
from blendwright.contracts.journal_records import Commit
from blendwright.contracts.worker_port import WorkerPort
from blendwright.journal import Journal, JournalView
from blendwright.run import rescue
from blendwright.run.differences import PAGE, compare, take
from blendwright.run.history import History, find
from blendwright.run.replaying import EXCHANGED, fresh, line, rebuild, replay, same_result
from blendwright.values.errors import EnvironmentUnfit, RebuildFailed, Refusal
from engine import Engine
from journal.ledger import operation, raw
from plans import box, of_operations

TRIANGLE = "o Triangle\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"
PLAN = of_operations(box("a"), box("b", "a"))


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """A history with all sorts of commits: a plan, an export, which changes nothing, and an import, which cannot be redone."""
    with Engine(tmp_path_factory.mktemp("history")) as engine:
        assert engine.run(PLAN).ok
        engine.do("light.create", {"name": "Key", "type": "POINT"})
        engine.do("file.export", {"path": str(engine.place / "out.stl")})
        (engine.place / "triangle.obj").write_text(TRIANGLE)
        engine.do("file.import", {"path": str(engine.place / "triangle.obj")})
        engine.do("object.transform", {"name": "Box a", "location": [1, 2, 3]})
        yield engine


@pytest.fixture
def history(engine: Engine) -> Iterator[History]:
    """Whatever a test does to HEAD, the next one finds it at the last commit of the first line."""
    last = engine.head()
    history = History(engine.journal, engine.scene, engine.pool, engine.catalogue)
    yield history
    if engine.head() != last:
        history.checkout(last.number)


@pytest.fixture(scope="module")
def worker(engine: Engine) -> WorkerPort:
    """One for all rebuilds of other commits than HEAD."""
    return fresh(engine.pool, engine.catalogue)


def copy_of(engine: Engine, place: Path) -> Path:
    """The workspace as it lies on the disk, to be tampered with."""
    place.mkdir()
    source: Any = apsw.Connection(str(engine.place / "workspace" / "journal.db"), apsw.SQLITE_OPEN_READONLY)
    source.execute("VACUUM INTO ?", (str(place / "journal.db"),))
    source.close()
    shutil.copytree(engine.place / "workspace" / "checkpoints", place / "checkpoints")
    return place


def do(engine: Engine, worker: WorkerPort, tool: str, args: dict[str, Any]) -> None:
    """One step in a worker, without a word to the journal."""
    canonical = engine.tools[tool].args_model.model_validate(args).model_dump(mode="json")
    request = {"tool": tool, "version": engine.tools[tool].version, "args": canonical}
    answer = worker.call("scene.step", request, deadline=30)
    assert answer["ok"], answer


# ---------------------------------------------------------------------- moves of HEAD


def test_undo_redo_and_checkout_bring_the_old_scenes_back_and_lose_nothing(engine: Engine, history: History) -> None:
    commits = line(engine.journal)
    pictures = {commits[-1].number: take(engine.scene.worker())}

    def arrived(at: Commit) -> None:
        assert engine.head() == at and engine.scene.hash == at.hash_after == engine.full_hash()
        picture = take(engine.scene.worker())
        assert pictures.setdefault(at.number, picture) == picture

    moved = history.undo()
    assert (moved.origin, moved.commit) == (commits[-1].number, commits[-2])
    arrived(commits[-2])
    history.undo(2)
    arrived(commits[-4])
    assert history.redo().commit == commits[-2]
    arrived(commits[-2])
    history.redo()
    arrived(commits[-1])
    history.checkout(commits[0].number)
    arrived(commits[0])
    history.checkout(str(commits[-1].number))
    arrived(commits[-1])
    assert line(engine.journal) == commits
    kinds = [move.kind for move in engine.journal.moves(limit=6)]
    assert kinds == ["checkout", "checkout", "redo", "redo", "undo", "undo"]


def test_what_cannot_be_moved_to_is_refused(engine: Engine, history: History) -> None:
    head = engine.head()
    with pytest.raises(Refusal, match="nothing to redo"):
        history.redo()
    with pytest.raises(Refusal, match="only 6 commits to undo"):
        history.undo(7)
    for name in ("99", "-1", "nobody", "", str(2**70)):
        with pytest.raises(Refusal) as caught:
            history.checkout(name)
        assert "blendwright log" in (caught.value.cure or "")
    assert engine.head() == head
    engine.journal.set_tag("good", 2)
    assert [find(engine.journal, name).number for name in ("good", "head", 3)] == [2, head.number, 3]
    engine.journal.delete_tag("good")


def test_a_commit_that_leads_elsewhere_leaves_head_where_it_is(engine: Engine, history: History) -> None:
    here = engine.head()
    wrong = here.hash_after[:-4] + "0000"
    engine.journal.commit([operation("forged", here.hash_after, wrong, args={"name": "Other"})])
    forged = engine.head()
    engine.journal.move_head("checkout", here.number)
    engine.scene.head_moved()
    with pytest.raises(RebuildFailed) as caught:
        history.checkout(forged.number)
    assert caught.value.details["expected"] == wrong != caught.value.details["found"]
    assert engine.head() == here and engine.journal.quarantined() is None


def test_a_plan_run_again_after_checkout_to_before_it_is_a_conflict(engine: Engine, history: History) -> None:
    assert {report.status for report in engine.run(PLAN).operations} == {"skipped_idempotent"}
    history.checkout(2)
    report = engine.run(PLAN)
    assert [(each.status, each.fault) for each in report.operations] == [
        ("skipped_idempotent", None),
        ("failed", "IDEMPOTENCY_CONFLICT"),
    ]
    assert engine.head().number == 2


def test_work_after_undo_goes_on_on_a_new_line(engine: Engine, history: History) -> None:
    old = engine.head()
    history.undo()
    engine.do("object.create_empty", {"name": "Aside"})
    assert engine.head().parent == old.parent and engine.journal.redo_target() is None
    history.checkout(old.number)
    assert engine.full_hash() == old.hash_after


# ---------------------------------------------------------------------- adopt


@pytest.mark.proves("OPS-IDEM-03")
def test_an_adopted_file_that_lost_an_object_makes_what_ran_before_a_conflict(
    engine: Engine, history: History, worker: WorkerPort
) -> None:
    head = engine.head()
    rebuild(worker, engine.journal, head.number)
    edited = engine.place / "edited.blend"
    worker.call("scene.save", {"path": EXCHANGED}, deadline=30)
    shutil.copyfile(worker.scratch / EXCHANGED, edited)
    assert history.adopt(edited) is None and engine.head() == head
    do(engine, worker, "object.delete", {"name": "Box a"})
    saved = worker.call("scene.save", {"path": EXCHANGED}, deadline=30)["hash"]
    shutil.copyfile(worker.scratch / EXCHANGED, edited)
    commit = history.adopt(edited)
    assert commit is not None and (commit.kind, commit.parent, commit.hash_after) == ("adopt", head.number, saved)
    edited.unlink()
    assert engine.full_hash() == saved
    assert {report.fault for report in engine.run(PLAN).operations} == {"IDEMPOTENCY_CONFLICT"}
    assert history.undo().commit == head and engine.full_hash() == head.hash_after
    assert engine.journal.verify_audit().ok


def test_what_is_no_blend_file_is_not_adopted(engine: Engine, history: History) -> None:
    head = engine.head()
    garbage = engine.place / "garbage.blend"
    garbage.write_bytes(b"garbage" * 100)
    with pytest.raises(RebuildFailed, match="cannot be opened"):
        history.adopt(garbage)
    with pytest.raises(Refusal, match="no file"):
        history.adopt(engine.place / "missing.blend")
    assert engine.head() == head


def test_gc_says_what_it_would_free_and_head_survives_it(engine: Engine, history: History) -> None:
    for name in ("First", "Second"):
        engine.do("object.create_empty", {"name": name})
        engine.scene.checkpoint()
    would = history.gc(dry_run=True)
    assert would.files and would.bytes > 100_000 and would.kept >= 2
    assert history.gc() == would and history.gc().files == ()
    engine.scene.discard()
    assert engine.full_hash() == engine.head().hash_after


def test_after_gc_every_commit_that_is_listed_can_be_checked_out(tmp_path: Path) -> None:
    """Also one on another line that has its scene from a file alone."""
    with Engine(tmp_path, spare=False) as engine:
        history = History(engine.journal, engine.scene, engine.pool, engine.catalogue)
        engine.do("object.create_empty", {"name": "First"})
        (tmp_path / "triangle.obj").write_text(TRIANGLE)
        engine.do("file.import", {"path": str(tmp_path / "triangle.obj")})
        history.undo()
        engine.do("object.create_empty", {"name": "On another line"})
        engine.scene.checkpoint()
        assert history.gc(redo_budget=0).files == ()
        listed = engine.journal.log(all_lines=True)
        assert [commit.number for commit in listed] == [4, 3, 2, 1]
        for commit in listed:
            history.checkout(commit.number)
            assert engine.full_hash() == commit.hash_after


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
    engine: Engine, worker: WorkerPort, tool: str, args: dict[str, Any], expected: set[Any]
) -> None:
    rebuild(worker, engine.journal, engine.head().number)
    before = take(worker)
    do(engine, worker, tool, args)
    found = compare(before, take(worker))
    assert (found.created, found.removed, found.unseen) == ((), (), False)
    told = {
        (entry.kind, entry.name, change.property, _frozen(change.old), _frozen(change.new))
        for entry in found.changed
        for change in entry.properties
    }
    assert told == expected


def _frozen(value: Any) -> Any:
    return tuple(cast("list[Any]", value)) if isinstance(value, list) else value


def test_what_came_and_went_is_named_and_equal_scenes_do_not_differ(engine: Engine, worker: WorkerPort) -> None:
    rebuild(worker, engine.journal, engine.head().number)
    before = take(worker)
    do(engine, worker, "object.rename", {"name": "Box b", "new_name": "Crate"})
    do(engine, worker, "material.ensure_principled", {"name": "Red"})
    after = take(worker)
    found = compare(before, after)
    assert [(entry.kind, entry.name) for entry in found.created] == [("materials", "Red"), ("objects", "Crate")]
    assert [(entry.kind, entry.name) for entry in found.removed] == [("objects", "Box b")]
    assert compare(after, after).none and not found.none


def test_scenes_of_more_than_a_page_are_compared_whole(engine: Engine, worker: WorkerPort) -> None:
    rebuild(worker, engine.journal, engine.head().number)
    before = take(worker)
    tool = engine.tools["object.create_empty"]
    for number in range(PAGE + 5):
        args = tool.args_model.model_validate({"name": f"E{number}"}).model_dump(mode="json")
        worker.submit("scene.step", {"tool": tool.name, "version": tool.version, "args": args})
    found = compare(before, take(worker))
    assert len(found.created) == PAGE + 5 and not found.changed and not found.removed


# ---------------------------------------------------------------------- replay


def test_the_journal_replays_to_its_hashes_and_exports_nothing_again(engine: Engine, worker: WorkerPort) -> None:
    (engine.place / "out.stl").unlink()
    found = replay(worker, engine.journal)
    assert found.ok and found.by == "hashes" and found.agreed == found.head == engine.head().number
    # Of seven commits the baseline is empty, the export changed nothing, and the import is opened from its checkpoint.
    assert (found.commits, found.redone, found.opened) == (7, 4, 1)
    assert not (engine.place / "out.stl").exists()


def _edit_arguments(db: Any) -> None:
    db.execute("UPDATE commits SET args = replace(args, 'Box b', 'Box c') WHERE number = 3")


def _edit_a_hash(db: Any) -> None:
    forged = db.execute("SELECT hash_after FROM commits WHERE number = 3").get[:-4] + "0000"
    db.execute("UPDATE commits SET hash_after = ? WHERE number = 3", (forged,))
    db.execute("UPDATE commits SET hash_before = ? WHERE number = 4", (forged,))


def _leave_out_a_change(db: Any) -> None:
    db.execute("UPDATE commits SET hash_after = hash_before WHERE number = 3")


@pytest.mark.parametrize(
    ("tamper", "at"),
    [(_edit_arguments, 3), (_edit_a_hash, 3), (_leave_out_a_change, 4)],
    ids=["arguments", "hash", "left out"],
)
def test_a_tampered_commit_is_caught_with_both_hashes(
    engine: Engine, worker: WorkerPort, tmp_path: Path, tamper: Callable[[Any], None], at: int
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
    engine: Engine, worker: WorkerPort, tmp_path: Path
) -> None:
    place = copy_of(engine, tmp_path / "copy")
    with closing(raw(place)) as db:
        for column in ("hash_before", "hash_after"):
            db.execute(f"UPDATE commits SET {column} = replace({column}, ':5.0:', ':4.2:')")
    with closing(JournalView(place)) as view:
        agreed = replay(worker, view)
        assert agreed.ok and agreed.by == "results" and agreed.redone == 4
        with pytest.raises(EnvironmentUnfit, match="written with"):
            rebuild(worker, view, 2)
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
    engine: Engine, worker: WorkerPort, tmp_path: Path
) -> None:
    place = copy_of(engine, tmp_path / "copy")
    with closing(raw(place)) as db:
        _edit_arguments(db)
    with closing(Journal(place)) as journal:
        journal.begin_boundary("unfinished")
        intent = journal.begin_intent(NewIntent("key", "r", "op", "file.export", "file.export writes x.stl"))
        journal.quarantine("it led elsewhere", expected="a", found="b")
    with pytest.raises(EnvironmentUnfit, match="in quarantine"):
        Journal(place)
    with closing(Journal(place, recovering=True)) as journal:
        trouble = rescue.look(journal)
        assert trouble.quarantine is not None and trouble.boundary is not None and not trouble.fit
        assert [each.id for each in trouble.indeterminate] == [intent]
        told = "\n".join(trouble.ways_out())
        assert "recover --to" in told and f"recover --resolve {intent}" in told and "'unfinished'" in told
        with pytest.raises(RebuildFailed, match="commit 3"):
            rescue.return_to(journal, worker, 4)
        assert journal.quarantined() is not None
        assert rescue.return_to(journal, worker, 2).number == 2
        journal.resolve_intent(intent, "it is not there")
        after = rescue.look(journal)
        assert after.fit and after.boundary is None and list(after.ways_out()) == []
    with closing(Journal(place)) as journal:
        assert journal.head is not None and journal.head.number == 2


def test_a_head_that_no_checkpoint_leads_to_can_be_left(engine: Engine, worker: WorkerPort, tmp_path: Path) -> None:
    place = copy_of(engine, tmp_path / "copy")
    for file in (place / "checkpoints").glob("*.blend"):
        file.unlink()
    with closing(Journal(place, recovering=True)) as journal:
        trouble = rescue.look(journal)
        assert trouble.quarantine is None and trouble.lost is not None and "no checkpoint leads" in trouble.lost
        assert trouble.places[0] == 5, "the commit before the import can be redone from the empty baseline"
        rescue.return_to(journal, worker, 5)
        assert rescue.look(journal).fit
