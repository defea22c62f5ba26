"""The results of one place of outputs in PostgreSQL as somebody sees them who only looks, while a fleet writes them.

Counting takes the database 3 µs for each case, so what was counted is kept: whoever looks costs it a hundredth of its time at most,
however many look. Pages are found by indexes; those of one status go through the cases before them.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from datetime import UTC
from time import monotonic
from typing import Any

import orjson

from blendwright.batch.cases.case import Case
from blendwright.batch.definition import Batch
from blendwright.batch.results.reader import LONGEST_MESSAGE, UNSOUND, FailureReason, params_of, shown_standing
from blendwright.batch.results.table import CaseStatus, Counts, Standing
from blendwright.fleet.reading import COUNTING_SECONDS, ReadingDatabase
from blendwright.values.errors import EnvironmentUnfit

LEAST_PAUSE = 1.0
QUICK_PAUSE = 10.0
PAUSES = 100.0
UNSEEN_SECONDS = 60.0
"""Servers before PostgreSQL 15 may say late, or never, that the last row of a connection was written."""
MOST_REASONS = 8
LARGEST_ROW = 8 << 20
ALIVE_SECONDS = 120.0
"""Who does cases gives a sign of life several times in this time, unless it is gone."""
_SPACE = "(SELECT id FROM spaces WHERE outputs = %s)"
_SERIAL = f"(SELECT serial FROM batches WHERE id = %s AND space = {_SPACE})"
_STANDING = (
    "SELECT cases.number, key, params::text, source, status, fence, attempts, worker,"
    f" CASE WHEN octet_length(row::text) <= {LARGEST_ROW} THEN row::text END"
)
_OF_BATCH = (
    f"FROM members JOIN cases ON cases.space = {_SPACE} AND cases.number = members.number WHERE batch = {_SERIAL}"
)
# The server has no text for a sign that is written as \u0000, and would answer nothing at all.
_FINDING = "CASE WHEN position('\\u0000' IN row::text) = 0 THEN row #> '{findings,0}' END"
_REASONS = (
    f"SELECT coalesce(finding->>'code', ''), left(coalesce(finding->>'message', ''), %s), count(*)"
    f" FROM (SELECT {_FINDING} AS finding {_OF_BATCH} AND status = 'failed') AS failed"
    " GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT %s"
)
# Kept by the server for every table, and read without reading one.
_WRITTEN = (
    "SELECT sum(pg_stat_get_tuples_inserted(name) + pg_stat_get_tuples_updated(name) + pg_stat_get_tuples_deleted(name))::bigint"
    " FROM unnest(ARRAY['batches', 'cases', 'members']::regclass[]) AS name"
)
_WORKED_ON = (
    "SELECT EXISTS (SELECT FROM procrastinate_jobs AS job JOIN procrastinate_workers AS worker ON worker.id = worker_id"
    " WHERE status = 'doing' AND args->>'outputs' = %s AND last_heartbeat > now() - make_interval(secs => %s))"
)


@dataclass(frozen=True, slots=True)
class _Figures:
    """What was counted of a batch: when, how long it took, and how much had been written by then."""

    batch: str
    counts: Counts
    reasons: tuple[FailureReason, ...]
    written: int
    at: float
    took: float

    @property
    def pause(self) -> float:
        return max(LEAST_PAUSE, PAUSES * self.took)


class PostgresResultsView:
    """Usable from many threads, for as long as somebody looks. Raises EnvironmentUnfit where the database cannot be read now."""

    def __init__(self, database: ReadingDatabase, outputs: str) -> None:
        self._database = database
        self._outputs = outputs
        self._counting = threading.Lock()
        self._figures: _Figures | None = None
        self._definition: tuple[str, Batch] | None = None

    @property
    def pause(self) -> float:
        if self._figures is None:
            return 0.0
        return self._figures.pause

    def version(self) -> object:
        latest = self._latest()
        return self._written(), None if latest is None else self._counted(latest[0]).counts, latest

    def batch(self) -> tuple[Batch, str] | None:
        latest = self._latest()
        if latest is None:
            return None
        return (self._defined(latest[0]), latest[1])

    def counts(self, batch: str) -> Counts:
        return self._counted(batch).counts

    def failure_reasons(self, batch: str) -> tuple[FailureReason, ...]:
        return self._counted(batch).reasons

    def page(
        self, batch: str, *, offset: int, limit: int, status: CaseStatus | None = None
    ) -> tuple[int, list[Standing]]:
        """How many there are is what was counted last."""
        counts = self.counts(batch)
        if status is None:
            numbers = f"SELECT number FROM members WHERE batch = {_SERIAL} ORDER BY number LIMIT %s OFFSET %s"
            sql = f"{_STANDING} FROM cases WHERE space = {_SPACE} AND number = ANY(ARRAY({numbers})) ORDER BY number"
            bindings = (self._outputs, batch, self._outputs, limit, offset)
        else:
            sql = f"{_STANDING} {_OF_BATCH} AND status = %s ORDER BY members.number LIMIT %s OFFSET %s"
            bindings = (self._outputs, batch, self._outputs, status, limit, offset)
        if status is None:
            total = counts.total
        else:
            total = getattr(counts, status)
        return total, [_standing(row) for row in self._database.all(sql, bindings)]

    def standing(self, number: int) -> Standing | None:
        sql = f"{_STANDING} FROM cases WHERE space = {_SPACE} AND number = %s"
        found = self._database.all(sql, (self._outputs, number))
        if found:
            return _standing(found[0])
        return None

    def is_worked_on(self) -> bool:
        """Whether a worker that is alive does cases of this place now."""
        return self._database.all(_WORKED_ON, (self._outputs, ALIVE_SECONDS))[0][0]

    def _latest(self) -> tuple[str, str] | None:
        """The id of the batch that was submitted last, and when it first was."""
        sql = f"SELECT id, begun FROM batches WHERE space = {_SPACE} ORDER BY latest DESC LIMIT 1"
        found = self._database.all(sql, (self._outputs,))
        if not found:
            return None
        return (found[0][0], found[0][1].astimezone(UTC).isoformat())

    def _defined(self, id: str) -> Batch:
        """A definition never changes and may be large: it is read once."""
        known = self._definition
        if known is None or known[0] != id:
            sql = f"SELECT definition::text FROM batches WHERE id = %s AND space = {_SPACE}"
            known = self._definition = (id, _batch(id, self._database.all(sql, (id, self._outputs))))
        return known[1]

    def _counted(self, batch: str) -> _Figures:
        """One counts at a time; others have the figures from before meanwhile."""
        if self._figures is not None and self._figures.batch == batch:
            found = self._figures
        else:
            found = None
        if found is not None and not self._is_due(found):
            return found
        if not self._counting.acquire(blocking=found is None):
            assert found is not None
            return found
        try:
            now = self._figures
            if now is None or now.batch != batch or now is found:
                now = self._figures = self._count(batch)
            return now
        finally:
            self._counting.release()

    def _is_due(self, figures: _Figures) -> bool:
        passed = monotonic() - figures.at
        if passed < figures.pause:
            return False
        # Where counting is little, it tells more quickly than the server does what was written.
        return figures.pause <= QUICK_PAUSE or passed >= UNSEEN_SECONDS or self._written() != figures.written

    def _count(self, batch: str) -> _Figures:
        written, started = self._written(), monotonic()
        place = (self._outputs, batch, self._outputs)
        sql = f"SELECT status, count(*) {_OF_BATCH} GROUP BY status"
        counts = Counts(**dict(self._database.all(sql, place, seconds=COUNTING_SECONDS)))
        found: list[Any] = []
        if counts.failed:
            bindings = (LONGEST_MESSAGE, *place, MOST_REASONS)
            found = self._database.all(_REASONS, bindings, seconds=COUNTING_SECONDS)
        at = monotonic()
        return _Figures(batch, counts, tuple(FailureReason(*row) for row in found), written, at, at - started)

    def _written(self) -> int:
        return self._database.all(_WRITTEN)[0][0]


def _batch(id: str, found: list[Any]) -> Batch:
    try:
        batch = Batch.from_json(orjson.loads(found[0][0]))
        if batch.id == id:
            return batch
    except UNSOUND:
        pass
    cure = "Somebody has changed it, or it is of another Blendwright: submit the batch again."
    raise EnvironmentUnfit(f"the definition of batch {id[:40]} is not sound", cure=cure)


def _standing(row: tuple[Any, ...]) -> Standing:
    number, key, params, source, *rest = row
    status, fence, attempts, worker, text = rest
    return shown_standing(Case(number, key, params_of(params), source), status, fence, attempts, worker, text)
