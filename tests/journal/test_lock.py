"""One writer at a time: the lock, its number, and what a quarantined or foreign workspace answers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from blendwright.journal import Journal, JournalView
from blendwright.records.recovery import NewIntent
from blendwright.values.errors import EnvironmentUnfit, JournalError
from journal.ledger import assert_sound, begun, chain, raw, saved

HOLDER = """
import sys, pathlib
from blendwright.journal import Journal
journal = Journal(pathlib.Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
"""


def test_a_second_process_is_told_who_holds_the_workspace_until_that_dies(tmp_path: Path) -> None:
    begun(tmp_path, ["a"]).close()
    command = [sys.executable, "-c", HOLDER, str(tmp_path)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment) as holder:
        assert holder.stdout is not None and holder.stdout.readline() == "held\n"
        with pytest.raises(EnvironmentUnfit, match=f"in use by process {holder.pid} on .*, since 20") as caught:
            Journal(tmp_path)
        assert caught.value.details["holder"]["pid"] == holder.pid
        view = JournalView(tmp_path)
        assert view.head is not None and view.head.operation_id == "a", "reading needs no lock"
        view.close()
        holder.send_signal(signal.SIGKILL)
        holder.wait(60)
        journal = Journal(tmp_path)
        journal.commit(chain(["b"], "scene-a"))
        journal.close()


def test_a_holder_whose_number_is_not_current_can_write_nothing(tmp_path: Path) -> None:
    old = begun(tmp_path, ["a"])
    staged = old.checkpoints.stage(saved(tmp_path, "a"), "scene-a")
    boundary = old.recovery.begin_boundary("r")
    (tmp_path / "journal.lock").unlink()
    new = Journal(tmp_path)
    assert new.fence == old.fence + 1
    before = new.log(), new.moves(), new.audit.records()
    for write in (
        lambda: old.commit(chain(["b"], "scene-a")),
        lambda: old.recovery.begin_intent(NewIntent("k", "r", "b", "file.export", "writes")),
        lambda: old.recovery.resolve_intent(1, "x"),
        lambda: old.recovery.begin_boundary("r"),
        lambda: old.roll_back(boundary),
        lambda: old.checkpoints.add(staged, 2),
        lambda: old.move_head("checkout", 1),
        lambda: old.branches.set_tag("t", 1),
        lambda: old.branches.delete_tag("t"),
        lambda: old.recovery.begin_quarantine("x", expected="a", found="b"),
        lambda: old.recovery.end_quarantine("x"),
        lambda: old.checkpoints.collect_garbage(redo_budget=1),
    ):
        with pytest.raises(JournalError, match="no longer holds the workspace"):
            write()
    assert (new.log(), new.moves(), new.audit.records()) == before
    assert (tmp_path / "checkpoints" / staged.file).is_file()
    new.roll_back(boundary)
    new.commit(chain(["b"], "scene-a"))
    old.close()
    new.close()
    assert_sound(tmp_path)


def test_every_commit_carries_the_number_of_its_holder(tmp_path: Path) -> None:
    begun(tmp_path, ["a"]).close()
    journal = Journal(tmp_path)
    journal.commit(chain(["b"], "scene-a"))
    assert [commit.fence for commit in journal.log()] == [2, 1, 1]
    journal.close()


def test_a_quarantined_workspace_opens_only_for_recovery(tmp_path: Path) -> None:
    journal = begun(tmp_path, ["a"])
    journal.recovery.begin_quarantine("redo led elsewhere", expected="scene-a", found="scene-x")
    journal.recovery.begin_quarantine("and again", expected="1", found="2")
    with pytest.raises(EnvironmentUnfit, match=r"redo led elsewhere .*scene-a.*scene-x"):
        journal.commit(chain(["b"], "scene-a"))
    journal.close()
    with pytest.raises(EnvironmentUnfit) as caught:
        Journal(tmp_path)
    assert caught.value.cure is not None and "blendwright recover" in caught.value.cure
    view = JournalView(tmp_path)
    quarantine = view.recovery.info().quarantine
    assert quarantine is not None and (quarantine.expected, quarantine.found) == ("scene-a", "scene-x")
    view.close()

    journal = Journal(tmp_path, recovering=True)
    journal.move_head("checkout", 1)
    journal.recovery.end_quarantine("checked out an earlier commit")
    journal.close()
    Journal(tmp_path).close()
    with pytest.raises(JournalError, match="not in quarantine"):
        journal = Journal(tmp_path)
        try:
            journal.recovery.end_quarantine("x")
        finally:
            journal.close()


def test_a_journal_of_another_version_and_a_file_that_is_none_are_refused(tmp_path: Path) -> None:
    begun(tmp_path).close()
    db = raw(tmp_path)
    db.execute("PRAGMA user_version = 99")
    db.close()
    with pytest.raises(EnvironmentUnfit, match="schema version 99"):
        Journal(tmp_path)
    with pytest.raises(EnvironmentUnfit, match="schema version 99"):
        JournalView(tmp_path)
    other = tmp_path / "other"
    other.mkdir()
    with pytest.raises(EnvironmentUnfit, match="is not a workspace"):
        JournalView(other)
    (other / "journal.db").write_bytes(b"not a database" * 1000)
    with pytest.raises(JournalError, match="is damaged"):
        Journal(other)


def test_a_refused_opening_lets_the_lock_go(tmp_path: Path) -> None:
    journal = begun(tmp_path)
    journal.recovery.begin_quarantine("x", expected="a", found="b")
    journal.close()
    for _ in range(2):
        with pytest.raises(EnvironmentUnfit, match="quarantine"):
            Journal(tmp_path)
    Journal(tmp_path, recovering=True).close()


def test_a_reader_sees_one_state_and_then_the_next(tmp_path: Path) -> None:
    journal = begun(tmp_path, ["a"])
    view = JournalView(tmp_path)
    assert len(view.log()) == 2
    journal.commit(chain(["b"], "scene-a"))
    journal.move_head("undo", 2)
    journal.commit(chain(["c"], "scene-a"))
    assert [commit.operation_id for commit in view.log()] == ["c", "a", "baseline"]
    view.close()
    journal.close()
