"""The states that an ended or failing process leaves open: intents, boundaries and quarantine.

An **intent** announces an effect outside the scene before it happens. If its process dies before it reports the
outcome, the intent becomes indeterminate: the effect may or may not have happened. A **boundary** marks the start of
an all-or-nothing plan and is committed before the plan. After the plan's process died, the plan must be rolled back
before any other write. In **quarantine** all writes are refused, because the scene differs from the journal.
"""

from __future__ import annotations

from typing import Literal

from blendwright.journal.checkpoints.reader import CheckpointReader
from blendwright.journal.commits.reading import head_commit
from blendwright.journal.lines.ancestry import head_row
from blendwright.journal.store import Store, utc_now
from blendwright.records.recovery import Intent, NewIntent, OpenBoundary, Quarantine, RecoveryInfo
from blendwright.values import events
from blendwright.values.errors import EnvironmentUnfit, JournalError

_IN_QUARANTINE = "FROM quarantines WHERE ended IS NULL"
_INTERRUPTED = "FROM boundaries WHERE state = 'open' AND fence <> ?"
# Expressions for a SELECT. The binding of the second is the fencing number of the caller.
IS_QUARANTINED = f"EXISTS (SELECT 1 {_IN_QUARANTINE})"
IS_INTERRUPTED = f"EXISTS (SELECT 1 {_INTERRUPTED})"


def begin_intent(store: Store, new: NewIntent) -> int:
    with store.transaction("intent"):
        require_no_interrupted_plan(store)
        values = (new.operation_key, new.request_id, new.operation_id, new.tool, new.effect, store.fence, utc_now())
        return store.insert("INSERT INTO intents VALUES (NULL, ?, ?, ?, ?, ?, 'open', NULL, ?, ?)", values)


def settle_intent(store: Store, id: int) -> None:
    """Mark an intent as settled. Call it in the transaction of its outcome."""
    if store.change("UPDATE intents SET state = 'settled' WHERE id = ? AND state = 'open'", (id,)) != 1:
        raise JournalError(f"there is no open intent {id}")


def mark_open_as_indeterminate(store: Store) -> None:
    """Mark all open intents as indeterminate, because their process has ended.

    Call it in the transaction of a new writer.
    """
    store.change("UPDATE intents SET state = 'indeterminate' WHERE state = 'open'")


def resolve_intent(store: Store, id: int, note: str) -> None:
    sql = "UPDATE intents SET state = 'resolved', note = ? WHERE id = ? AND state = 'indeterminate'"
    with store.transaction("resolve"):
        if store.change(sql, (note, id)) != 1:
            raise JournalError(f"there is no indeterminate intent {id}")


def indeterminate_intents(store: Store) -> tuple[Intent, ...]:
    columns = "operation_key, request_id, operation_id, tool, effect, id, state, timestamp, note"
    rows = store.rows(f"SELECT {columns} FROM intents WHERE state = 'indeterminate' ORDER BY id")
    return tuple(Intent(*row) for row in rows)


def begin_boundary(store: Store, request_id: str) -> int:
    with store.transaction("boundary"):
        require_no_interrupted_plan(store)
        head = head_row(store)
        if head is None:
            raise JournalError("a workspace without a baseline has no commit to go back to")
        if open_boundary(store) is not None:
            raise JournalError("only one all-or-nothing plan can run at a time")
        values = (request_id, head[0], store.fence, utc_now())
        return store.insert("INSERT INTO boundaries VALUES (NULL, ?, ?, 'open', ?, ?)", values)


def open_boundary(store: Store) -> OpenBoundary | None:
    row = store.row("SELECT id, request_id, base FROM boundaries WHERE state = 'open'")
    if row is None:
        return None
    return OpenBoundary(*row)


def end_boundary(store: Store, id: int, state: Literal["kept", "rolled_back"]) -> OpenBoundary:
    """End the open boundary and return it. Call it in the transaction that decides its state."""
    boundary = open_boundary(store)
    if boundary is None or boundary.id != id:
        raise JournalError(f"there is no open boundary {id}")
    store.change("UPDATE boundaries SET state = ? WHERE id = ?", (state, id))
    return boundary


def require_no_interrupted_plan(store: Store) -> None:
    """Raise JournalError if another process left an all-or-nothing plan unfinished. It must be rolled back first."""
    row = store.row(f"SELECT id, request_id {_INTERRUPTED}", (store.fence,))
    if row is not None:
        raise JournalError(
            f"the plan {row[1]} was interrupted and must be rolled back first",
            cure="Run `blendwright recover`.",
            details={"boundary": row[0]},
        )


