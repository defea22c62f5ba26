"""The contracts of sessions. Receipts name them by fingerprint."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from blendwright.journal.store import Store, as_json, from_json, utc_now


class ContractReader:
    """A reader of the contracts of sessions."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def read(self, fingerprint: str) -> Mapping[str, Any] | None:
        """Return the stored contract that a receipt names, or None when the fingerprint is unknown."""
        with self._store.snapshot():
            row = self._store.row("SELECT contract FROM contracts WHERE fingerprint = ?", (fingerprint,))
        if row is None:
            return None
        return from_json("a contract", row[0])

    def of_session(self, session_id: str) -> str | None:
        """Return the fingerprint of the contract of a session, or None for an unknown session."""
        with self._store.snapshot():
            row = self._store.row("SELECT contract FROM sessions WHERE session_id = ?", (session_id,))
        if row is None:
            return None
        return row[0]


class ContractWriter(ContractReader):
    """A writer of the contracts of sessions."""

    def keep(self, session_id: str, fingerprint: str, contract: Mapping[str, Any]) -> None:
        """Store the contract of a session, before the session writes anything else. Equal contracts share one row."""
        store = self._store
        text = as_json("the contract", contract)
        with store.transaction("session"):
            store.change("INSERT OR IGNORE INTO contracts VALUES (?, ?)", (fingerprint, text))
            values = (session_id, fingerprint, store.fence, utc_now())
            store.change("INSERT OR IGNORE INTO sessions VALUES (?, ?, ?, ?)", values)
