"""The database of a fleet for whoever only looks: few connections, on which nothing can be written and nothing takes long.

Nobody waits here until a database is back: what is in the way is told at once, and asked again it may be over.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from time import monotonic
from typing import TYPE_CHECKING, Any

from blendwright.fleet.address import Address, import_psycopg
from blendwright.fleet.database import connection_settings, first_line
from blendwright.fleet.tables import SCHEMA, require_known
from blendwright.values.errors import EnvironmentUnfit

if TYPE_CHECKING:
    from blendwright.fleet.tables import Connection

MOST_CONNECTIONS = 3
"""Connections are what a fleet runs out of first."""
LOOKING_SECONDS = 15.0
COUNTING_SECONDS = 120.0
CONNECT_SECONDS = 5
AGAIN_SECONDS = 1.0
"""A database that was away a moment ago is not asked again for every picture of a page."""
MOST_PLACES = 200
_BACK = "The page goes on by itself when the database is back."


class ReadingDatabase:
    """Usable from many threads. Raises EnvironmentUnfit where the database cannot be read now, with words that name no secret."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self._psycopg = import_psycopg()
        logging.getLogger("psycopg").addHandler(logging.NullHandler())
        self._turns = threading.BoundedSemaphore(MOST_CONNECTIONS)
        self._lock = threading.Lock()
        self._idle: list[Connection] = []
        self._away: tuple[float, str] | None = None

    def all(self, sql: Any, bindings: tuple[Any, ...] = (), *, seconds: float = LOOKING_SECONDS) -> list[Any]:
        """The rows of one question, which may take so long."""
        if not self._turns.acquire(timeout=LOOKING_SECONDS):
            raise EnvironmentUnfit(f"the database {self.address} is busy with what was asked before", cure=_BACK)
        try:
            return self._ask(sql, bindings, seconds)
        finally:
            self._turns.release()

    def places(self, named: Sequence[str] = ()) -> list[str]:
        """Where outputs of batches go, the place of the batch that was submitted last first; of those that are named, where any are.
        Makes no tables where there are none."""
        if self.all("SELECT to_regclass(%s)::text", (f"{SCHEMA}.version",))[0][0] is None:
            return []
        require_known(next((row[0] for row in self.all("SELECT number FROM version")), None))
        sql = (
            "SELECT outputs FROM spaces JOIN batches ON space = spaces.id WHERE %s::text[] IS NULL OR outputs = ANY(%s)"
            " GROUP BY outputs ORDER BY max(latest) DESC LIMIT %s"
        )
        wanted = list(named) or None
        return [row[0] for row in self.all(sql, (wanted, wanted, MOST_PLACES))]

    def close(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def _ask(self, sql: Any, bindings: tuple[Any, ...], seconds: float) -> list[Any]:
        kept = self._kept()
        if kept is not None:
            try:
                return self._ask_on(kept, sql, bindings, seconds)
            except self._psycopg.Error as error:
                if not self._is_lost(error):
                    raise self._told(error, seconds) from None
                # It may have ended with a server that is back by now: a new connection tells.
        try:
            return self._ask_on(self._connected(), sql, bindings, seconds)
        except self._psycopg.Error as error:
            raise self._told(error, seconds) from None

    def _ask_on(self, connection: Connection, sql: Any, bindings: tuple[Any, ...], seconds: float) -> list[Any]:
        try:
            with connection.transaction():
                limit = f"{seconds * 1000:.0f}"
                connection.execute("SELECT set_config('statement_timeout', %s, true)", (limit,))
                found = connection.execute(sql, bindings).fetchall()
        except BaseException:
            connection.close()
            raise
        with self._lock:
            self._idle.append(connection)
        return found

    def _kept(self) -> Connection | None:
        with self._lock:
            if self._idle:
                return self._idle.pop()
            return None

    def _connected(self) -> Connection:
        """Whatever is asked on it, and whatever stands between here and the server: it is read only, by the session and in every
        transaction."""
        away = self._away
        if away is not None and monotonic() - away[0] < AGAIN_SECONDS:
            raise EnvironmentUnfit(away[1], cure=_BACK)
        settings = connection_settings()
        limits = f"-c default_transaction_read_only=on -c statement_timeout={LOOKING_SECONDS:.0f}s"
        settings |= {"application_name": "blendwright ui", "connect_timeout": CONNECT_SECONDS}
        settings["options"] = f"{settings['options']} {limits}"
        try:
            # Statements are not kept on the server: what shares connections between many would not find them again.
            connection: Connection = self._psycopg.connect(
                self.address.conninfo, autocommit=True, prepare_threshold=None, **settings
            )
        except self._psycopg.Error as error:
            self._away = monotonic(), self._told(error, CONNECT_SECONDS).message
            raise
        self._away = None
        connection.read_only = True
        return connection

    def _is_lost(self, error: Exception) -> bool:
        """Whether the server is away, or has ended the connection; what it answered is an answer."""
        lost = (self._psycopg.OperationalError, self._psycopg.InterfaceError)
        return isinstance(error, lost) and not isinstance(error, self._psycopg.errors.QueryCanceled)

    def _told(self, error: Exception, seconds: float) -> EnvironmentUnfit:
        if isinstance(error, self._psycopg.errors.QueryCanceled):
            message = f"the database {self.address} has no answer to this within {seconds:g} s"
            return EnvironmentUnfit(message, cure="Ask for less: all cases, and earlier pages, are found more quickly.")
        if self._is_lost(error):
            return EnvironmentUnfit(f"the database {self.address} is away: {first_line(error)}", cure=_BACK)
        return EnvironmentUnfit(
            f"the database {self.address} cannot be read: {first_line(error)}",
            cure=f"Check that the user may read the tables in the schema {SCHEMA}.",
        )
