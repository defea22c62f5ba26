"""Queries for single commits."""

from __future__ import annotations

from blendwright.journal import rows
from blendwright.journal.lines.ancestry import head_row
from blendwright.journal.store import Store
from blendwright.records.commits import Commit
from blendwright.values.errors import JournalError


def commit_numbered(store: Store, number: int) -> Commit:
    """Return a commit. Raise JournalError when no commit has this number."""
    values = store.row(f"SELECT {rows.COMMIT} FROM commits WHERE number = ?", (number,))
    if values is None:
        raise JournalError(f"there is no commit {number}")
    return rows.commit_of(values)


def head_commit(store: Store) -> Commit | None:
    """Return HEAD's commit, or None in a workspace without commits."""
    head = head_row(store)
    if head is None:
        return None
    return commit_numbered(store, head[0])
