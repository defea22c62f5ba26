"""What planners were asked and what came of it. Attempts are no part of the scene's history: nothing is rebuilt from them."""

from __future__ import annotations

from blendwright.journal.store import Store, as_json, from_json, utc_now
from blendwright.records.requests import Attempt, NewAttempt

_COLUMNS = "request_id, number, asked, prompt_hash, model, usage, plan, outcome, timestamp"


class AttemptReader:
    """Reads what planners made of requests."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def of_request(self, request_id: str) -> tuple[Attempt, ...]:
        """In the order in which they were made."""
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
    """Records what planners made of requests."""

    def record(self, new: NewAttempt) -> None:
        sql = f"INSERT INTO attempts ({_COLUMNS}, fence) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        usage, outcome = as_json("the usage", new.usage), as_json("the outcome", new.outcome)
        values = (new.request_id, new.number, new.asked, new.prompt_hash, new.model, usage, new.plan, outcome)
        with self._store.transaction("attempt"):
            self._store.insert(sql, (*values, utc_now(), self._store.fence))
