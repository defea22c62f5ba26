"""A connection to journal.db. All writes go through its transactions, which check the fencing number.

The module translates refusals of SQLite and the disk into messages with a fix. It knows neither commits nor audit
records. With WAL and synchronous=FULL, a finished transaction survives a crash and a power cut.
"""

from __future__ import annotations

import contextlib
import errno
import os
import uuid
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import apsw
import orjson

from blendwright.journal import schema
from blendwright.journal.file_modes import DATABASE, make_private_file
from blendwright.util import crash_points
from blendwright.values.errors import EnvironmentUnfit, JournalError

FILE = DATABASE
# The time that SQLite waits for a lock of another connection, in milliseconds.
BUSY_MS = 5000
# The error numbers for a full disk, an exhausted quota and a file that is too large.
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

_NO_SPACE = "Free some space on the disk of the workspace, then run the command again: it resumes from the last commit."
_NO_ACCESS = "Check the disk of the workspace and the permissions in it, then run the command again."
_DAMAGED = "Restore journal.db from a backup, or start a new workspace from a checkpoint: blendwright new --scene FILE."
TAMPERED = f"Run `blendwright audit verify` to see what was edited, and restore {FILE} from a backup."

Row = tuple[Any, ...]


class Store:
    """An open journal.db. `fence` is the fencing number of the writer, and 0 for readers."""

    def __init__(
        self,
        directory: Path,
        *,
        writable: bool,
        durable: bool = True,
        vfs: str | None = None,
        before_create: Callable[[Path], None] = lambda directory: None,
    ) -> None:
        """Open or create the database. `before_create` may raise before a new journal is created in the directory.

        Without `durable`, no write waits for the disk: the journal survives the end of the process but not the end of
        the machine.
        """
        self.directory = directory
        self.durable = durable
        self._before_create = before_create
        self.path = directory / FILE
        self.fence = 0
        self._broken: str | None = None
        with translate_errors(f"opening {self.path}"):
            if writable:
                make_private_file(self.path)
                flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
            else:
                flags = apsw.SQLITE_OPEN_READONLY
            # The type stubs of apsw leave parts unknown. The methods below add the types.
            self._connection: Any = apsw.Connection(str(self.path), flags, vfs)
        try:
            with translate_errors(f"opening {self.path}"):
                self._prepare(writable)
        except BaseException:
            # On a full disk, closing fails as well. The first error is the one to report.
            with contextlib.suppress(apsw.Error, OSError):
                self._connection.close()
            raise

    def _prepare(self, writable: bool) -> None:
        connection = self._connection
        connection.set_busy_timeout(BUSY_MS)
        connection.execute("PRAGMA foreign_keys = ON")
        if writable:
            if connection.execute("PRAGMA journal_mode = WAL").get != "wal":
                raise EnvironmentUnfit(
                    f"{self.path}: this file system cannot hold a write-ahead log",
                    cure="Put the workspace on a local disk.",
                )
            synchronous = "OFF"
            if self.durable:
                synchronous = "FULL"
            connection.execute(f"PRAGMA synchronous = {synchronous}")
        version = connection.execute("PRAGMA user_version").get
        if version == 0:
            self._before_create(self.directory)
        if version == 0 and writable:
            self._create()
        elif version == 0:
            # Another process has created the file but not yet its tables, or died in between.
            raise EnvironmentUnfit(
                f"{self.directory} is not a workspace yet: its journal has no tables",
                cure="Wait until it is created, or create a workspace: blendwright new.",
            )
        elif not schema.OLDEST <= version <= schema.VERSION:
            raise EnvironmentUnfit(
                f"{self.path} has schema version {version}, but this program supports versions {schema.OLDEST} to {schema.VERSION}",
                cure="Use the version of blendwright that wrote it, or a newer one.",
                details={"version": version, "known": [schema.OLDEST, schema.VERSION]},
            )
        elif version != schema.VERSION:
            self._upgrade(writable)

    def _create(self) -> None:
        with self.transaction("create", checked=False):
            # Another process may have created the tables while this one waited for the transaction.
            if self.one("PRAGMA user_version")[0] == 0:
                self._connection.execute(schema.CREATE)
                workspace = uuid.uuid4().hex
                self._connection.execute(
                    "INSERT INTO state VALUES (1, ?, 0, 0, ?)", (workspace, schema.genesis(workspace))
                )
                self._connection.execute(schema.ENTER_MAIN)
        if self.durable:
            sync_directory(self.directory)

    def _upgrade(self, writable: bool) -> None:
        """Upgrade a journal of an older version in one transaction. A reader upgrades a copy in memory."""
        if not writable:
            copy: Any = apsw.Connection(":memory:")
            with copy.backup("main", self._connection, "main") as backup:
                backup.step(-1)
            self._connection.close()
            self._connection = copy
        with self.transaction("upgrade", checked=False):
            # Another process may have upgraded the journal while this one waited for the transaction.
            for version in range(self.one("PRAGMA user_version")[0], schema.VERSION):
                self._connection.execute(schema.UPGRADES[version])
                self._connection.execute(f"PRAGMA user_version = {version + 1}")

    @property
    def identity(self) -> str:
        """The id that the workspace got when it was created."""
        return self.one("SELECT workspace FROM state")[0]

    # ------------------------------------------------------------------ reading

    def rows(self, sql: str, bindings: tuple[Any, ...] = ()) -> Iterator[Row]:
        return self._connection.execute(sql, bindings)

    def row(self, sql: str, bindings: tuple[Any, ...] = ()) -> Row | None:
        return self._connection.execute(sql, bindings).fetchone()

    def one(self, sql: str, bindings: tuple[Any, ...] = ()) -> Row:
        """Return the only row of a query. Raise JournalError when the row is missing."""
        row = self.row(sql, bindings)
        if row is None:
            raise JournalError(f"journal.db lacks a row that it must have: {sql}")
        return row

    @contextlib.contextmanager
    def snapshot(self) -> Generator[None]:
        """Give several reads one consistent state, even if another process writes in between."""
        with translate_errors(f"reading {self.path}"):
            if self._connection.in_transaction:
                yield
                return
            self._connection.execute("BEGIN")
            try:
                yield
            finally:
                self._connection.execute("COMMIT")

    # ------------------------------------------------------------------ writing, inside a transaction

    def change(self, sql: str, bindings: tuple[Any, ...] = ()) -> int:
        """Run a statement and return the number of changed rows."""
        self._connection.execute(sql, bindings)
        return self._connection.changes()

    def insert(self, sql: str, bindings: tuple[Any, ...]) -> int:
        """Insert a row and return its id."""
        self._connection.execute(sql, bindings)
        return self._connection.last_insert_rowid()

    def change_many(self, sql: str, many: Iterable[Row]) -> None:
        self._connection.executemany(sql, many)

    # ------------------------------------------------------------------ transactions

    @contextlib.contextmanager
    def transaction(self, name: str, *, checked: bool = True) -> Generator[None]:
        """Run one atomic transaction, which is durable after the block. `name` is the prefix of its crash points."""
        if self._broken is not None:
            raise JournalError(self._broken, cure="Open the workspace again: it resumes from the last commit.")
        with translate_errors(f"writing {self.path}"):
            try:
                self._connection.execute("BEGIN IMMEDIATE")
                crash_points.reach(f"{name}.begun")
                if checked:
                    self._check_fence()
                yield
                crash_points.reach(f"{name}.before_commit")
                self._connection.execute("COMMIT")
            except BaseException as error:
                # A failed sync may or may not have reached the disk. Only opening the journal again shows which.
                if isinstance(error, apsw.FullError | apsw.IOError | OSError):
                    self.give_up("the disk refused an earlier write, so the content of the journal is uncertain")
                self._undo()
                raise
        crash_points.reach(f"{name}.after_commit")

    def give_up(self, reason: str) -> None:
        """Refuse every further transaction, because its outcome would be uncertain.

        The next opening of the journal finds it out.
        """
        self._broken = self._broken or reason

    def _check_fence(self) -> None:
        current = self.one("SELECT fence FROM state")[0]
        if current != self.fence or self.fence == 0:
            raise JournalError(
                f"this process no longer holds the workspace (its number is {self.fence}, the current one {current})",
                cure="Nothing was written. Open the workspace again.",
                details={"fence": self.fence, "current": current},
            )

    def _undo(self) -> None:
        if self._connection.in_transaction:
            # If this fails, SQLite has rolled back automatically. Report the earlier failure.
            with contextlib.suppress(apsw.Error):
                self._connection.execute("ROLLBACK")

    def release_memory(self) -> None:
        """Drop the page cache of the connection, at most 2 MB.

        The cache of the operating system still serves these pages.
        """
        with translate_errors(f"reading {self.path}"):
            self._connection.execute("PRAGMA shrink_memory")

    def close(self) -> None:
        with translate_errors(f"closing {self.path}"):
            self._connection.close()


