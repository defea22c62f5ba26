"""Counts of the rows in a journal, for monitoring."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from blendwright.journal.store import Store


@dataclass(frozen=True, slots=True)
class Statistics:
    """Counts of the rows in a journal.

    `openings` counts openings for writing. `requests` counts distinct request ids in the audit.
    """

    commits: Mapping[str, int]
    moves: Mapping[str, int]
    intents: Mapping[str, int]
    requests: int
    openings: int
    quarantines: int
    checkpoints: int
    checkpoint_bytes: int


def read(store: Store) -> Statistics:
    with store.snapshot():
        checkpoints, size = store.one("SELECT count(*), coalesce(sum(size), 0) FROM checkpoints")
        return Statistics(
            commits=dict(store.rows("SELECT kind, count(*) FROM commits GROUP BY kind ORDER BY kind")),
            moves=dict(store.rows("SELECT kind, count(*) FROM head_moves GROUP BY kind ORDER BY kind")),
            intents=dict(store.rows("SELECT state, count(*) FROM intents GROUP BY state ORDER BY state")),
            requests=store.one("SELECT count(DISTINCT record ->> 'request_id') FROM audit")[0],
            openings=store.one("SELECT fence FROM state")[0],
            quarantines=store.one("SELECT count(*) FROM quarantines")[0],
            checkpoints=checkpoints,
            checkpoint_bytes=size,
        )
