"""MCP over streamable HTTP on one address: a bearer token, Host and Origin checks, bounded bodies and connections.

The token is compared in constant time and never logged. Errors have the JSON-RPC form, whoever they are about. A client that connects
has shown no token yet: without limits a few hundred that never finish their first line would use up every descriptor of the process,
and nobody else would be served.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import hmac
import logging
import signal
from collections.abc import Callable, Generator
from time import monotonic
from typing import Any

import h11
import uvicorn
from mcp.server.lowlevel.server import Server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from blendwright.server.early_server import LARGEST_MESSAGE
from blendwright.server.jsonrpc import INVALID_REQUEST, error_response, message_error
from blendwright.values.errors import EnvironmentUnfit

OnShutdown = Callable[[Callable[[], None]], None]

ENDPOINT = "/mcp"
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
HEADER_SECONDS = 10.0
BODY_SECONDS = 60.0
# Connections on which no request is being answered. One that brings a token is answered, and is none of them any more.
MOST_WAITING = 64
# As many as the socket accepts at once, so that these limits apply before there are too many.
BACKLOG = 64

QUIET_SECONDS = 60.0

_log = logging.getLogger(__name__)


def application(server: Server[Any], token: str, *, host: str, port: int, largest: int = LARGEST_MESSAGE) -> ASGIApp:
    """The whole web application."""
    names = sorted({*LOOPBACK, host})
    security = TransportSecuritySettings(
        allowed_hosts=[f"{name}:{port}" for name in names],
        allowed_origins=[f"http://{name}:{port}" for name in names],
    )
    inner = server.streamable_http_app(
        streamable_http_path=ENDPOINT, transport_security=security, host=host, max_request_body_size=largest
    )
    return RequestGuard(inner, token, security, largest)


async def serve_http(server: Server[Any], token: str, host: str, port: int, on_shutdown: OnShutdown) -> None:
    """Serve until a shutdown is requested; `on_shutdown` is told what to call then."""
    app = application(server, token, host=host, port=port)
    config = uvicorn.Config(
        app,
        host=host.strip("[]"),  # brackets are for addresses on the web, not for sockets
        port=port,
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=5,
        http=GuardedConnection,
        ws="none",
        backlog=BACKLOG,
    )
    asyncio.get_running_loop().set_exception_handler(DescriptorExhaustionHandler())
    web_server = _WebServer(config)
    on_shutdown(web_server.end)
    try:
        await web_server.serve()
    except SystemExit as stopped:
        raise EnvironmentUnfit(f"{host}:{port} cannot be listened on", cure="Name another host or port.") from stopped


class _WebServer(uvicorn.Server):
    """Leaves signals alone: it would raise them again once it has ended, and so end the process before the workspace is closed."""

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        yield

    def end(self) -> None:
        # Not only should_exit: the library of event streams listens here, and streams that are open end at once.
        self.handle_exit(signal.SIGTERM, None)


class RequestGuard:
    """Stands in front of the protocol: refuses requests from the wrong Host or Origin, without the token, or with a broken body."""

    def __init__(self, app: ASGIApp, token: str, security: TransportSecuritySettings, largest: int) -> None:
        self._app = app
        self._token = token.encode()
        self._security = security
        self._largest = largest

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {key.decode("latin-1").lower(): value.decode("latin-1") for key, value in scope["headers"]}
        refusal = self._refusal(headers)
        body = b""
        if refusal is None and scope["method"] == "POST":
            body, whole = await _body(receive, self._largest)
            problem = (
                message_error(body, self._largest)
                if whole
                else error_response(INVALID_REQUEST, "the message is too large")
            )
            if problem is not None:
                refusal = JSONResponse(problem, 400 if whole else 413)
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        await self._app(scope, _replayed(body, receive) if scope["method"] == "POST" else receive, send)

    def _refusal(self, headers: dict[str, str]) -> JSONResponse | None:
        if headers.get("host") not in self._security.allowed_hosts:
            return JSONResponse(error_response(INVALID_REQUEST, "this server does not answer to that Host"), 421)
        origin = headers.get("origin")
        if origin is not None and origin not in self._security.allowed_origins:
            return JSONResponse(error_response(INVALID_REQUEST, "pages of that Origin may not use this server"), 403)
        scheme, _, token = headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not hmac.compare_digest(token.strip().encode(), self._token):
            message = error_response(
                INVALID_REQUEST, "a bearer token is needed: the one that `blendwright serve` was started with"
            )
            return JSONResponse(message, 401, headers={"WWW-Authenticate": "Bearer"})
        return None


async def _body(receive: Receive, largest: int) -> tuple[bytes, bool]:
    """The body, and whether it is whole: reading ends where it grows too large."""
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return b"".join(parts), True
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > largest:
            return b"", False
        if not message.get("more_body", False):
            return b"".join(parts), True


def _replayed(body: bytes, receive: Receive) -> Receive:
    """A receiver that gives the body once more, which was read already."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return messages.pop() if messages else await receive()

    return replay


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