def current_quarantine(store: Store) -> Quarantine | None:
    row = store.row(f"SELECT reason, expected, found, timestamp {_IN_QUARANTINE}")
    if row is None:
        return None
    return Quarantine(*row)


def begin_quarantine(store: Store, reason: str, expected: str, found: str) -> None:
    """Begin a quarantine. During a quarantine, keep the first reason, because the later problems follow from it."""
    with store.transaction("quarantine"):
        if current_quarantine(store) is None:
            sql = "INSERT INTO quarantines VALUES (NULL, ?, ?, ?, ?, NULL)"
            store.change(sql, (reason, expected, found, utc_now()))


def end_quarantine(store: Store, how: str) -> None:
    with store.transaction("quarantine"):
        ended = f"{utc_now()} {how}"
        if store.change("UPDATE quarantines SET ended = ? WHERE ended IS NULL", (ended,)) != 1:
            raise JournalError("the workspace is not in quarantine")


def require_no_quarantine(store: Store) -> None:
    """Raise EnvironmentUnfit in a quarantined workspace."""
    quarantine = current_quarantine(store)
    if quarantine is not None:
        raise EnvironmentUnfit(
            f"the workspace has been in quarantine since {quarantine.timestamp}: {quarantine.reason}"
            f" (the journal expects {quarantine.expected}, the scene has {quarantine.found})",
            cure="Run `blendwright recover` to see the ways out.",
            details={"reason": quarantine.reason, "expected": quarantine.expected, "found": quarantine.found},
        )


class RecoveryReader:
    """A reader of the states that an ended or failing process left open."""

    def __init__(self, store: Store, checkpoints: CheckpointReader, cleaned: tuple[str, ...] = ()) -> None:
        """Take the names of the partial files that the opening of the journal removed as `cleaned`."""
        self._store = store
        self._checkpoints = checkpoints
        self._cleaned = cleaned

    def info(self) -> RecoveryInfo:
        """Return all parts at once.

        Raise JournalError when no route leads to HEAD; the single parts remain readable then.
        """
        with self._store.snapshot():
            head = head_commit(self._store)
            route = None
            if head is not None:
                route = self._checkpoints.route(head.number)
            return RecoveryInfo(
                head=head,
                route=route,
                indeterminate=indeterminate_intents(self._store),
                boundary=open_boundary(self._store),
                quarantine=current_quarantine(self._store),
                cleaned=self._cleaned,
            )

    def quarantine(self) -> Quarantine | None:
        """Return the current quarantine, or None."""
        with self._store.snapshot():
            return current_quarantine(self._store)

    def indeterminate(self) -> tuple[Intent, ...]:
        """Return the announced effects that may or may not have happened."""
        with self._store.snapshot():
            return indeterminate_intents(self._store)

    def open_boundary(self) -> OpenBoundary | None:
        """Return the all-or-nothing plan that has not ended, or None."""
        with self._store.snapshot():
            return open_boundary(self._store)


class RecoveryWriter(RecoveryReader):
    """A writer that opens and ends intents, boundaries and quarantines."""

    def __init__(
        self,
        store: Store,
        checkpoints: CheckpointReader,
        cleaned: tuple[str, ...],
        *,
        recovering: bool,
        observe: events.Observer,
    ) -> None:
        super().__init__(store, checkpoints, cleaned)
        self._recovering = recovering
        self._observe = observe

    def begin_intent(self, intent: NewIntent) -> int:
        """Announce an effect outside the scene, and return the intent's id, which the outcome settles."""
        self.refuse_in_quarantine()
        return begin_intent(self._store, intent)

    def resolve_intent(self, id: int, note: str) -> None:
        """Record the outcome that a person found for an indeterminate effect."""
        resolve_intent(self._store, id, note)

    def begin_boundary(self, request_id: str) -> int:
        """Begin an all-or-nothing plan, and return the boundary's id.

        End it with `Journal.commit(…, keeps=id)` or `Journal.roll_back`.
        """
        self.refuse_in_quarantine()
        return begin_boundary(self._store, request_id)

    def begin_quarantine(self, reason: str, *, expected: str, found: str) -> None:
        """Refuse every later write, because the scene differs from the journal."""
        begin_quarantine(self._store, reason, expected, found)
        self._observe(events.Quarantined(reason, expected, found))

    def end_quarantine(self, how: str) -> None:
        """Allow writes again. Raise JournalError when the workspace is not in quarantine."""
        end_quarantine(self._store, how)
        self._observe(events.QuarantineEnded(how))

    def refuse_in_quarantine(self) -> None:
        """Raise EnvironmentUnfit in a quarantined workspace, unless the journal was opened for recovery."""
        if not self._recovering:
            with self._store.snapshot():
                require_no_quarantine(self._store)
