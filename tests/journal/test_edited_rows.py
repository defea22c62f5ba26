"""A journal whose rows somebody has edited is read or refused in words, with the way on: never a defect, and never without an end."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from blendwright.journal import Journal, JournalView
from blendwright.records.branches import SwitchTo
from blendwright.values.errors import JournalError
from journal.ledger import audit, begun, chain, raw, reading, wanted

READS: dict[str, Callable[[JournalView], Any]] = {
    "log": lambda view: view.log(),
    "log of all": lambda view: view.log(all_lines=True),
    "show": lambda view: view.show(3),
    "route": lambda view: view.checkpoints.route(3),
    "recovery": lambda view: view.recovery.info(),
    "changes": lambda view: view.changes_to(3),
    "common ancestor": lambda view: view.common_ancestor(3, 4),
    "found": lambda view: view.find_many([wanted("a"), wanted("look")]),
    "audit": lambda view: view.audit.records(),
    "branches": lambda view: view.branches.listed(),
    "moves": lambda view: view.redo_target(),
    "verify": lambda view: view.audit.verify(),
    "bundle": lambda view: list(view.audit.proof_lines(key="", hidden=())),
}
EDITS = [
    "UPDATE commits SET receipt = 'nope'", "UPDATE commits SET receipt = '[]'", "UPDATE commits SET args = '[[[['",
    "UPDATE commits SET args = '7'", "UPDATE readings SET receipt = '{'", "UPDATE audit SET record = 'nope'",
    "UPDATE audit SET record = '[]'", "UPDATE commits SET line = 99", "UPDATE commits SET parent = number",
    "UPDATE lines SET parent_line = id", "UPDATE lines SET parent_line = 2",
    "UPDATE commits SET generation = 9223372036854775807 WHERE number = 3",
    "UPDATE head_moves SET to_commit = 99", "UPDATE branch_moves SET number = 99", "DELETE FROM lines",
]  # fmt: skip


@pytest.mark.parametrize("edit", EDITS)
def test_rows_that_no_program_wrote_are_no_defect(tmp_path: Path, edit: str) -> None:
    journal = begun(tmp_path, ["a", "b"])
    journal.commit([audit("bad", "failed", "scene-b", None), reading("look", "scene-b")])
    journal.move_head("checkout", 2, SwitchTo("side", create=True))
    journal.commit(chain(["c"], "scene-a"))
    journal.close()
    db = raw(tmp_path)
    for setting in ("foreign_keys = OFF", "ignore_check_constraints = ON"):
        db.execute(f"PRAGMA {setting}")
    db.execute("DROP INDEX commits_on_line")
    db.execute(edit)
    db.close()
    with contextlib.closing(JournalView(tmp_path)) as view:
        for read in READS.values():
            with contextlib.suppress(JournalError):
                read(view)
        assert not view.audit.verify().ok


def test_what_was_edited_is_named_with_the_way_on(tmp_path: Path) -> None:
    begun(tmp_path, ["a"]).close()
    raw(tmp_path).execute("UPDATE commits SET receipt = 'nope' WHERE number = 2")
    with (
        pytest.raises(JournalError, match="the receipt of commit 2") as refused,
        contextlib.closing(Journal(tmp_path)) as journal,
    ):
        journal.log()
    assert "audit verify" in (refused.value.cure or "")