def sync_directory(directory: Path) -> None:
    """Make file names in a directory durable: after a power cut, a synced file can still lose its name."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def translate_errors(doing: str, *, file: str = FILE, if_damaged: str = _DAMAGED) -> Generator[None]:
    """Translate errors of the disk and the database inside the block to EnvironmentUnfit or JournalError, with the
    cause attached.

    `doing` describes the action, `file` names the database, and `if_damaged` is the fix for a damaged one.
    """
    try:
        yield
    except (apsw.Error, OSError) as error:
        raise _explanation(doing, error, file, if_damaged) from error


def _explanation(
    doing: str, error: apsw.Error | OSError, file: str, if_damaged: str
) -> EnvironmentUnfit | JournalError:
    match error:
        case apsw.FullError():
            return EnvironmentUnfit(f"{doing}: the disk is full", cure=_NO_SPACE)
        case OSError() if error.errno in FULL:
            return EnvironmentUnfit(f"{doing}: no room on the disk ({error.strerror})", cure=_NO_SPACE)
        case apsw.CorruptError() | apsw.NotADBError():
            return JournalError(f"{doing}: {file} is damaged ({error})", cure=if_damaged)
        case apsw.ConstraintError():
            return JournalError(f"{doing}: {file} refuses it ({error})")
        case apsw.BusyError() | apsw.LockedError():
            return EnvironmentUnfit(f"{doing}: another program holds {file}", cure="End it, then try again.")
        case apsw.IOError() | apsw.CantOpenError() | apsw.ReadOnlyError() | apsw.PermissionsError() | OSError():
            return EnvironmentUnfit(f"{doing}: the disk refuses ({error})", cure=_NO_ACCESS)
        case _:
            return JournalError(f"{doing}: {error}")


def utc_now() -> str:
    """Return the current time as the journal stores it: UTC, RFC 3339 with microseconds, which sorts as text."""
    return datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def from_json(owner: str, text: str) -> Any:
    """Return the value that `as_json` wrote.

    Raise JournalError for any other text, which only an edit of the file can cause.
    """
    try:
        return orjson.loads(text)
    except (ValueError, TypeError) as error:
        raise JournalError(f"{owner} in {FILE} cannot be read: the file was edited", cure=TAMPERED) from error


def object_in(owner: str, text: str) -> dict[str, Any]:
    """Return the JSON object that `as_json` wrote. Raise JournalError for any other value."""
    value = from_json(owner, text)
    if not isinstance(value, dict):
        raise JournalError(f"{owner} in {FILE} must be a JSON object: the file was edited", cure=TAMPERED)
    return cast("dict[str, Any]", value)


def as_json(owner: str, value: Mapping[str, Any]) -> str:
    """Return JSON with sorted keys. It differs from RFC 8785, which writes 1.0 as 1: a redo must get exactly the
    value of the first run.

    Raise JournalError for integers beyond 64 bits, because they would not read back unchanged.
    """
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
    except TypeError as error:
        raise JournalError(f"{owner} cannot be written as JSON: {error}") from error
