"""A read-only view of the table of results in SQLite, for the console: pages of cases, counts, and reasons of failures.

It serves batches on one machine, and does not disturb the process that runs the batch.
"""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Any, Self

import apsw
import orjson

from blendwright.batch.cases.case import Case
from blendwright.batch.definition import Batch
from blendwright.batch.results.reader import LONGEST_MESSAGE, FailureReason, params_of, shown_standing
from blendwright.batch.results.sqlite import require_known, translated
from blendwright.batch.results.table import CaseStatus, Counts, Standing

BUSY_MS = 5_000
_STANDING = "number, key, params, source, status, fence, attempts, worker, row"
_OF_BATCH = "FROM members JOIN cases USING (number) WHERE batch = ?"


class ResultsView:
    """A reader of a SQLite table, for one thread. Raises EnvironmentUnfit if the file cannot be read, JournalError if it is damaged."""

    pause = 0.0

    def __init__(self, path: Path) -> None:
        self._path = path
        with self._translated():
            # apsw's type stubs are incomplete. The methods below declare the types of their results.
            self._connection: Any = apsw.Connection(str(path), apsw.SQLITE_OPEN_READONLY)
            self._connection.set_busy_timeout(BUSY_MS)
        require_known(path, self._all("PRAGMA user_version")[0][0])

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.close()

    def version(self) -> int:
        """Return a number that changes whenever another connection has written to the table."""
        return self._all("PRAGMA data_version")[0][0]

    def batch(self) -> tuple[Batch, str] | None:
        """Return the batch that was run last and the time of its first run; None if there is no batch, or no table yet."""
        if self._all("PRAGMA user_version")[0][0] == 0:
            return None
        rows = self._all("SELECT definition, begun FROM batches ORDER BY latest DESC LIMIT 1")
        if not rows:
            return None
        definition, begun = rows[0]
        return Batch.from_json(orjson.loads(definition)), begun

    def counts(self, batch: str) -> Counts:
        return Counts(**dict(self._all(f"SELECT status, count(*) {_OF_BATCH} GROUP BY status", (batch,))))

    def page(
        self, batch: str, *, offset: int, limit: int, status: CaseStatus | None = None
    ) -> tuple[int, list[Standing]]:
        """Return the number of cases and one page of them, ordered by number. `status` selects cases of one status."""
        condition, bindings = "", ()
        if status is not None:
            condition, bindings = " AND status = ?", (status,)
        total = self._all(f"SELECT count(*) {_OF_BATCH}{condition}", (batch, *bindings))[0][0]
        sql = f"SELECT {_STANDING} {_OF_BATCH}{condition} ORDER BY number LIMIT ? OFFSET ?"
        return total, [_standing(row) for row in self._all(sql, (batch, *bindings, limit, offset))]

    def standing(self, number: int) -> Standing | None:
        rows = self._all(f"SELECT {_STANDING} FROM cases WHERE number = ?", (number,))
        if rows:
            return _standing(rows[0])
        return None

    def failure_reasons(self, batch: str, most: int = 8) -> list[FailureReason]:
        """Return the reasons of failed cases, the most frequent first."""
        sql = (
            "SELECT coalesce(row ->> '$.findings[0].code', '') AS code,"
            " substr(coalesce(row ->> '$.findings[0].message', ''), 1, ?) AS message, count(*) AS cases"
            f" {_OF_BATCH} AND status = 'failed' GROUP BY code, message ORDER BY cases DESC, code, message LIMIT ?"
        )
        return [FailureReason(*row) for row in self._all(sql, (LONGEST_MESSAGE, batch, most))]

    def _all(self, sql: str, bindings: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        with self._translated():
            return self._connection.execute(sql, bindings).fetchall()

    def _translated(self) -> Any:
        return translated(self._path, "reading")


def _standing(row: tuple[Any, ...]) -> Standing:
    number, key, params, source, status, fence, attempts, worker, text = row
    return shown_standing(Case(number, key, params_of(params), source), status, fence, attempts, worker, text)
