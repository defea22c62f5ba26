"""Attempts of planners in the journal, and journals of earlier schema versions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import apsw
import pytest

from blendwright.journal import Journal, JournalView, schema
from blendwright.records.requests import NewAttempt
from journal.ledger import begun

GOLDEN = Path(__file__).parents[1] / "golden"


def attempt(number: int, request: str = "r") -> NewAttempt:
    outcome = {"stage": "validation", "status": "failed"}
    return NewAttempt(request, number, "a box", "0" * 64, "model-x", {"total": 7}, '{"operations": []}', outcome)


def guarded(place: Path) -> Any:
    return apsw.Connection(str(place / "journal.db"))


def restored(name: str, place: Path) -> None:
    db = guarded(place)
    db.execute((GOLDEN / name).read_text())
    db.close()


def test_attempts_come_back_as_they_were_in_the_order_of_their_making(tmp_path: Path) -> None:
    journal = begun(tmp_path, ["a"])
    for new in (attempt(1), attempt(1, "other"), attempt(2)):
        journal.attempts.record(new)
    kept = journal.attempts.of_request("r")
    assert [each.number for each in kept] == [1, 2]
    assert (kept[0].usage, kept[0].outcome["stage"], kept[0].plan) == ({"total": 7}, "validation", '{"operations": []}')
    assert [commit.operation_id for commit in journal.commits_of("r")] == ["a"]
    journal.close()
    view = JournalView(tmp_path)
    assert view.attempts.of_request("r") == kept and view.attempts.of_request("nobody") == ()
    view.close()


def test_attempts_never_change(tmp_path: Path) -> None:
    journal = begun(tmp_path)
    journal.attempts.record(attempt(1))
    journal.close()
    db = guarded(tmp_path)
    for sql in ("UPDATE attempts SET model = 'y'", "DELETE FROM attempts"):
        with pytest.raises(apsw.ConstraintError, match="never change"):
            db.execute(sql)
    db.close()


@pytest.mark.parametrize("version", [1, 2, 3])
def test_a_journal_of_an_earlier_version_is_upgraded_by_who_writes_and_only_read_by_who_reads(
    version: int, tmp_path: Path
) -> None:
    restored(f"journal.v{version}.sql", tmp_path)
    view = JournalView(tmp_path)
    before = [(commit.number, commit.hash_after) for commit in view.log(all_lines=True)]
    assert before and view.attempts.of_request("r") == ()
    view.close()
    db = guarded(tmp_path)
    assert db.execute("PRAGMA user_version").fetchone() == (version,), "a reader changes nothing"
    db.close()

    journal = Journal(tmp_path)
    journal.attempts.record(attempt(1))
    assert [each.number for each in journal.attempts.of_request("r")] == [1]
    assert [(commit.number, commit.hash_after) for commit in journal.log(all_lines=True)] == before
    assert journal.audit.verify().ok
    journal.close()
    db = guarded(tmp_path)
    assert db.execute("PRAGMA user_version").fetchone() == (schema.VERSION,)
    db.close()


def test_an_upgraded_journal_has_the_tables_of_a_new_one(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    old.mkdir()
    restored("journal.v1.sql", old)
    Journal(old).close()
    Journal(new).close()
    sql = "SELECT type, name FROM sqlite_master WHERE name NOT LIKE 'sqlite_%' ORDER BY 1, 2"
    found = [list(guarded(place).execute(sql)) for place in (old, new)]
    assert found[0] == found[1]
