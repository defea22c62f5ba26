"""The state in which nothing is written because the scene is not what the journal says."""

from __future__ import annotations

from blendwright.journal.store import Store, utc_now
from blendwright.records.recovery import Quarantine
from blendwright.values.errors import EnvironmentUnfit, JournalError

# An expression for a SELECT.
_OPEN = "FROM quarantines WHERE ended IS NULL"
IS_OPEN = f"EXISTS (SELECT 1 {_OPEN})"


def current(store: Store) -> Quarantine | None:
    row = store.row(f"SELECT reason, expected, found, timestamp {_OPEN}")
    return None if row is None else Quarantine(*row)


def begin(store: Store, reason: str, expected: str, found: str) -> None:
    """A second reason does not replace the first: that is the one to look into."""
    with store.transaction("quarantine"):
        if current(store) is None:
            sql = "INSERT INTO quarantines VALUES (NULL, ?, ?, ?, ?, NULL)"
            store.change(sql, (reason, expected, found, utc_now()))


def end(store: Store, how: str) -> None:
    with store.transaction("quarantine"):
        ended = f"{utc_now()} {how}"
        if store.change("UPDATE quarantines SET ended = ? WHERE ended IS NULL", (ended,)) != 1:
            raise JournalError("the workspace is not in quarantine")


def refuse(store: Store) -> None:
    """Raise EnvironmentUnfit in a quarantined workspace."""
    quarantine = current(store)
    if quarantine is not None:
        raise EnvironmentUnfit(
            f"the workspace is in quarantine since {quarantine.timestamp}: {quarantine.reason}"
            f" (the journal says {quarantine.expected}, found was {quarantine.found})",
            cure="Run `blendwright recover` to see the ways out.",
            details={"reason": quarantine.reason, "expected": quarantine.expected, "found": quarantine.found},
        )
