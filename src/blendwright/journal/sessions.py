"""What sessions were held to. Equal contracts are kept once; a session is recorded once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from blendwright.journal.store import Store, as_json, utc_now


def keep(store: Store, session_id: str, fingerprint: str, contract: Mapping[str, Any]) -> None:
    with store.transaction("session"):
        store.change("INSERT OR IGNORE INTO contracts VALUES (?, ?)", (fingerprint, as_json("the contract", contract)))
        values = (session_id, fingerprint, store.fence, utc_now())
        store.change("INSERT OR IGNORE INTO sessions VALUES (?, ?, ?, ?)", values)


def contract(store: Store, fingerprint: str) -> Mapping[str, Any] | None:
    row = store.row("SELECT contract FROM contracts WHERE fingerprint = ?", (fingerprint,))
    return None if row is None else orjson.loads(row[0])


def contract_of(store: Store, session_id: str) -> str | None:
    row = store.row("SELECT contract FROM sessions WHERE session_id = ?", (session_id,))
    return None if row is None else str(row[0])
