"""The table of results in PostgreSQL: shared by all machines of a fleet, and readable with SQL while they work."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

import orjson

from blendwright.batch.cases.case import Case
from blendwright.batch.definition import Batch
from blendwright.batch.definition_checks import batch_queue
from blendwright.batch.results.table import Claim, Counts, ResultRow, ResultsTable, Standing
from blendwright.fleet.database import Database
from blendwright.util import crash_points
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault

if TYPE_CHECKING:
    from blendwright.fleet.tables import Connection

# Cases that are added in one transaction, and read in one go.
PAGE = 2000
MOST_DEFINITION_BYTES = 4 << 20
"""Program and libraries travel to every machine."""
_CASE = "number, key, params, source"
# A key is known, or it gets the next number, in the order of the rows.
_ADD = """
INSERT INTO cases (space, key, params, source, number)
    SELECT %(space)s, key, params::json, source, (SELECT coalesce(max(number) + 1, 0) FROM cases WHERE space = %(space)s)
        + row_number() OVER (ORDER BY place) - 1
    FROM (
        SELECT DISTINCT ON (key) * FROM unnest(%(keys)s::text[], %(params)s::text[], %(sources)s::text[])
            WITH ORDINALITY AS given (key, params, source, place) ORDER BY key, place
    ) AS given
    WHERE NOT EXISTS (SELECT FROM cases WHERE space = %(space)s AND cases.key = given.key)
"""
_JOIN = """
INSERT INTO members SELECT serial, number, latest FROM cases JOIN batches USING (space)
    WHERE space = %(space)s AND id = %(batch)s AND key = ANY(%(keys)s)
    ON CONFLICT (batch, number) DO UPDATE SET submitted = excluded.submitted
