"""The table of results in a SQLite file, for batches on one machine. The coordinator and the worker processes open it at the same time."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import apsw
import orjson

from blendwright.batch.cases.case import Case
from blendwright.batch.definition import Batch
from blendwright.batch.results.table import Claim, Counts, ResultRow, ResultsTable, Standing
from blendwright.journal.store import translate_errors, utc_now
from blendwright.util import crash_points
from blendwright.values.errors import EnvironmentUnfit

FILE = "results.db"
VERSION = 1
BUSY_MS = 30_000
# Rows that one transaction adds, and rows that one query reads.
PAGE = 1000
CREATE = """
CREATE TABLE batches (
    id TEXT PRIMARY KEY, definition TEXT NOT NULL, begun TEXT NOT NULL, latest INTEGER NOT NULL
) STRICT;
CREATE TABLE cases (
    number INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, params TEXT NOT NULL, source TEXT NOT NULL,
    status TEXT NOT NULL DEFAULT 'waiting', fence INTEGER NOT NULL DEFAULT 0, attempts INTEGER NOT NULL DEFAULT 0,
    worker TEXT NOT NULL DEFAULT '', row TEXT,
    CHECK (status IN ('waiting', 'running', 'done', 'failed')), CHECK ((row IS NULL) = (status IN ('waiting', 'running')))
) STRICT;
CREATE TABLE members (
    batch TEXT NOT NULL REFERENCES batches, number INTEGER NOT NULL REFERENCES cases, PRIMARY KEY (batch, number)
) STRICT, WITHOUT ROWID;
PRAGMA user_version = 1;
"""
_DAMAGED = "Restore it from a backup, or start in another directory: --out."
_CASE = "number, key, params, source"
_CLAIM = (
    "UPDATE cases SET status = 'running', fence = fence + 1, attempts = attempts + 1, worker = ?"
    f" WHERE key = ? AND status IN ('waiting', 'running') RETURNING {_CASE}, fence, attempts"
)


class SqliteResults(ResultsTable):
    """A table of results in a SQLite file. Raises EnvironmentUnfit if the file cannot be used, and JournalError if it is damaged."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with self._translated("opening"):
            path.parent.mkdir(parents=True, exist_ok=True)
            self._connection: Any = apsw.Connection(str(path))
            self._connection.set_busy_timeout(BUSY_MS)
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = FULL")
            self._connection.execute("PRAGMA foreign_keys = ON")
        with self._transaction():
            version = self._connection.execute("PRAGMA user_version").get
            if version == 0:
                self._connection.execute(CREATE)
        require_known(path, version)

    def begin(self, batch: Batch, *, clear_members: bool = False) -> None:
        definition = orjson.dumps(batch.to_json()).decode()
        with self._transaction():
            latest = self._first_row("SELECT coalesce(max(latest), 0) + 1 FROM batches")[0]
            self._connection.execute(
                "INSERT INTO batches VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET latest = excluded.latest",
                (batch.id, definition, utc_now(), latest),
            )
            if clear_members:
                self._connection.execute("DELETE FROM members WHERE batch = ?", (batch.id,))

    def batch(self, id: str | None = None) -> Batch | None:
        where, bindings = "", ()
        if id is not None:
            where, bindings = " WHERE id = ?", (id,)
        rows = self._all(f"SELECT definition FROM batches{where} ORDER BY latest DESC LIMIT 1", bindings)
        if not rows:
            return None
        return Batch.from_json(orjson.loads(rows[0][0]))

    def add(self, batch: Batch, rows: Iterable[tuple[Mapping[str, Any], str]]) -> int:
        added, remaining_rows = 0, iter(rows)
        while page := list(islice(remaining_rows, PAGE)):
            with self._transaction():
                for params, source in page:
                    added += self._add_case(batch, params, source)
            crash_points.reach("batch.cases_added")
        return added

    def _add_case(self, batch: Batch, params: Mapping[str, Any], source: str) -> int:
        """Add a case to a batch. Return 1 if the case is new in the table, otherwise 0."""
        case = batch.case(0, params, source)
        self._connection.execute(
            "INSERT INTO cases (key, params, source, number) VALUES (?, ?, ?, (SELECT coalesce(max(number) + 1, 0) FROM cases))"
            " ON CONFLICT DO NOTHING",
            (case.key, orjson.dumps(dict(params)).decode(), source),
        )
        is_new = self._connection.changes()
        self._connection.execute(
            "INSERT INTO members SELECT ?, number FROM cases WHERE key = ? ON CONFLICT DO NOTHING", (batch.id, case.key)
        )
        return is_new

    def open_cases(self, batch: str) -> Iterator[Case]:
        # Read pages instead of one long query, which would keep SQLite from cleaning up its write-ahead log.
        after = -1
        sql = (
            f"SELECT {_CASE} FROM members JOIN cases USING (number)"
            " WHERE batch = ? AND number > ? AND status IN ('waiting', 'running') ORDER BY number LIMIT ?"
        )
        while page := self._all(sql, (batch, after, PAGE)):
            for row in page:
                yield _case(row)
            after = page[-1][0]

    def claim(self, key: str, worker: str) -> Claim | None:
        with self._transaction():
            row = self._connection.execute(_CLAIM, (worker, key)).fetchone()
        if row is None:
            return None
        return Claim(_case(row[:4]), row[4], row[5])

    def publish(self, row: ResultRow, fence: int) -> bool:
        crash_points.reach("batch.before_publish")
        with self._transaction():
            self._connection.execute(
                "UPDATE cases SET status = ?, row = ? WHERE key = ? AND fence = ? AND status = 'running'",
                (row.status, orjson.dumps(row.to_json()).decode(), row.key, fence),
            )
            is_taken = self._connection.changes() == 1
        crash_points.reach("batch.published")
        return is_taken

    def give_back(self, key: str, fence: int) -> bool:
        with self._transaction():
            self._connection.execute(
                "UPDATE cases SET status = 'waiting', attempts = attempts - 1 WHERE key = ? AND fence = ? AND status = 'running'",
                (key, fence),
            )
            return self._connection.changes() == 1

    def holds(self, key: str, fence: int) -> bool:
        sql = "SELECT count(*) FROM cases WHERE key = ? AND fence = ? AND status = 'running'"
        return bool(self._first_row(sql, (key, fence))[0])

    def retry_failed(self, batch: str) -> int:
        with self._transaction():
            self._connection.execute(
                "UPDATE cases SET status = 'waiting', row = NULL, attempts = 0"
                " WHERE status = 'failed' AND number IN (SELECT number FROM members WHERE batch = ?)",
                (batch,),
            )
            return self._connection.changes()

    def standing(self, case: int | str) -> Standing | None:
        if isinstance(case, int):
            condition = "number = ?"
        else:
            condition = "key GLOB ? || '*'"
        sql = (
            f"SELECT {_CASE}, status, fence, attempts, worker, row FROM cases WHERE {condition} ORDER BY number LIMIT 1"
        )
        rows = self._all(sql, (case,))
        if not rows:
            return None
        status, fence, attempts, worker, text = rows[0][4:]
        row = None
        if text is not None:
            row = ResultRow.from_json(orjson.loads(text))
        return Standing(_case(rows[0][:4]), status, fence, attempts, worker, row)

    def rows(self, batch: str | None = None) -> Iterator[ResultRow]:
        if batch is None:
            tables, condition, bindings = "cases", "", ()
        else:
            tables, condition, bindings = "members JOIN cases USING (number)", "batch = ? AND ", (batch,)
        sql = (
            f"SELECT cases.number, row FROM {tables}"
            f" WHERE {condition}cases.number > ? AND row IS NOT NULL ORDER BY cases.number LIMIT ?"
        )
        after = -1
        while page := self._all(sql, (*bindings, after, PAGE)):
            for _, row in page:
                yield ResultRow.from_json(orjson.loads(row))
            after = page[-1][0]

    def counts(self, batch: str) -> Counts:
        sql = "SELECT status, count(*) FROM members JOIN cases USING (number) WHERE batch = ? GROUP BY status"
        return Counts(**dict(self._all(sql, (batch,))))

    def close(self) -> None:
        with self._translated():
            self._connection.close()

    def _all(self, sql: str, bindings: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        with self._translated():
            return self._connection.execute(sql, bindings).fetchall()

    def _first_row(self, sql: str, bindings: tuple[Any, ...] = ()) -> tuple[Any, ...]:
        return self._all(sql, bindings)[0]

    @contextmanager
    def _transaction(self) -> Generator[None]:
        with self._translated():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def _translated(self, doing: str = "using") -> Any:
        return translated(self._path, doing)


def translated(path: Path, doing: str) -> AbstractContextManager[None]:
    """Translate SQLite errors within the context into Blendwright's errors, which name the file. `doing` is the action."""
    return translate_errors(f"{doing} {path}", file=path.name, if_damaged=_DAMAGED)


def require_known(path: Path, version: int) -> None:
    """Raise EnvironmentUnfit if another version of Blendwright wrote the table. 0 stands for a table that is not created yet."""
    if version not in (0, VERSION):
        raise EnvironmentUnfit(
            f"{path} has schema version {version}, but this program supports version {VERSION}",
            cure="Use the version of Blendwright that wrote it, or start in another directory: --out.",
        )


def _case(row: tuple[Any, ...]) -> Case:
    number, key, params, source = row
    return Case(number, key, orjson.loads(params), source)
