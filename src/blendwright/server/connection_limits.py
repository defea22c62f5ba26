"""Limits of the web server's connections: how long a request may take to arrive, and how many connections may wait without one.

A client that connects has shown no token yet. Without limits a few hundred that never finish their first line would use up every
descriptor of the process, and nobody else would be served.
"""

from __future__ import annotations

import asyncio
import errno
import logging
from time import monotonic
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEADER_SECONDS = 10.0
BODY_SECONDS = 60.0
# Connections on which no request is being answered. One that brings a token is answered, and is none of them any more.
MOST_WAITING = 64
# As many as the socket accepts at once, so that these limits apply before there are too many.
BACKLOG = 64

QUIET_SECONDS = 60.0

_log = logging.getLogger(__name__)


class GuardedConnection(H11Protocol):
    """A connection that ends when its request does not come, or when too many others wait as it does."""

    _deadline: asyncio.TimerHandle | None = None
    _awaited: Any = None
    _since = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        super().connection_made(transport)
        self._since = monotonic()
        self._watch()
        waiting = [each for each in self.connections if isinstance(each, GuardedConnection) and each.waits]
        if len(waiting) > MOST_WAITING:
            # First the one that never sent a request, and has waited longest: a real client has been answered long ago.
            min(waiting, key=lambda each: (each.was_answered, each._since)).transport.abort()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop()
        super().connection_lost(exc)

    @property
    def waits(self) -> bool:
        """Whether it stays, and nothing is being answered on it."""
        cycle: Any = self.cycle  # none before the first request, whatever its type says
        return not self.transport.is_closing() and (cycle is None or cycle.response_complete)

    @property
    def was_answered(self) -> bool:
        cycle: Any = self.cycle
        return cycle is not None

    def _watch(self) -> None:
        """One deadline for the headers and one for the body, each from when it is due; more of it coming in does not move it."""
        state = self.conn.their_state
        if state is self._awaited and self._deadline is not None:
            return
        self._stop()
        self._awaited = state
        if state in (h11.IDLE, h11.SEND_BODY):
            seconds = HEADER_SECONDS if state is h11.IDLE else BODY_SECONDS
            self._deadline = self.loop.call_later(seconds, self._end)

    def _end(self) -> None:
        if self.conn.their_state is self._awaited:
            self.transport.abort()

    def _stop(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


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