"""
_CLAIM = (
    "UPDATE cases SET status = 'running', fence = fence + 1, attempts = attempts + 1, worker = %s"
    f" WHERE space = %s AND key = %s AND status IN ('waiting', 'running') RETURNING {_CASE}, fence, attempts"
)


class PostgresResults(ResultsTable):
    """The results of one place for outputs. Raises EnvironmentUnfit where the database stays away."""

    def __init__(self, database: Database, outputs: str) -> None:
        self._database = database
        self.space: int = database.run(lambda connection: _space(connection, outputs))

    def begin(self, batch: Batch, *, anew: bool = False) -> None:
        definition = orjson.dumps(batch.to_json())
        if len(definition) > MOST_DEFINITION_BYTES:
            message = (
                f"the program and its libraries are {len(definition)} bytes, and {MOST_DEFINITION_BYTES} may travel"
            )
            raise Refusal.of(Fault.LIMIT_EXCEEDED, message, "Give data as parameters, or load fewer libraries.")
        self._do(
            "INSERT INTO batches (space, id, definition, queue, latest)"
            " VALUES (%s, %s, %s, %s, (SELECT coalesce(max(latest), 0) + 1 FROM batches))"
            " ON CONFLICT (space, id) DO UPDATE SET latest = excluded.latest",
            (self.space, batch.id, definition.decode(), batch_queue(batch)),
        )
        if anew:
            self.leave_out_others(batch.id)

    def leave_out_others(self, batch: str) -> None:
        """The cases that were added since the last `begin` are those of the batch; what others have become stays. A fleet does so behind
        adding them: others look at the batch meanwhile."""
        self._do(
            "DELETE FROM members USING batches WHERE serial = batch AND submitted < latest AND space = %s AND id = %s",
            (self.space, batch),
        )

    def batch(self, id: str | None = None) -> Batch | None:
        where, named = ("", ()) if id is None else (" AND id = %s", (id,))
        sql = f"SELECT definition::text FROM batches WHERE space = %s{where} ORDER BY latest DESC LIMIT 1"
        found = self._all(sql, (self.space, *named))
        if found:
            return Batch.from_json(orjson.loads(found[0][0]))
        return None

    def add(self, batch: Batch, rows: Iterable[tuple[Mapping[str, Any], str]]) -> int:
        added, reading = 0, iter(rows)
        while page := list(islice(reading, PAGE)):
            cases = [batch.case(0, params, source) for params, source in page]
            added += self._add_page(batch, cases)
            crash_points.reach("batch.cases_added")
        return added

    def _add_page(self, batch: Batch, cases: list[Case]) -> int:
        given = {
            "space": self.space,
            "batch": batch.id,
            "keys": [case.key for case in cases],
            "params": [orjson.dumps(dict(case.params)).decode() for case in cases],
            "sources": [case.source for case in cases],
        }

        def add(connection: Connection) -> int:
            # Numbers are given by one at a time; the row of the place for outputs stands for all of its cases.
            connection.execute("SELECT FROM spaces WHERE id = %s FOR NO KEY UPDATE", (self.space,))
            added = connection.execute(_ADD, given).rowcount
            connection.execute(_JOIN, given)
            return added

        return self._database.run(add)

    def open_cases(self, batch: str) -> Iterator[Case]:
        return (_case(row) for row in self._pages(_CASE, "status IN ('waiting', 'running')", batch))

    def claim(self, key: str, worker: str) -> Claim | None:
        rows = self._all(_CLAIM, (worker, self.space, key))
        if rows:
            return Claim(_case(rows[0][:4]), rows[0][4], rows[0][5])
        return None

    def publish(self, row: ResultRow, fence: int) -> bool:
        crash_points.reach("batch.before_publish")
        text = orjson.dumps(row.to_json()).decode()
        asked = 0

        def publish(connection: Connection) -> bool:
            nonlocal asked
            asked += 1
            place = (self.space, row.key, fence)
            written = connection.execute(
                "UPDATE cases SET status = %s, row = %s"
                " WHERE space = %s AND key = %s AND fence = %s AND status = 'running'",
                (row.status, text, *place),
            )
            if written.rowcount == 1 or asked == 1:
                return written.rowcount == 1
            # The connection was lost before an answer came, and the row may have been taken by then.
            sql = "SELECT FROM cases WHERE space = %s AND key = %s AND fence = %s AND row::text = %s"
            return connection.execute(sql, (*place, text)).rowcount == 1

        counts = self._database.run(publish)
        crash_points.reach("batch.published")
        return counts

    def give_back(self, key: str, fence: int) -> bool:
        sql = (
            "UPDATE cases SET status = 'waiting', attempts = attempts - 1"
            " WHERE space = %s AND key = %s AND fence = %s AND status = 'running'"
        )
        return self._do(sql, (self.space, key, fence)) == 1

    def holds(self, key: str, fence: int) -> bool:
        sql = "SELECT FROM cases WHERE space = %s AND key = %s AND fence = %s AND status = 'running'"
        return self._do(sql, (self.space, key, fence)) == 1

    def retry_failed(self, batch: str) -> int:
        sql = (
            "UPDATE cases SET status = 'waiting', row = NULL, attempts = 0 FROM members JOIN batches ON serial = batch"
            " WHERE batches.space = %s AND id = %s AND cases.space = batches.space AND cases.number = members.number"
            " AND status = 'failed'"
        )
        return self._do(sql, (self.space, batch))

    def standing(self, case: int | str) -> Standing | None:
        if isinstance(case, int):
            condition = "number = %s"
        else:
            condition = "starts_with(key, %s)"
        sql = (
            f"SELECT {_CASE}, status, fence, attempts, worker, row::text FROM cases WHERE space = %s AND {condition}"
            " ORDER BY number LIMIT 1"
        )
        rows = self._all(sql, (self.space, case))
        if not rows:
            return None
        status, fence, attempts, worker, row = rows[0][4:]
        if row is None:
            found = None
        else:
            found = ResultRow.from_json(orjson.loads(row))
        return Standing(_case(rows[0][:4]), status, fence, attempts, worker, found)

    def rows(self, batch: str | None = None) -> Iterator[ResultRow]:
        found = self._pages("number, row::text", "row IS NOT NULL", batch)
        return (ResultRow.from_json(orjson.loads(row)) for _, row in found)

    def counts(self, batch: str) -> Counts:
        sql = (
            "SELECT status, count(*) FROM members JOIN batches ON serial = batch"
            " JOIN cases ON cases.space = batches.space AND cases.number = members.number"
            " WHERE batches.space = %s AND id = %s GROUP BY status"
        )
        return Counts(**dict(self._all(sql, (self.space, batch))))

    def close(self) -> None:
        self._database.close()

    def _pages(self, columns: str, condition: str, batch: str | None) -> Iterator[tuple[Any, ...]]:
        """The cases of a batch, or all of them, by number; a page at a time, so that nobody's reading is a long transaction."""
        members, named = "", ()
        if batch is not None:
            members = "number IN (SELECT number FROM members JOIN batches ON serial = batch WHERE space = %s AND id = %s) AND "
            named = (self.space, batch)
        sql = f"SELECT {columns} FROM cases WHERE {members}space = %s AND number > %s AND {condition} ORDER BY number LIMIT %s"
        after = -1
        while page := self._all(sql, (*named, self.space, after, PAGE)):
            yield from page
            after = page[-1][0]

    def _all(self, sql: Any, bindings: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        return self._database.run(lambda connection: connection.execute(sql, bindings).fetchall())

    def _do(self, sql: Any, bindings: tuple[Any, ...]) -> int:
        return self._database.run(lambda connection: connection.execute(sql, bindings).rowcount)


def _space(connection: Connection, outputs: str) -> int:
    connection.execute("INSERT INTO spaces (outputs) VALUES (%s) ON CONFLICT DO NOTHING", (outputs,))
    (space,) = connection.execute("SELECT id FROM spaces WHERE outputs = %s", (outputs,)).fetchone() or (0,)
    return space


def _case(row: tuple[Any, ...]) -> Case:
    number, key, params, source = row
    return Case(number, key, params, source)
