"""A connection to a fleet's database that survives restarts of the server by repeating the interrupted transaction."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from blendwright.fleet.address import Address, import_psycopg
from blendwright.fleet.tables import SCHEMA, make_tables
from blendwright.values.errors import EnvironmentUnfit

if TYPE_CHECKING:
    from blendwright.fleet.tables import Connection

Result = TypeVar("Result")

PATIENCE = 120.0
"""Seconds without the database after which a call gives up. A restart or a failover takes less."""
PAUSES = (0.1, 0.3, 1.0, 2.0)
"""Seconds between attempts; the last value repeats."""


def connection_settings() -> dict[str, Any]:
    """Return the settings of every connection. They detect a lost peer within a minute and release the locks of a stopped process."""
    return {
        "application_name": "blendwright",
        "connect_timeout": 10,
        "keepalives_idle": 20,
        "keepalives_interval": 5,
        "keepalives_count": 4,
        "tcp_user_timeout": 40_000,
        "options": f"-c search_path={SCHEMA} -c idle_in_transaction_session_timeout=30s",
    }


class Database:
    """A connection that several threads use in turn.

    Work on it must be safe to repeat, because the connection can break after the work and before the answer."""

    def __init__(self, address: Address, *, patience: float = PATIENCE) -> None:
        self.address = address
        self.patience = patience
        self._psycopg = import_psycopg()
        self._lock = threading.Lock()
        self._connection: Connection | None = None

    def open(self) -> Database:
        """Connect, and create missing tables. Raise EnvironmentUnfit at once if the database does not answer."""
        try:
            with self._lock:
                make_tables(self._connected())
        except self._psycopg.Error as error:
            self.close()
            raise EnvironmentUnfit(
                f"the database {self.address} cannot be used: {first_line(error)}",
                cure="Check that the server runs, and that the user may create a schema in the database.",
            ) from None
        return self

    def run(self, work: Callable[[Connection], Result]) -> Result:
        """Run `work` in one transaction and return its result. Repeat it after a lost connection. Raise EnvironmentUnfit at the end."""
        with self._lock:
            return self._until_answered(work)

    def _until_answered(self, work: Callable[[Connection], Result]) -> Result:
        deadline = time.monotonic() + self.patience
        for attempt in range(1_000_000):
            try:
                connection = self._connected()
                with connection.transaction():
                    return work(connection)
            except self._psycopg.Error as error:
                if not self._is_lost(error):
                    raise
                self._disconnect()
                if time.monotonic() > deadline:
                    raise EnvironmentUnfit(
                        f"the database {self.address} has not answered for {self.patience:g} s: {first_line(error)}",
                        cure="Nothing is lost: run the same command again when the database is back.",
                    ) from None
            time.sleep(PAUSES[min(attempt, len(PAUSES) - 1)])
        raise AssertionError("unreachable")

    def close(self) -> None:
        with self._lock:
            self._disconnect()

    def _is_lost(self, error: BaseException) -> bool:
        """Return whether the server is away or closed the connection, as it does after a process was stopped inside a transaction."""
        is_closed = self._connection is not None and self._connection.closed
        return is_closed or isinstance(error, (self._psycopg.OperationalError, self._psycopg.InterfaceError))

    def _connected(self) -> Connection:
        connection = self._connection
        if connection is None or connection.closed:
            connection = self._psycopg.connect(self.address.conninfo, autocommit=True, **connection_settings())
            self._connection = connection
        return connection

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = None


def first_line(error: BaseException) -> str:
    """Return the first line of a message, which contains neither the address nor the query."""
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0]
