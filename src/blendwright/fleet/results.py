"""The table of results in PostgreSQL, which all machines of a fleet share. Users can read it with SQL while the fleet works."""

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

# Cases that one transaction adds, and cases that one query reads.
PAGE = 2000
MAX_DEFINITION_BYTES = 4 << 20
"""The size limit of a definition, because program and libraries are sent to every machine."""
_CASE = "number, key, params, source"
# A known key keeps its number. New keys get the next numbers, in the order of the rows.
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
    """The results for one output location. Raises EnvironmentUnfit if the database does not come back."""

    def __init__(self, database: Database, outputs: str) -> None:
        self._database = database
        self.space: int = database.run(lambda connection: _space(connection, outputs))

    def begin(self, batch: Batch, *, clear_members: bool = False) -> None:
        definition = orjson.dumps(batch.to_json())
        if len(definition) > MAX_DEFINITION_BYTES:
            message = f"the program and its libraries have {len(definition)} bytes; the limit is {MAX_DEFINITION_BYTES}"
            raise Refusal.of(Fault.LIMIT_EXCEEDED, message, "Pass data as parameters, or load fewer libraries.")
        self._execute(
            "INSERT INTO batches (space, id, definition, queue, latest)"
            " VALUES (%s, %s, %s, %s, (SELECT coalesce(max(latest), 0) + 1 FROM batches))"
            " ON CONFLICT (space, id) DO UPDATE SET latest = excluded.latest",
            (self.space, batch.id, definition.decode(), batch_queue(batch)),
        )
        if clear_members:
            self.leave_out_others(batch.id)

    def leave_out_others(self, batch: str) -> None:
        """Remove the cases that were not added since the last `begin` from the batch. Their results stay in the table.

        A fleet does this after adding the new cases, because other processes read the batch in the meantime."""
        self._execute(
            "DELETE FROM members USING batches WHERE serial = batch AND submitted < latest AND space = %s AND id = %s",
            (self.space, batch),
        )

    def batch(self, id: str | None = None) -> Batch | None:
        where, bindings = "", (self.space,)
        if id is not None:
            where, bindings = " AND id = %s", (self.space, id)
        sql = f"SELECT definition::text FROM batches WHERE space = %s{where} ORDER BY latest DESC LIMIT 1"
        rows = self._all(sql, bindings)
        if rows:
            return Batch.from_json(orjson.loads(rows[0][0]))
        return None

    def add(self, batch: Batch, rows: Iterable[tuple[Mapping[str, Any], str]]) -> int:
        added, remaining_rows = 0, iter(rows)
        while page := list(islice(remaining_rows, PAGE)):
            cases = [batch.case(0, params, source) for params, source in page]
            added += self._add_page(batch, cases)
            crash_points.reach("batch.cases_added")
        return added

    def _add_page(self, batch: Batch, cases: list[Case]) -> int:
        bindings = {
            "space": self.space,
            "batch": batch.id,
            "keys": [case.key for case in cases],
            "params": [orjson.dumps(dict(case.params)).decode() for case in cases],
            "sources": [case.source for case in cases],
        }

        def add(connection: Connection) -> int:
            # The lock on this row makes sure that only one transaction assigns numbers at a time.
            connection.execute("SELECT FROM spaces WHERE id = %s FOR NO KEY UPDATE", (self.space,))
            added = connection.execute(_ADD, bindings).rowcount
            connection.execute(_JOIN, bindings)
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
        attempts = 0

        def publish(connection: Connection) -> bool:
            nonlocal attempts
            attempts += 1
            claim = (self.space, row.key, fence)
            update = connection.execute(
                "UPDATE cases SET status = %s, row = %s"
                " WHERE space = %s AND key = %s AND fence = %s AND status = 'running'",
                (row.status, text, *claim),
            )
            if update.rowcount == 1 or attempts == 1:
                return update.rowcount == 1
            # An earlier attempt lost its connection before the answer. The server may have stored the row then.
            sql = "SELECT FROM cases WHERE space = %s AND key = %s AND fence = %s AND row::text = %s"
            return connection.execute(sql, (*claim, text)).rowcount == 1

        is_taken = self._database.run(publish)
        crash_points.reach("batch.published")
        return is_taken

    def give_back(self, key: str, fence: int) -> bool:
        sql = (
            "UPDATE cases SET status = 'waiting', attempts = attempts - 1"
            " WHERE space = %s AND key = %s AND fence = %s AND status = 'running'"
        )
        return self._execute(sql, (self.space, key, fence)) == 1

    def holds(self, key: str, fence: int) -> bool:
        sql = "SELECT FROM cases WHERE space = %s AND key = %s AND fence = %s AND status = 'running'"
        return self._execute(sql, (self.space, key, fence)) == 1

    def retry_failed(self, batch: str) -> int:
        sql = (
            "UPDATE cases SET status = 'waiting', row = NULL, attempts = 0 FROM members JOIN batches ON serial = batch"
            " WHERE batches.space = %s AND id = %s AND cases.space = batches.space AND cases.number = members.number"
            " AND status = 'failed'"
        )
        return self._execute(sql, (self.space, batch))

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
        status, fence, attempts, worker, text = rows[0][4:]
        row = None
        if text is not None:
            row = ResultRow.from_json(orjson.loads(text))
        return Standing(_case(rows[0][:4]), status, fence, attempts, worker, row)

    def rows(self, batch: str | None = None) -> Iterator[ResultRow]:
        pages = self._pages("number, row::text", "row IS NOT NULL", batch)
        return (ResultRow.from_json(orjson.loads(text)) for _, text in pages)

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
        """Yield columns of the cases of a batch, or of all cases, ordered by number. Each page is a separate, short transaction."""
        members, bindings = "", ()
        if batch is not None:
            members = "number IN (SELECT number FROM members JOIN batches ON serial = batch WHERE space = %s AND id = %s) AND "
            bindings = (self.space, batch)
        sql = f"SELECT {columns} FROM cases WHERE {members}space = %s AND number > %s AND {condition} ORDER BY number LIMIT %s"
        after = -1
        while page := self._all(sql, (*bindings, self.space, after, PAGE)):
            yield from page
            after = page[-1][0]

    def _all(self, sql: Any, bindings: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        return self._database.run(lambda connection: connection.execute(sql, bindings).fetchall())

    def _execute(self, sql: Any, bindings: tuple[Any, ...]) -> int:
        """Execute a statement and return the number of affected rows."""
        return self._database.run(lambda connection: connection.execute(sql, bindings).rowcount)


def _space(connection: Connection, outputs: str) -> int:
    """Return the id of an output location, and create it if it is new."""
    connection.execute("INSERT INTO spaces (outputs) VALUES (%s) ON CONFLICT DO NOTHING", (outputs,))
    (space,) = connection.execute("SELECT id FROM spaces WHERE outputs = %s", (outputs,)).fetchone() or (0,)
    return space


def _case(row: tuple[Any, ...]) -> Case:
    number, key, params, source = row
    return Case(number, key, params, source)
