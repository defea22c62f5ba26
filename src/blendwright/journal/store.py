"""One connection to journal.db and the only way to write through it: a transaction that checks the fencing number.

What SQLite and the disk refuse is raised in words that a person can act on. Knows nothing of commits or audit.
WAL with synchronous=FULL: a transaction that has returned survives a crash and a power cut.
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
BUSY_MS = 5000
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

_NO_SPACE = "Free some space on the disk of the workspace, then run the command again: it goes on from the last commit."
_NO_ACCESS = "Check the disk of the workspace and the permissions in it, then run the command again."
_DAMAGED = "Restore journal.db from a backup, or start a new workspace from a checkpoint: blendwright new --scene FILE."
TAMPERED = f"See what was edited by `blendwright audit verify`, and restore {FILE} from a backup."

Row = tuple[Any, ...]


class Store:
    """An open journal.db. `fence` is 0 for those who only read."""

    def __init__(
        self,
        directory: Path,
        *,
        writable: bool,
        durable: bool = True,
        vfs: str | None = None,
        before_create: Callable[[Path], None] = lambda directory: None,
    ) -> None:
        """`before_create` may object to beginning a journal in the directory. What is not `durable` survives the end of the process,
        and not that of the machine: nothing waits for the disk."""
        self.directory = directory
        self.durable = durable
        self._before_create = before_create
        self.path = directory / FILE
        self.fence = 0
        self._broken: str | None = None
        with translate_errors(f"opening {self.path}"):
            if writable:
                make_private_file(self.path)
            if writable:
                flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
            else:
                flags = apsw.SQLITE_OPEN_READONLY
            # The stubs of apsw leave parts unknown; what comes out of it is typed by the methods below.
            self._connection: Any = apsw.Connection(str(self.path), flags, vfs)
        try:
            with translate_errors(f"opening {self.path}"):
                self._prepare(writable)
        except BaseException:
            # On a full disk closing fails as well; the reason is what happened first.
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
            connection.execute(f"PRAGMA synchronous = {'FULL' if self.durable else 'OFF'}")
        version = connection.execute("PRAGMA user_version").get
        if version == 0:
            self._before_create(self.directory)
        if version == 0 and writable:
            self._create()
        elif version == 0:
            # Its file is there before what is in it; or whoever made it ended in between.
            raise EnvironmentUnfit(
                f"{self.directory} is not a workspace yet: its journal has not been begun",
                cure="Wait until it is made, or start one: blendwright new.",
            )
        elif not schema.OLDEST <= version <= schema.VERSION:
            raise EnvironmentUnfit(
                f"{self.path} has schema version {version}, this program knows {schema.OLDEST} to {schema.VERSION}",
                cure="Use the version of blendwright that wrote it, or a newer one.",
                details={"version": version, "known": [schema.OLDEST, schema.VERSION]},
            )
        elif version != schema.VERSION:
            self._upgrade(writable)

    def _create(self) -> None:
        with self.transaction("create", checked=False):
            # Another process may have been first while this one waited for the transaction.
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
        """A journal of an older version becomes one of this, in one transaction. Who only reads upgrades a copy in memory."""
        if not writable:
            copy: Any = apsw.Connection(":memory:")
            with copy.backup("main", self._connection, "main") as backup:
                backup.step(-1)
            self._connection.close()
            self._connection = copy
        with self.transaction("upgrade", checked=False):
            # Another process may have been first while this one waited for the transaction.
            for version in range(self.one("PRAGMA user_version")[0], schema.VERSION):
                self._connection.execute(schema.UPGRADES[version])
                self._connection.execute(f"PRAGMA user_version = {version + 1}")

    @property
    def identity(self) -> str:
        """The name that the workspace was given when it was begun."""
        return self.one("SELECT workspace FROM state")[0]

    # ------------------------------------------------------------------ reading

    def rows(self, sql: str, bindings: tuple[Any, ...] = ()) -> Iterator[Row]:
        return self._connection.execute(sql, bindings)

    def row(self, sql: str, bindings: tuple[Any, ...] = ()) -> Row | None:
        return self._connection.execute(sql, bindings).fetchone()

    def one(self, sql: str, bindings: tuple[Any, ...] = ()) -> Row:
        """The one row that must be there."""
        row = self.row(sql, bindings)
        if row is None:
            raise JournalError(f"journal.db lacks a row that it must have: {sql}")
        return row

    @contextlib.contextmanager
    def snapshot(self) -> Generator[None]:
        """Several reads of one state, whatever another process writes meanwhile."""
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
        """Returns how many rows it met."""
        self._connection.execute(sql, bindings)
        return self._connection.changes()

    def insert(self, sql: str, bindings: tuple[Any, ...]) -> int:
        """Returns the id of the new row."""
        self._connection.execute(sql, bindings)
        return self._connection.last_insert_rowid()

    def change_many(self, sql: str, many: Iterable[Row]) -> None:
        self._connection.executemany(sql, many)

    # ------------------------------------------------------------------ transactions

    @contextlib.contextmanager
    def transaction(self, name: str, *, checked: bool = True) -> Generator[None]:
        """All of it or nothing; durable when it has returned. `name` is that of its crash points."""
        if self._broken is not None:
            raise JournalError(self._broken, cure="Open the workspace again: it continues from what is committed.")
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
                # A failed sync may or may not have reached the disk: only opening it again tells.
                if isinstance(error, apsw.FullError | apsw.IOError | OSError):
                    self.give_up("the disk refused an earlier write, so what it holds is not known")
                self._undo()
                raise
        crash_points.reach(f"{name}.after_commit")

    def give_up(self, reason: str) -> None:
        """Refuse every further transaction: whether it would stand is for the next one who opens the journal to find out."""
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
            # SQLite has rolled back by itself where this fails; the failure that led here is the one to tell.
            with contextlib.suppress(apsw.Error):
                self._connection.execute("ROLLBACK")

    def release_memory(self) -> None:
        """Give up the pages that are kept to be quick, 2 MB at most: whoever reads them next finds them in the system's cache."""
        with translate_errors(f"reading {self.path}"):
            self._connection.execute("PRAGMA shrink_memory")

    def close(self) -> None:
        with translate_errors(f"closing {self.path}"):
            self._connection.close()


