"""The contracts that sessions were held to. Receipts name them by fingerprint."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from blendwright.journal.store import Store, as_json, from_json, utc_now


class ContractReader:
    """Reads the contracts that sessions were held to."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def read(self, fingerprint: str) -> Mapping[str, Any] | None:
        """Return the contract that a receipt names, as it was kept."""
        with self._store.snapshot():
            row = self._store.row("SELECT contract FROM contracts WHERE fingerprint = ?", (fingerprint,))
        if row is None:
            return None
        return from_json("a contract", row[0])

    def of_session(self, session_id: str) -> str | None:
        """Return the fingerprint of the contract that a session was held to."""
        with self._store.snapshot():
            row = self._store.row("SELECT contract FROM sessions WHERE session_id = ?", (session_id,))
        if row is None:
            return None
        return row[0]


class ContractWriter(ContractReader):
    """Records the contracts that sessions are held to."""

    def keep(self, session_id: str, fingerprint: str, contract: Mapping[str, Any]) -> None:
        """Keep the contract of a session, before the session writes anything else. Equal contracts are kept once."""
        store = self._store
        text = as_json("the contract", contract)
        with store.transaction("session"):
            store.change("INSERT OR IGNORE INTO contracts VALUES (?, ?)", (fingerprint, text))
            values = (session_id, fingerprint, store.fence, utc_now())
            store.change("INSERT OR IGNORE INTO sessions VALUES (?, ?, ?, ?)", values)
