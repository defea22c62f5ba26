"""Commits: what one transaction holds, and what the journal refuses to hold."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import apsw
import pytest

from blendwright.journal import Journal, JournalView
from blendwright.records.commits import Entry, MatchedCommit
from blendwright.records.recovery import NewIntent
from blendwright.values.errors import JournalError
from journal.ledger import (
    EMPTY,
    assert_sound,
    audit,
    baseline,
    begun,
    chain,
    key_of,
    operation,
    reading,
    saved,
    special,
    wanted,
)


def test_a_batch_comes_back_as_it_was_written(tmp_path: Path) -> None:
    journal = begun(tmp_path)
    args = {"name": "Cube", "size": 1.0, "flag": True, "ünïcode": "☃", "n": 2**62}
    written = journal.commit([operation("a", EMPTY, "s1", args=args), operation("b", "s1", "s2")])
    journal.close()

    view = JournalView(tmp_path)
    first, second = view.show(2), view.show(3)
    assert (written.numbers, written.head) == ((2, 3), 3)
    assert first.args == args and isinstance(first.args["size"], float), "a redo gets 1.0, not 1"
    assert (second.parent, second.hash_before, second.hash_after, second.generation) == (2, "s1", "s2", 2)
    assert first.receipt == written.receipts[0]
    assert view.head == second
    record = view.audit.records(after=first.audit_sequence - 1, limit=1)[0]
    assert first.receipt["audit"] == {"sequence": record.sequence, "hash": record.hash}
    assert first.receipt["commit"] == 2
    assert_sound(tmp_path)


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        (operation("z", "other", "s"), "HEAD is scene-b"),
        (operation("a", "scene-b", "s"), "already committed on this line"),
        (operation("z", "scene-b", "s", replayable=False), "needs a checkpoint"),
        (replace(operation("z", "scene-b", "s"), operation_key=None), "operation key"),
        (baseline(scene="scene-b"), "baseline"),
        (replace(operation("z", "scene-b", "s"), receipt={"audit": 1}), "must not contain audit"),
        (operation("z", "scene-b", "s", args={"n": 2**70}), "cannot be written as JSON"),
        (operation("z", "scene-b", "s", settles=7), "no open intent 7"),
    ],
)
def test_an_entry_that_would_break_a_promise_takes_its_whole_batch_with_it(
    tmp_path: Path, entry: Entry, why: str
) -> None:
    journal = begun(tmp_path, ["a", "b"])
    before = journal.log(), journal.audit.records(), journal.moves()
    good = replace(chain(["good"], "scene-b")[0], hash_after="scene-b")
    with pytest.raises(JournalError, match=why):
        journal.commit([good, entry])
    assert (journal.log(), journal.audit.records(), journal.moves()) == before
    journal.commit(chain(["c"], "scene-b"))
    journal.close()
    assert_sound(tmp_path)


def test_a_key_twice_in_one_batch_is_refused(tmp_path: Path) -> None:
    journal = begun(tmp_path)
    with pytest.raises(JournalError, match="already committed on this line"):
        journal.commit([operation("a", EMPTY, EMPTY), operation("a", EMPTY, EMPTY)])
    journal.close()


def test_the_first_commit_must_be_a_baseline(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    assert journal.head is None and journal.recovery.info().route is None
    with pytest.raises(JournalError, match="baseline"):
        journal.commit([operation("a", EMPTY, "s")])
    journal.close()


def test_history_cannot_be_changed_through_the_database(tmp_path: Path) -> None:
    begun(tmp_path, ["a"]).close()
    connection: Any = apsw.Connection(str(tmp_path / "journal.db"))
    for table in ("commits", "audit", "head_moves", "lines"):
        for statement in (f"DELETE FROM {table}", f"UPDATE {table} SET rowid = rowid + 1"):
            with pytest.raises(apsw.ConstraintError, match="never change"):
                connection.execute(statement)
    connection.close()


# ---------------------------------------------------------------------- looking up


def test_operations_are_found_where_they_are(tmp_path: Path) -> None:
    journal = begun(tmp_path, ["a", "b", "c"])
    journal.move_head("checkout", 3)
    journal.commit(chain(["d"], "scene-b"))
    found = journal.find_many([wanted("a"), wanted("c"), wanted("d"), wanted("x")])
    assert [one.where for one in found] == ["ancestor", "elsewhere", "ancestor", "nowhere"]
    answer, whole = found[0].commit, journal.show(2)
    assert answer is not None
    assert answer._asdict() == {name: getattr(whole, name) for name in answer._fields}
    journal.move_head("checkout", 4)
    assert [one.where for one in journal.find_many([wanted("c"), wanted("d")])] == ["ancestor", "elsewhere"]
    journal.close()
    view = JournalView(tmp_path)
    assert [one.where for one in view.find_many([wanted("c"), wanted("d")])] == ["ancestor", "elsewhere"]
    view.close()


def test_an_adopted_file_may_have_lost_what_came_before(tmp_path: Path) -> None:
    journal = begun(tmp_path, ["a"])
    staged = journal.checkpoints.stage(saved(tmp_path, "foreign"), "foreign")
    journal.commit([special("adopt", "scene-a", "foreign", staged), *chain(["b"], "foreign")])
    assert [one.where for one in journal.find_many([wanted("a"), wanted("b")])] == ["before_adopt", "ancestor"]
    journal.close()
    journal = Journal(tmp_path)
    assert [one.where for one in journal.find_many([wanted("a"), wanted("b")])] == ["before_adopt", "ancestor"]
    journal.close()


@pytest.mark.parametrize("other", [{"args": {"x": 1}}, {"tool": "object.delete"}, {"version": 2}])
def test_the_same_ids_with_other_contents_clash(tmp_path: Path, other: dict[str, Any]) -> None:
    journal = begun(tmp_path, ["a"])
    (found,) = journal.find_many([wanted("a", **other)])
    assert isinstance(found.clash, MatchedCommit) and found.clash.number == 2
    assert journal.find_many([wanted("a")])[0].clash is None
    assert journal.find_many([wanted("a", request="r2", **other)])[0].clash is None
    journal.close()


def test_a_reading_answers_only_for_the_scene_it_was_made_of(tmp_path: Path) -> None:
    journal = begun(tmp_path)
    journal.commit([reading("look", EMPTY)])
    wish = wanted("look", tool="scene.find")
    (found,) = journal.find_many([wish])
    assert found.where == "reading" and found.reading is not None and found.reading.receipt["found"] == ["look", EMPTY]
    journal.commit([*chain(["a"]), reading("look", "scene-a")])
    assert journal.find_many([wish])[0].reading != found.reading
    assert journal.find_many([wish], scene_hash=EMPTY)[0].reading == found.reading
    assert journal.find_many([wish], scene_hash="unseen")[0].where == "nowhere"
    assert journal.find_many([wanted("look", tool="scene.find", args={"q": 1})])[0].clash is not None
    assert journal.head is not None and journal.head.operation_id == "a", "reading does not move HEAD"
    journal.close()
    assert_sound(tmp_path)


# ---------------------------------------------------------------------- intents, boundaries, quarantine


def test_an_intent_left_open_becomes_indeterminate_and_waits_for_a_person(tmp_path: Path) -> None:
    journal = begun(tmp_path)
    settled = journal.recovery.begin_intent(NewIntent(key_of("r", "a"), "r", "a", "file.export", "writes a.glb"))
    journal.commit([operation("a", EMPTY, "s", settles=settled)])
    left = journal.recovery.begin_intent(NewIntent(key_of("r", "b"), "r", "b", "file.export", "writes b.glb"))
    assert journal.recovery.info().indeterminate == ()
    journal.close()

    journal = Journal(tmp_path)
    (intent,) = journal.recovery.info().indeterminate
    assert (intent.id, intent.effect, intent.state) == (left, "writes b.glb", "indeterminate")
    assert [found.intent for found in journal.find_many([wanted("a"), wanted("b")])] == [None, left]
    with pytest.raises(JournalError, match="no open intent"):
        journal.commit([operation("b", "s", "s", settles=left)])
    journal.recovery.resolve_intent(left, "the file is there")
    assert journal.recovery.info().indeterminate == ()
    journal.close()


def test_a_request_is_known_by_what_was_done_or_only_begun_under_its_id(tmp_path: Path) -> None:
    journal = begun(tmp_path, ["a"])
    journal.recovery.begin_intent(NewIntent(key_of("begun", "b"), "begun", "b", "file.export", "writes b.glb"))
    journal.close()
    journal = Journal(tmp_path)
    assert [journal.knows_request(id) for id in ("r", "begun", "new")] == [True, True, False]
    journal.close()


def test_a_plan_rolled_back_leaves_records_and_may_run_again(tmp_path: Path) -> None:
    journal = begun(tmp_path, ["a"])
    boundary = journal.recovery.begin_boundary("r")
    journal.commit(chain(["b", "c"], "scene-a"))
    written = journal.roll_back(boundary, [audit("d", "failed", "scene-c", None)])
    assert written.numbers == (None, 4, 3) and written.head == 2
    records = [record.record for record in journal.audit.records(after=4)]
    assert [(r["operation_id"], r["status"]) for r in records] == [
        ("d", "failed"),
        ("c", "rolled_back"),
        ("b", "rolled_back"),
    ]
    assert records[1]["mcp_call_id"] == "call-c" and records[1]["scene_hash_after"] == "scene-b"
    assert [one.where for one in journal.find_many([wanted("b"), wanted("c")])] == ["rolled_back"] * 2
    assert journal.find_many([wanted("b", args={"repaired": True})])[0].clash is None
    journal.commit(chain(["b", "c"], "scene-a"))
    assert [one.where for one in journal.find_many([wanted("b"), wanted("c")])] == ["ancestor"] * 2
    journal.close()
    assert_sound(tmp_path)


def test_a_plan_that_was_interrupted_must_be_rolled_back_first(tmp_path: Path) -> None:
    journal = begun(tmp_path, ["a"])
    journal.recovery.begin_boundary("r")
    journal.commit(chain(["b"], "scene-a"))
    with pytest.raises(JournalError, match="plan is running"):
        journal.move_head("undo", 2)
    journal.close()

    journal = Journal(tmp_path)
    boundary = journal.recovery.info().boundary
    assert boundary is not None and boundary.base == 2
    with pytest.raises(JournalError, match="must be rolled back first"):
        journal.commit(chain(["c"], "scene-b"))
    journal.roll_back(boundary.id)
    journal.commit(chain(["c"], "scene-a"))
    assert journal.recovery.info().boundary is None
    journal.close()
    assert_sound(tmp_path)


# ---------------------------------------------------------------------- HEAD


def test_undo_and_redo_walk_and_a_new_commit_ends_redo(tmp_path: Path) -> None:
    journal = begun(tmp_path, ["a", "b", "c"])
    journal.move_head("undo", 3)
    journal.move_head("undo", 2)
    assert journal.head is not None and journal.head.parent == 1
    assert journal.redo_target() == 3
    journal.move_head("redo", 3)
    assert journal.redo_target() == 4
    journal.move_head("undo", 2)
    assert journal.redo_target() == 3
    with pytest.raises(JournalError, match="is not before HEAD"):
        journal.move_head("undo", 4)
    journal.commit(chain(["d"], "scene-a"))
    assert journal.redo_target() is None
    with pytest.raises(JournalError, match="nothing to redo"):
        journal.move_head("redo", 3)
    assert [commit.operation_id for commit in journal.log()] == ["d", "a", "baseline"]
    journal.move_head("checkout", 4)
    assert [commit.operation_id for commit in journal.log()] == ["c", "b", "a", "baseline"]
    assert [commit.number for commit in journal.log(limit=2, before=3)] == [2, 1]
    journal.close()
    assert_sound(tmp_path)
