"""Plans that are kept whole or not at all: where each began, and how it ended.

A boundary is committed before the plan begins. When the plan's process died, it must be rolled back before anything else is written.
"""

from __future__ import annotations

from typing import Literal

from blendwright.journal.ancestry import head_row
from blendwright.journal.store import Store, utc_now
from blendwright.records.recovery import OpenBoundary
from blendwright.values.errors import JournalError

# An expression for a SELECT; its binding is the fence of whoever asks.
_INTERRUPTED = "FROM boundaries WHERE state = 'open' AND fence <> ?"
IS_INTERRUPTED = f"EXISTS (SELECT 1 {_INTERRUPTED})"


def begin(store: Store, request_id: str) -> int:
    with store.transaction("boundary"):
        require_no_interrupted_plan(store)
        head = head_row(store)
        if head is None:
            raise JournalError("a workspace without a baseline has nothing to go back to")
        if current(store) is not None:
            raise JournalError("one plan at a time can be kept whole or not at all")
        values = (request_id, head[0], store.fence, utc_now())
        return store.insert("INSERT INTO boundaries VALUES (NULL, ?, ?, 'open', ?, ?)", values)


def current(store: Store) -> OpenBoundary | None:
    row = store.row("SELECT id, request_id, base FROM boundaries WHERE state = 'open'")
    return None if row is None else OpenBoundary(*row)


def end(store: Store, id: int, state: Literal["kept", "rolled_back"]) -> OpenBoundary:
    """In the transaction that decides it."""
    boundary = current(store)
    if boundary is None or boundary.id != id:
        raise JournalError(f"there is no open boundary {id}")
    store.change("UPDATE boundaries SET state = ? WHERE id = ?", (state, id))
    return boundary


def require_no_interrupted_plan(store: Store) -> None:
    """A plan that another process left half done must be rolled back first."""
    row = store.row(f"SELECT id, request_id {_INTERRUPTED}", (store.fence,))
    if row is not None:
        raise JournalError(
            f"the plan {row[1]} was interrupted and must be rolled back first",
            cure="Run `blendwright recover`.",
            details={"boundary": row[0]},
        )
