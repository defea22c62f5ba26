"""Branches in the journal: what takes them along, what leaves them, and what no gc may take from them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import apsw
import pytest

from blendwright.journal import Journal, JournalView
from blendwright.records.branches import Branch, SwitchTo
from blendwright.values.errors import JournalError
from journal.ledger import assert_sound, begun, chain, raw, saved


def heads(journal: JournalView) -> dict[str, int | None]:
    return {branch.name: branch.commit for branch in journal.branches.listed()}


def test_a_workspace_begins_on_main_which_goes_along(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "empty")
    assert journal.branches.listed() == (Branch("main", None, current=True),)
    journal.close()
    journal = begun(tmp_path / "w", ["a", "b"])
    assert journal.branches.listed() == (Branch("main", 3, current=True),)
    journal.move_head("undo", 2)
    assert heads(journal) == {"main": 2}
    journal.move_head("redo", 3)
    boundary = journal.recovery.begin_boundary("r")
    journal.commit(chain(["c"], "scene-b"))
    assert heads(journal) == {"main": 4}
    journal.roll_back(boundary)
    assert heads(journal) == {"main": 3}
    journal.close()


def test_a_branch_that_was_left_stays_and_head_may_be_on_none(tmp_path: Path) -> None:
    journal = begun(tmp_path, ["a", "b"])
    journal.branches.create("side", 2)
    journal.move_head("checkout", 2, SwitchTo("side"))
    journal.commit(chain(["c"], "scene-a"))
    assert heads(journal) == {"main": 3, "side": 4} and journal.branches.current() == "side"
    journal.move_head("checkout", 1, SwitchTo(None))
    assert journal.branches.current() is None
    journal.commit(chain(["d"], "scene-0"))
    assert heads(journal) == {"main": 3, "side": 4}
    assert journal.move_head("checkout", 5, SwitchTo("lost", create=True)) is None, "HEAD is there already"
    assert heads(journal) == {"lost": 5, "main": 3, "side": 4} and journal.branches.current() == "lost"
    with pytest.raises(JournalError, match="leads to commit 3, not to 4"):
        journal.move_head("checkout", 4, SwitchTo("main"))
    assert journal.branches.current() == "lost" and journal.head_number == 5
    journal.close()
    view = JournalView(tmp_path)
    assert heads(view) == {"lost": 5, "main": 3, "side": 4} and view.branches.current() == "lost"
    view.close()
    assert_sound(tmp_path)


def test_names_are_taken_once_and_the_current_branch_stays(tmp_path: Path) -> None:
    journal = begun(tmp_path, ["a"])
    journal.branches.set_tag("good", 2)
    journal.branches.create("side", 1)
    for name, why in (("main", "already"), ("side", "already"), ("good", "tag good")):
        with pytest.raises(JournalError, match=why):
            journal.branches.create(name, 1)
    with pytest.raises(JournalError, match="branch side"):
        journal.branches.set_tag("side", 1)
    with pytest.raises(JournalError, match="HEAD is on"):
        journal.branches.delete("main")
    with pytest.raises(JournalError, match="no commit 9"):
        journal.branches.create("far", 9)
    journal.branches.delete("side")
    with pytest.raises(JournalError, match="no branch side"):
        journal.branches.delete("side")
    journal.branches.create("side", 2)
    assert heads(journal) == {"main": 2, "side": 2}
    journal.close()


def test_what_became_of_branches_never_changes(tmp_path: Path) -> None:
    begun(tmp_path).close()
    connection: Any = apsw.Connection(str(tmp_path / "journal.db"))
    for statement in ("DELETE FROM branch_moves", "UPDATE branch_moves SET number = 1"):
        with pytest.raises(apsw.ConstraintError, match="never change"):
            connection.execute(statement)
    connection.close()


def test_gc_keeps_what_branches_need(tmp_path: Path) -> None:
    journal = begun(tmp_path, ["a"])
    journal.branches.create("side", 2)
    journal.move_head("checkout", 2, SwitchTo("side"))
    staged = journal.checkpoints.stage(saved(tmp_path, "side"), "scene-c")
    journal.commit(chain(["c"], "scene-a"))
    journal.checkpoints.add(staged, 3)
    journal.move_head("checkout", 2, SwitchTo("main"))
    journal.commit(chain(["d"], "scene-a"))
    journal.checkpoints.add(journal.checkpoints.stage(saved(tmp_path, "main"), "scene-d"), 4)
    assert journal.checkpoints.collect_garbage(redo_budget=100, drop_other_lines=True).files == ()
    journal.branches.delete("side")
    assert journal.checkpoints.collect_garbage(redo_budget=100, drop_other_lines=True).files == (staged.file,)
    journal.close()


def test_a_journal_from_before_there_were_branches_is_on_main(tmp_path: Path) -> None:
    begun(tmp_path, ["a", "b"]).close()
    connection = raw(tmp_path)
    connection.execute("DROP TABLE branch_moves; DROP TABLE merges; PRAGMA user_version = 4")
    connection.close()
    view = JournalView(tmp_path)
    assert view.branches.listed() == (Branch("main", 3, current=True),)
    view.close()
    journal = Journal(tmp_path)
    journal.move_head("checkout", 2, SwitchTo(None))
    assert journal.branches.listed() == (Branch("main", 3, current=False),)
    journal.close()
