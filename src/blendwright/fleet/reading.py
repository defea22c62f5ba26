"""Read-only access to a fleet's database for the console, with few connections and time limits.

A reader does not wait until a database is back. It reports the problem at once, and a later query may succeed.
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

MAX_CONNECTIONS = 3
"""Small, because a fleet runs out of database connections first."""
QUERY_TIMEOUT_SECONDS = 15.0
COUNTING_SECONDS = 120.0
CONNECT_TIMEOUT_SECONDS = 5
RETRY_SECONDS = 1.0
"""After a failed connection, further queries fail at once for this time, so that a page with many pictures does not wait for each."""
MAX_LOCATIONS = 200
_BACK = "The page continues automatically when the database is back."


class ReadingDatabase:
    """A pool of read-only connections for any thread. Raises EnvironmentUnfit if the database cannot be read."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self._psycopg = import_psycopg()
        logging.getLogger("psycopg").addHandler(logging.NullHandler())
        self._turns = threading.BoundedSemaphore(MAX_CONNECTIONS)
        self._lock = threading.Lock()
        self._idle: list[Connection] = []
        self._away: tuple[float, str] | None = None

    def all(self, sql: Any, bindings: tuple[Any, ...] = (), *, seconds: float = QUERY_TIMEOUT_SECONDS) -> list[Any]:
        """Return all rows of a query. `seconds` is its time limit."""
        if not self._turns.acquire(timeout=QUERY_TIMEOUT_SECONDS):
            raise EnvironmentUnfit(f"the database {self.address} is busy with earlier queries", cure=_BACK)
        try:
            return self._query(sql, bindings, seconds)
        finally:
            self._turns.release()

    def places(self, named: Sequence[str] = ()) -> list[str]:
        """Return the output locations with batches, most recently submitted first. `named` limits the list to these locations.

        Return an empty list if the tables do not exist."""
        if self.all("SELECT to_regclass(%s)::text", (f"{SCHEMA}.version",))[0][0] is None:
            return []
        require_known(next((row[0] for row in self.all("SELECT number FROM version")), None))
        sql = (
            "SELECT outputs FROM spaces JOIN batches ON space = spaces.id WHERE %s::text[] IS NULL OR outputs = ANY(%s)"
            " GROUP BY outputs ORDER BY max(latest) DESC LIMIT %s"
        )
        wanted = list(named) or None
        return [row[0] for row in self.all(sql, (wanted, wanted, MAX_LOCATIONS))]

    def close(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def _query(self, sql: Any, bindings: tuple[Any, ...], seconds: float) -> list[Any]:
        idle = self._idle_connection()
        if idle is not None:
            try:
                return self._query_on(idle, sql, bindings, seconds)
            except self._psycopg.Error as error:
                if not self._is_lost(error):
                    raise self._translated(error, seconds) from None
                # The server may have restarted since then. A new connection shows whether it is back.
        try:
            return self._query_on(self._connect(), sql, bindings, seconds)
        except self._psycopg.Error as error:
            raise self._translated(error, seconds) from None

    def _query_on(self, connection: Connection, sql: Any, bindings: tuple[Any, ...], seconds: float) -> list[Any]:
        try:
            with connection.transaction():
                limit = f"{seconds * 1000:.0f}"
                connection.execute("SELECT set_config('statement_timeout', %s, true)", (limit,))
                rows = connection.execute(sql, bindings).fetchall()
        except BaseException:
            connection.close()
            raise
        with self._lock:
            self._idle.append(connection)
        return rows

    def _idle_connection(self) -> Connection | None:
        with self._lock:
            if self._idle:
                return self._idle.pop()
            return None

    def _connect(self) -> Connection:
        """Return a new connection. The session and every transaction are read-only, also behind a connection pooler."""
        away = self._away
        if away is not None and monotonic() - away[0] < RETRY_SECONDS:
            raise EnvironmentUnfit(away[1], cure=_BACK)
        settings = connection_settings()
        limits = f"-c default_transaction_read_only=on -c statement_timeout={QUERY_TIMEOUT_SECONDS:.0f}s"
        settings |= {"application_name": "blendwright ui", "connect_timeout": CONNECT_TIMEOUT_SECONDS}
        settings["options"] = f"{settings['options']} {limits}"
        try:
            # No prepared statements: behind a connection pooler, the next query may reach another session without them.
            connection: Connection = self._psycopg.connect(
                self.address.conninfo, autocommit=True, prepare_threshold=None, **settings
            )
        except self._psycopg.Error as error:
            self._away = monotonic(), self._translated(error, CONNECT_TIMEOUT_SECONDS).message
            raise
        self._away = None
        connection.read_only = True
        return connection

    def _is_lost(self, error: Exception) -> bool:
        """Return whether the server is away or closed the connection. An exceeded time limit is an answer of the server."""
        lost = (self._psycopg.OperationalError, self._psycopg.InterfaceError)
        return isinstance(error, lost) and not isinstance(error, self._psycopg.errors.QueryCanceled)

    def _translated(self, error: Exception, seconds: float) -> EnvironmentUnfit:
        """Return an error of the driver as one of Blendwright's errors."""
        if isinstance(error, self._psycopg.errors.QueryCanceled):
            message = f"the database {self.address} did not answer within {seconds:g} s"
            return EnvironmentUnfit(message, cure="Request less: the list of all cases and its first pages are faster.")
        if self._is_lost(error):
            return EnvironmentUnfit(f"the database {self.address} does not answer: {first_line(error)}", cure=_BACK)
        return EnvironmentUnfit(
            f"the database {self.address} cannot be read: {first_line(error)}",
            cure=f"Check that the user may read the tables in the schema {SCHEMA}.",
        )
