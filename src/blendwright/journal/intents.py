"""Effects outside the scene, announced before they happen.

An effect whose process died before it reported the outcome becomes indeterminate: nobody knows whether it happened.
"""

from __future__ import annotations

from blendwright.journal.plan_boundaries import require_no_interrupted_plan
from blendwright.journal.store import Store, utc_now
from blendwright.records.recovery import Intent, NewIntent
from blendwright.values.errors import JournalError


def begin(store: Store, new: NewIntent) -> int:
    with store.transaction("intent"):
        require_no_interrupted_plan(store)
        values = (new.operation_key, new.request_id, new.operation_id, new.tool, new.effect, store.fence, utc_now())
        return store.insert("INSERT INTO intents VALUES (NULL, ?, ?, ?, ?, ?, 'open', NULL, ?, ?)", values)


def settle(store: Store, id: int) -> None:
    """In the transaction of the outcome."""
    if store.change("UPDATE intents SET state = 'settled' WHERE id = ? AND state = 'open'", (id,)) != 1:
        raise JournalError(f"there is no open intent {id}")


def mark_open_as_indeterminate(store: Store) -> None:
    """In the transaction in which a new writer takes over: the process that left them open has ended."""
    store.change("UPDATE intents SET state = 'indeterminate' WHERE state = 'open'")


def resolve(store: Store, id: int, note: str) -> None:
    sql = "UPDATE intents SET state = 'resolved', note = ? WHERE id = ? AND state = 'indeterminate'"
    with store.transaction("resolve"):
        if store.change(sql, (note, id)) != 1:
            raise JournalError(f"there is no indeterminate intent {id}")


def indeterminate(store: Store) -> tuple[Intent, ...]:
    columns = "operation_key, request_id, operation_id, tool, effect, id, state, timestamp, note"
    rows = store.rows(f"SELECT {columns} FROM intents WHERE state = 'indeterminate' ORDER BY id")
    return tuple(Intent(*row) for row in rows)
