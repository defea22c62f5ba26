"""What has begun and is not ended: effects outside the scene, and plans that are kept whole or not at all.

Both are committed before they begin. Of those whose process died, an effect becomes indeterminate (nobody knows whether it happened)
and an unfinished plan must be rolled back before anything else is written.
"""

from __future__ import annotations

from typing import Literal

from blendwright.journal import clock, rows
from blendwright.journal.ancestry import head_row
from blendwright.journal.store import Store
from blendwright.records.journal_entries import NewIntent
from blendwright.records.journal_records import Intent, OpenBoundary
from blendwright.values.errors import JournalError

# ---------------------------------------------------------------------- intents


def begin_intent(store: Store, new: NewIntent) -> int:
    with store.transaction("intent"):
        refuse_when_unfinished(store)
        values = (new.operation_key, new.request_id, new.operation_id, new.tool, new.effect, store.fence, clock.now())
        return store.insert("INSERT INTO intents VALUES (NULL, ?, ?, ?, ?, ?, 'open', NULL, ?, ?)", values)


def settle(store: Store, id: int) -> None:
    """In the transaction of the outcome."""
    if store.change("UPDATE intents SET state = 'settled' WHERE id = ? AND state = 'open'", (id,)) != 1:
        raise JournalError(f"there is no open intent {id}")


def give_up_intents(store: Store) -> None:
    """In the transaction in which a new writer takes over: whoever left them open is gone."""
    store.change("UPDATE intents SET state = 'indeterminate' WHERE state = 'open'")


def resolve_intent(store: Store, id: int, note: str) -> None:
    sql = "UPDATE intents SET state = 'resolved', note = ? WHERE id = ? AND state = 'indeterminate'"
    with store.transaction("resolve"):
        if store.change(sql, (note, id)) != 1:
            raise JournalError(f"there is no indeterminate intent {id}")


def indeterminate(store: Store) -> tuple[Intent, ...]:
    sql = f"SELECT {rows.INTENT} FROM intents WHERE state = 'indeterminate' ORDER BY id"
    return tuple(rows.intent_of(row) for row in store.rows(sql))


# ---------------------------------------------------------------------- boundaries


def begin_boundary(store: Store, request_id: str) -> int:
    with store.transaction("boundary"):
        refuse_when_unfinished(store)
        head = head_row(store)
        if head is None:
            raise JournalError("a workspace without a baseline has nothing to go back to")
        if open_boundary(store) is not None:
            raise JournalError("one plan at a time can be kept whole or not at all")
        values = (request_id, head[0], store.fence, clock.now())
        return store.insert("INSERT INTO boundaries VALUES (NULL, ?, ?, 'open', ?, ?)", values)


def open_boundary(store: Store) -> OpenBoundary | None:
    row = store.row("SELECT id, request_id, base FROM boundaries WHERE state = 'open'")
    return None if row is None else OpenBoundary(*row)


def end_boundary(store: Store, id: int, state: Literal["kept", "rolled_back"]) -> OpenBoundary:
    """In the transaction that decides it."""
    boundary = open_boundary(store)
    if boundary is None or boundary.id != id:
        raise JournalError(f"there is no open boundary {id}")
    store.change("UPDATE boundaries SET state = ? WHERE id = ?", (state, id))
    return boundary


def refuse_when_unfinished(store: Store) -> None:
    """A plan that another process left half done must be rolled back first."""
    row = store.row("SELECT id, request_id FROM boundaries WHERE state = 'open' AND fence <> ?", (store.fence,))
    if row is not None:
        raise JournalError(
            f"the plan {row[1]} was interrupted and must be rolled back first",
            cure="Run `blendwright recover`.",
            details={"boundary": row[0]},
        )
