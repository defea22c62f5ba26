"""MCP over streamable HTTP on one address: a bearer token, Host and Origin checks, bounded bodies and connections.

The token is compared in constant time and never logged. Errors have the JSON-RPC form, whoever they are about.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import signal
from collections.abc import Generator
from typing import Any

import uvicorn
from mcp.server.lowlevel.server import Server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from blendwright.server.connection_limits import BACKLOG, DescriptorExhaustionHandler, GuardedConnection
from blendwright.server.early_server import LARGEST_MESSAGE
from blendwright.server.jsonrpc import INVALID_REQUEST, error_response, message_error
from blendwright.server.shutdown import Shutdown
from blendwright.values.errors import EnvironmentUnfit

ENDPOINT = "/mcp"
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


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


async def serve_http(server: Server[Any], token: str, host: str, port: int, shutdown: Shutdown) -> None:
    """Serve until a shutdown is requested."""
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
    shutdown.on_request(web_server.end)
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
