"""The table of results in a SQLite file: for batches on one machine. Coordinator and lanes have it open at the same time."""

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
# Rows that are added in one transaction, and read in one go.
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
_DAMAGED = "Restore it from a backup, or begin in another directory: --out."
_CASE = "number, key, params, source"
_CLAIM = (
    "UPDATE cases SET status = 'running', fence = fence + 1, attempts = attempts + 1, worker = ?"
    f" WHERE key = ? AND status IN ('waiting', 'running') RETURNING {_CASE}, fence, attempts"
)


class SqliteResults(ResultsTable):
    """Raises EnvironmentUnfit where the file cannot be used, JournalError where it is damaged."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with self._told("opening"):
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

    def begin(self, batch: Batch, *, anew: bool = False) -> None:
        definition = orjson.dumps(batch.to_json()).decode()
        with self._transaction():
            latest = self._one("SELECT coalesce(max(latest), 0) + 1 FROM batches")[0]
            self._connection.execute(
                "INSERT INTO batches VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET latest = excluded.latest",
                (batch.id, definition, utc_now(), latest),
            )
            if anew:
                self._connection.execute("DELETE FROM members WHERE batch = ?", (batch.id,))

    def batch(self, id: str | None = None) -> Batch | None:
        with self._told():
            where, bindings = ("", ()) if id is None else (" WHERE id = ?", (id,))
            sql = f"SELECT definition FROM batches{where} ORDER BY latest DESC LIMIT 1"
            found = self._connection.execute(sql, bindings).fetchone()
        if found is None:
            return None
        return Batch.from_json(orjson.loads(found[0]))

    def add(self, batch: Batch, rows: Iterable[tuple[Mapping[str, Any], str]]) -> int:
        added, reading = 0, iter(rows)
        while page := list(islice(reading, PAGE)):
            with self._transaction():
                for params, source in page:
                    added += self._add_one(batch, params, source)
            crash_points.reach("batch.cases_added")
        return added

    def _add_one(self, batch: Batch, params: Mapping[str, Any], source: str) -> int:
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
        # By pages, so that no reading holds back the clean-up of what others write.
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
            counts = self._connection.changes() == 1
        crash_points.reach("batch.published")
        return counts

    def give_back(self, key: str, fence: int) -> bool:
        with self._transaction():
            self._connection.execute(
                "UPDATE cases SET status = 'waiting', attempts = attempts - 1 WHERE key = ? AND fence = ? AND status = 'running'",
                (key, fence),
            )
            return self._connection.changes() == 1

    def holds(self, key: str, fence: int) -> bool:
        sql = "SELECT count(*) FROM cases WHERE key = ? AND fence = ? AND status = 'running'"
        return bool(self._one(sql, (key, fence))[0])

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
        status, fence, attempts, worker, row = rows[0][4:]
        if row is None:
            found = None
        else:
            found = ResultRow.from_json(orjson.loads(row))
        return Standing(_case(rows[0][:4]), status, fence, attempts, worker, found)

    def rows(self, batch: str | None = None) -> Iterator[ResultRow]:
        after = -1
        if batch is None:
            members = ""
        else:
            members = "members JOIN "
        if batch is None:
            condition = ""
        else:
            condition = "batch = ? AND "
        sql = (
            f"SELECT cases.number, row FROM {members}cases {'' if batch is None else 'USING (number)'}"
            f" WHERE {condition}cases.number > ? AND row IS NOT NULL ORDER BY cases.number LIMIT ?"
        )
        if batch is None:
            named = ()
        else:
            named = (batch,)
        while page := self._all(sql, (*named, after, PAGE)):
            for _, row in page:
                yield ResultRow.from_json(orjson.loads(row))
            after = page[-1][0]

    def counts(self, batch: str) -> Counts:
        sql = "SELECT status, count(*) FROM members JOIN cases USING (number) WHERE batch = ? GROUP BY status"
        return Counts(**dict(self._all(sql, (batch,))))

    def close(self) -> None:
        with self._told():
            self._connection.close()

    def _all(self, sql: str, bindings: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        with self._told():
            return self._connection.execute(sql, bindings).fetchall()

    def _one(self, sql: str, bindings: tuple[Any, ...] = ()) -> tuple[Any, ...]:
        return self._all(sql, bindings)[0]

    @contextmanager
    def _transaction(self) -> Generator[None]:
        with self._told():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def _told(self, doing: str = "using") -> Any:
        return translated(self._path, doing)


def translated(path: Path, doing: str) -> AbstractContextManager[None]:
    """Errors of a table of results, in words that name it."""
    return translate_errors(f"{doing} {path}", file=path.name, if_damaged=_DAMAGED)


def require_known(path: Path, version: int) -> None:
    """Raises EnvironmentUnfit for a table that another version of this program wrote; 0 is one that is not made yet."""
    if version not in (0, VERSION):
        raise EnvironmentUnfit(
            f"{path} has schema version {version}, this program knows {VERSION}",
            cure="Use the version of blendwright that wrote it, or begin in another directory: --out.",
        )


def _case(row: tuple[Any, ...]) -> Case:
    number, key, params, source = row
    return Case(number, key, orjson.loads(params), source)
