"""The connections of an HTTP server: how long each may take over its request, and how many there are of which kind.

A connection is known once a request on it brought the right token, or the cookie of a session. Unknown ones are bounded by
themselves, so that nobody without the token can take the place of somebody who has it: without limits a few hundred connections that
never finish their first line would use up every descriptor of the process.
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

HEADER_SECONDS = 10.0
BODY_SECONDS = 60.0
# More than the clients that come at the same moment and have not sent their first line yet.
MOST_UNKNOWN = 256
# With those above, fewer than the descriptors that a process usually has (1,024).
MOST_KNOWN = 512
# The key under which a request names its connection.
CONNECTION = "blendwright.connection"
QUIET_SECONDS = 60.0

_log = logging.getLogger(__name__)


class GuardedConnection(H11Protocol):
    """A connection that ends when its request does not come, or when there are too many of its kind."""

    known = False
    id = ""
    """Tells it apart from every other one that there was or will be: a port is given to the next client once it is free."""
    _deadline: asyncio.TimerHandle | None = None
    _awaited: Any = None
    _since = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        super().connection_made(transport)
        self.id = f"connection-{secrets.token_hex(16)}"
        self._since = monotonic()
        self._watch()
        unknown = [each for each in self._open_connections() if not each.known]
        if len(unknown) > MOST_UNKNOWN:
            # The one that has waited longest: whoever has a token brings it with the first line.
            min(unknown, key=lambda each: each._since).transport.abort()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def handle_events(self) -> None:
        super().handle_events()
        # Before the request is handled: its task has not begun yet.
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
        """Its request has the right token. Where there are too many such connections, the one that is idle longest makes room."""
        self.known = True
        known = [each for each in self._open_connections() if each.known]
        if len(known) > MOST_KNOWN:
            idle = [each for each in known if each.idle]
            (min(idle, key=lambda each: each._since) if idle else self).transport.abort()

    @property
    def idle(self) -> bool:
        """Whether nothing is being received or answered on it."""
        cycle: Any = self.cycle  # none before the first request, whatever its type says
        return cycle is None or cycle.response_complete

    def _open_connections(self) -> Iterator[GuardedConnection]:
        for each in self.connections:
            if isinstance(each, GuardedConnection) and not each.transport.is_closing():
                yield each

    def _watch(self) -> None:
        """One deadline for the headers and one for the body, each from when it is due; more of it coming in does not move it."""
        state = self.conn.their_state
        if state is self._awaited and self._deadline is not None:
            return
        self._stop()
        self._awaited = state
        if state in (h11.IDLE, h11.SEND_BODY):
            if state is h11.IDLE:
                seconds = HEADER_SECONDS
            else:
                seconds = BODY_SECONDS
            self._deadline = self.loop.call_later(seconds, self._end)

    def _end(self) -> None:
        if self.conn.their_state is self._awaited:
            self.transport.abort()

    def _stop(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


def recognise(scope: Scope) -> None:
    """Tell the connection of a request, where there is one, that the request has the right token."""
    connection = scope.get(CONNECTION)
    if isinstance(connection, GuardedConnection):
        connection.recognise()


class DescriptorExhaustionHandler:
    """Handles what goes wrong in the event loop: that descriptors have run out is no defect, and needs one line and no stack trace."""

    def __init__(self) -> None:
        self._quiet_until = 0.0

    def __call__(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        problem = context.get("exception")
        if not isinstance(problem, OSError) or problem.errno not in (errno.EMFILE, errno.ENFILE):
            loop.default_exception_handler(context)
        elif monotonic() >= self._quiet_until:
            self._quiet_until = monotonic() + QUIET_SECONDS
            _log.warning("no connection can be taken for a moment: %s", problem.strerror)
