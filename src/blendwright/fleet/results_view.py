"""A read-only view of the results for one output location in PostgreSQL, for the console, while a fleet writes them.

Counting costs the database 3 µs per case, so the view caches counts: all viewers together cost at most one hundredth of the database's
time. Indexes find pages of all cases. A page of one status must read the cases before it.
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

MIN_PAUSE_SECONDS = 1.0
CHEAP_PAUSE_SECONDS = 10.0
"""Up to this pause, the view counts again without asking the server first whether anything was written."""
PAUSE_FACTOR = 100.0
"""The view pauses this many times as long as counting took."""
MAX_UNSEEN_SECONDS = 60.0
"""Servers before PostgreSQL 15 may report the last write of a connection late or never. Therefore counts expire after this time."""
MAX_REASONS = 8
MAX_ROW_BYTES = 8 << 20
ALIVE_SECONDS = 120.0
"""A worker without a heartbeat in this time is not alive."""
_SPACE = "(SELECT id FROM spaces WHERE outputs = %s)"
_SERIAL = f"(SELECT serial FROM batches WHERE id = %s AND space = {_SPACE})"
_STANDING = (
    "SELECT cases.number, key, params::text, source, status, fence, attempts, worker,"
    f" CASE WHEN octet_length(row::text) <= {MAX_ROW_BYTES} THEN row::text END"
)
_OF_BATCH = (
    f"FROM members JOIN cases ON cases.space = {_SPACE} AND cases.number = members.number WHERE batch = {_SERIAL}"
)
# PostgreSQL cannot convert the JSON escape \u0000 to text, and the whole query would fail.
_FINDING = "CASE WHEN position('\\u0000' IN row::text) = 0 THEN row #> '{findings,0}' END"
_REASONS = (
    f"SELECT coalesce(finding->>'code', ''), left(coalesce(finding->>'message', ''), %s), count(*)"
    f" FROM (SELECT {_FINDING} AS finding {_OF_BATCH} AND status = 'failed') AS failed"
    " GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT %s"
)
# The server keeps these statistics for every table, so reading them does not read the tables.
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
    """The counts of a batch, with the time of counting, its duration, and the number of writes until then."""

    batch: str
    counts: Counts
    reasons: tuple[FailureReason, ...]
    written: int
    counted_at: float
    duration: float

    @property
    def pause(self) -> float:
        return max(MIN_PAUSE_SECONDS, PAUSE_FACTOR * self.duration)


class PostgresResultsView:
    """A reader of one output location's results, for any thread. Raises EnvironmentUnfit if the database cannot be read now."""

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
        counts = None
        if latest is not None:
            counts = self._counted(latest[0]).counts
        return self._written(), counts, latest

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
        """Return the number of cases from the last count, and one page of them."""
        counts = self.counts(batch)
        if status is None:
            numbers = f"SELECT number FROM members WHERE batch = {_SERIAL} ORDER BY number LIMIT %s OFFSET %s"
            sql = f"{_STANDING} FROM cases WHERE space = {_SPACE} AND number = ANY(ARRAY({numbers})) ORDER BY number"
            bindings = (self._outputs, batch, self._outputs, limit, offset)
            total = counts.total
        else:
            sql = f"{_STANDING} {_OF_BATCH} AND status = %s ORDER BY members.number LIMIT %s OFFSET %s"
            bindings = (self._outputs, batch, self._outputs, status, limit, offset)
            total = getattr(counts, status)
        return total, [_standing(row) for row in self._database.all(sql, bindings)]

    def standing(self, number: int) -> Standing | None:
        sql = f"{_STANDING} FROM cases WHERE space = {_SPACE} AND number = %s"
        rows = self._database.all(sql, (self._outputs, number))
        if rows:
            return _standing(rows[0])
        return None

    def is_worked_on(self) -> bool:
        """Return whether a worker that is alive runs cases for this output location."""
        return self._database.all(_WORKED_ON, (self._outputs, ALIVE_SECONDS))[0][0]

    def _latest(self) -> tuple[str, str] | None:
        """Return the id of the batch that was submitted last, and the time of its first submission; None if there is none."""
        sql = f"SELECT id, begun FROM batches WHERE space = {_SPACE} ORDER BY latest DESC LIMIT 1"
        rows = self._database.all(sql, (self._outputs,))
        if not rows:
            return None
        id, begun = rows[0]
        return id, begun.astimezone(UTC).isoformat()

    def _defined(self, id: str) -> Batch:
        """Return the definition of a batch. It never changes and may be large, so the view reads it once."""
        if self._definition is None or self._definition[0] != id:
            sql = f"SELECT definition::text FROM batches WHERE id = %s AND space = {_SPACE}"
            self._definition = (id, _batch(id, self._database.all(sql, (id, self._outputs))))
        return self._definition[1]

    def _counted(self, batch: str) -> _Figures:
        """Return the counts of a batch. One thread counts at a time; meanwhile, all further threads get the previous counts."""
        previous = self._figures
        if previous is not None and previous.batch != batch:
            previous = None
        if previous is not None and not self._is_due(previous):
            return previous
        if not self._counting.acquire(blocking=previous is None):
            assert previous is not None
            return previous

        try:
            figures = self._figures
            if figures is None or figures.batch != batch or figures is previous:
                figures = self._figures = self._count(batch)
            return figures
        finally:
            self._counting.release()

    def _is_due(self, figures: _Figures) -> bool:
        passed = monotonic() - figures.counted_at
        if passed < figures.pause:
            return False
        # If counting is fast, it notices changes earlier than the server's statistics do.
        if figures.pause <= CHEAP_PAUSE_SECONDS or passed >= MAX_UNSEEN_SECONDS:
            return True
        return self._written() != figures.written

    def _count(self, batch: str) -> _Figures:
        written, started = self._written(), monotonic()
        bindings = (self._outputs, batch, self._outputs)
        sql = f"SELECT status, count(*) {_OF_BATCH} GROUP BY status"
        counts = Counts(**dict(self._database.all(sql, bindings, seconds=COUNTING_SECONDS)))
        rows: list[Any] = []
        if counts.failed:
            reason_bindings = (LONGEST_MESSAGE, *bindings, MAX_REASONS)
            rows = self._database.all(_REASONS, reason_bindings, seconds=COUNTING_SECONDS)
        ended = monotonic()
        reasons = tuple(FailureReason(*row) for row in rows)
        return _Figures(batch, counts, reasons, written, ended, ended - started)

    def _written(self) -> int:
        """Return a number that grows with every write to the tables."""
        return self._database.all(_WRITTEN)[0][0]


def _batch(id: str, rows: list[Any]) -> Batch:
    """Return the definition in a query's result. Raise EnvironmentUnfit if it is missing, invalid or changed."""
    try:
        batch = Batch.from_json(orjson.loads(rows[0][0]))
        if batch.id == id:
            return batch
    except UNSOUND:
        pass
    fix = "It was changed, or comes from another version of Blendwright: submit the batch again."
    raise EnvironmentUnfit(f"the definition of batch {id[:40]} is invalid", cure=fix)


def _standing(row: tuple[Any, ...]) -> Standing:
    number, key, params, source, status, fence, attempts, worker, text = row
    return shown_standing(Case(number, key, params_of(params), source), status, fence, attempts, worker, text)
