"""Requests to planners and their results. The scene's history does not include them, and no rebuild reads them."""

from __future__ import annotations

from blendwright.journal.store import Store, as_json, from_json, utc_now
from blendwright.records.requests import Attempt, NewAttempt

_COLUMNS = "request_id, number, asked, prompt_hash, model, usage, plan, outcome, timestamp"


class AttemptReader:
    """A reader of the attempts of planners."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def of_request(self, request_id: str) -> tuple[Attempt, ...]:
        """Return the attempts of a request in the order in which they were made."""
        sql = f"SELECT {_COLUMNS} FROM attempts WHERE request_id = ? ORDER BY id"
        with self._store.snapshot():
            return tuple(
                Attempt(
                    request_id,
                    number,
                    asked,
                    prompt,
                    model,
                    from_json("an attempt", usage),
                    plan,
                    from_json("an attempt", outcome),
                    timestamp,
                )
                for _, number, asked, prompt, model, usage, plan, outcome, timestamp in self._store.rows(
                    sql, (request_id,)
                )
            )


class AttemptWriter(AttemptReader):
    """A reader and writer of the attempts of planners."""

    def record(self, new: NewAttempt) -> None:
        sql = f"INSERT INTO attempts ({_COLUMNS}, fence) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        usage, outcome = as_json("the usage", new.usage), as_json("the outcome", new.outcome)
        values = (new.request_id, new.number, new.asked, new.prompt_hash, new.model, usage, new.plan, outcome)
        with self._store.transaction("attempt"):
            self._store.insert(sql, (*values, utc_now(), self._store.fence))