def sync_directory(directory: Path) -> None:
    """Make names in a directory durable: a synced file can still lose its name."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def translate_errors(doing: str, *, file: str = FILE, if_damaged: str = _DAMAGED) -> Generator[None]:
    """Whatever the disk or the database raises inside leaves as EnvironmentUnfit or JournalError, with the cause behind it.

    `file` is the database that is meant, and `if_damaged` the cure where it is no longer one."""
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
    """The time as the journal writes it: UTC, RFC 3339 with microseconds, which sorts as text."""
    return datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def from_json(what: str, text: str) -> Any:
    """What `as_json` wrote. Raises JournalError for anything else: the database itself lets nobody change what it holds."""
    try:
        return orjson.loads(text)
    except (ValueError, TypeError) as error:
        raise JournalError(f"{what} in {FILE} cannot be read: somebody has edited it", cure=TAMPERED) from error


def object_in(what: str, text: str) -> dict[str, Any]:
    """The same, where it must be an object."""
    found = from_json(what, text)
    if not isinstance(found, dict):
        raise JournalError(f"{what} in {FILE} is not what was written: somebody has edited it", cure=TAMPERED)
    return cast("dict[str, Any]", found)


def as_json(what: str, value: Mapping[str, Any]) -> str:
    """Sorted, but not RFC 8785: that form writes 1.0 as 1, and a redo must get the very value that the first run got.

    Integers beyond 64 bits are refused, because they would not come back as they were.
    """
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
    except TypeError as error:
        raise JournalError(f"{what} cannot be written as JSON: {error}") from error
