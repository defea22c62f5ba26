"""The connections of an HTTP server, limited in number and in the time that each request may take.

A connection is known once one of its requests carried the right token or a session cookie. Unknown connections have a separate limit,
so clients without the token cannot displace clients that have it. Without limits, a few hundred connections that never finish their
first line would use up every file descriptor of the process.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import secrets
from collections.abc import Iterator
from time import monotonic
from typing import Any, cast

import h11
from starlette.types import Scope
from uvicorn.protocols.http.h11_impl import H11Protocol

from blendwright.web import CONNECTION_ID

# Time limits for receiving the headers and the body of a request.
HEADER_TIMEOUT_SECONDS = 10.0
BODY_TIMEOUT_SECONDS = 60.0
# More than the number of clients that connect at the same moment and have not sent their first line yet.
MAX_UNKNOWN_CONNECTIONS = 256
# Together with the unknown connections, fewer than the usual limit of descriptors per process (1,024).
MAX_KNOWN_CONNECTIONS = 512
# The key in a request's scope that holds its connection object.
CONNECTION = "blendwright.connection"
# Minimum time between two warnings about exhausted descriptors.
WARNING_INTERVAL_SECONDS = 60.0

_log = logging.getLogger(__name__)


class GuardedConnection(H11Protocol):
    """A connection that closes when its request arrives too slowly or when too many connections of its kind are open."""

    is_known = False
    id = ""
    """A unique id. A port is not unique, because the system gives a free port to the next client."""
    _deadline: asyncio.TimerHandle | None = None
    _awaited: Any = None
    _since = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        super().connection_made(transport)
        self.id = f"connection-{secrets.token_hex(16)}"
        self._since = monotonic()
        self._watch()
        unknown = [connection for connection in self._open_connections() if not connection.is_known]
        if len(unknown) > MAX_UNKNOWN_CONNECTIONS:
            # Close the connection that has waited longest. A client with a token sends it in its first request.
            min(unknown, key=lambda connection: connection._since).transport.abort()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def handle_events(self) -> None:
        super().handle_events()
        # The task that handles the request has not started yet.
        scope = cast("dict[str, Any] | None", self.scope)
        if scope is not None:
            scope[CONNECTION] = self
            scope[CONNECTION_ID] = self.id

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        self._since = monotonic()
        super().on_response_complete()
        self._watch()  # part of the next request may be here already

    def recognise(self) -> None:
        """Mark the connection as known. If too many known connections are open, close the one that has been idle longest."""
        self.is_known = True
        known_connections = [connection for connection in self._open_connections() if connection.is_known]
        if len(known_connections) > MAX_KNOWN_CONNECTIONS:
            idle_connections = [connection for connection in known_connections if connection.idle]
            closing = min(idle_connections, key=lambda connection: connection._since, default=self)
            closing.transport.abort()

    @property
    def idle(self) -> bool:
        """Return whether the connection neither receives a request nor sends an answer."""
        cycle: Any = self.cycle  # None before the first request, although its type does not say so
        return cycle is None or cycle.response_complete

    def _open_connections(self) -> Iterator[GuardedConnection]:
        for connection in self.connections:
            if isinstance(connection, GuardedConnection) and not connection.transport.is_closing():
                yield connection

    def _watch(self) -> None:
        """Start the deadline of the current headers or body, unless it runs already. Further bytes of the same part do not extend it."""
        state = self.conn.their_state
        if state is self._awaited and self._deadline is not None:
            return
        self._stop()
        self._awaited = state
        if state in (h11.IDLE, h11.SEND_BODY):
            if state is h11.IDLE:
                seconds = HEADER_TIMEOUT_SECONDS
            else:
                seconds = BODY_TIMEOUT_SECONDS
            self._deadline = self.loop.call_later(seconds, self._end)

    def _end(self) -> None:
        if self.conn.their_state is self._awaited:
            self.transport.abort()

    def _stop(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


def recognise(scope: Scope) -> None:
    """Mark the connection of a request as known, because the request has the right token. Ignore scopes of other servers."""
    connection = scope.get(CONNECTION)
    if isinstance(connection, GuardedConnection):
        connection.recognise()


class DescriptorExhaustionHandler:
    """An exception handler for the event loop that logs one line without a stack trace when file descriptors run out."""

    def __init__(self) -> None:
        self._quiet_until = 0.0

    def __call__(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        problem = context.get("exception")
        if not isinstance(problem, OSError) or problem.errno not in (errno.EMFILE, errno.ENFILE):
            loop.default_exception_handler(context)
        elif monotonic() >= self._quiet_until:
            self._quiet_until = monotonic() + WARNING_INTERVAL_SECONDS
            _log.warning("cannot accept connections for the moment: %s", problem.strerror)
