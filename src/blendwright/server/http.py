"""MCP over streamable HTTP on one address: a bearer token, Host and Origin checks, bounded bodies and connections.

The token is compared in constant time and never logged. Errors have the JSON-RPC form, whoever they are about.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import signal
import socket
from collections.abc import Callable, Generator, Mapping
from functools import partial
from types import SimpleNamespace
from typing import Any

import pydantic_core
import uvicorn
from mcp.server import streamable_http
from mcp.server.lowlevel.server import Server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from blendwright.server.bodies import BodyPlaces, Disconnected, NoPlace, TooLarge
from blendwright.server.connections import DescriptorExhaustionHandler, GuardedConnection, recognise
from blendwright.server.early_server import LARGEST_MESSAGE
from blendwright.server.jsonrpc import INVALID_REQUEST, error_response, message_error
from blendwright.values.errors import EnvironmentUnfit

OnShutdown = Callable[[Callable[[], None]], None]

ENDPOINT = "/mcp"
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
# As many as the socket accepts at once, so that the limits of connections apply before there are too many.
BACKLOG = 64
# A refused request ends its connection: whoever may not use the server has no place in it either.
CLOSE = {"Connection": "close"}


def application(server: Server[Any], token: str, *, host: str, port: int, largest: int = LARGEST_MESSAGE) -> ASGIApp:
    """The whole web application."""
    _keep_no_texts_of_messages()
    names = sorted({*LOOPBACK, host})
    security = TransportSecuritySettings(
        allowed_hosts=[f"{name}:{port}" for name in names],
        allowed_origins=[f"http://{name}:{port}" for name in names],
    )
    inner = server.streamable_http_app(
        streamable_http_path=ENDPOINT, transport_security=security, host=host, max_request_body_size=largest
    )
    return RequestGuard(inner, token, security, largest)


def _keep_no_texts_of_messages() -> None:
    """The SDK reads messages with a cache of 16,384 short texts, a megabyte or more, which fills with the ids of requests for as long as
    the server lives, and cannot be emptied. Names of fields are few, and stay in it. There is no setting for this: what the SDK
    reads with is put in its place."""
    read = partial(pydantic_core.from_json, cache_strings="keys")
    reading: Any = SimpleNamespace(**{**vars(pydantic_core), "from_json": read})
    streamable_http.pydantic_core = reading  # pyright: ignore[reportPrivateImportUsage]


async def serve_http(
    server: Server[Any],
    token: str,
    host: str,
    port: int,
    on_shutdown: OnShutdown,
    *,
    on_listening: Callable[[tuple[str, int]], None] = lambda _: None,
) -> None:
    """Serve until a shutdown is requested; `on_shutdown` is told what to call then, `on_listening` the address once it is ours."""
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
        proxy_headers=False,  # whoever may send requests is not believed about where they come from
    )
    asyncio.get_running_loop().set_exception_handler(DescriptorExhaustionHandler())
    web_server = _WebServer(config, lambda: on_listening((host, port)))
    on_shutdown(web_server.end)
    try:
        await web_server.serve()
    except SystemExit as stopped:
        raise EnvironmentUnfit(f"{host}:{port} cannot be listened on", cure="Name another host or port.") from stopped


class _WebServer(uvicorn.Server):
    """Leaves signals alone: it would raise them again once it has ended, and so end the process before the workspace is closed."""

    def __init__(self, config: uvicorn.Config, on_listening: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_listening = on_listening

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._on_listening()

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
        self._places = BodyPlaces(largest)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {key.decode("latin-1").lower(): value.decode("latin-1") for key, value in scope["headers"]}
        refusal = self._refusal(headers)
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        recognise(scope)
        if scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        try:
            async with self._places.body(scope, receive) as body:
                problem = message_error(body, self._largest)
                if problem is None:
                    await self._app(scope, _replayed(body, receive), send)
                else:
                    await JSONResponse(problem, 400)(scope, receive, send)
        except Disconnected:
            return
        except TooLarge:
            await _error(413, "the message is too large")(scope, receive, send)
        except NoPlace:
            message = "the server reads as many large messages as it can hold; send this one again later"
            await _error(503, message, {"Retry-After": "10"})(scope, receive, send)

    def _refusal(self, headers: dict[str, str]) -> JSONResponse | None:
        if headers.get("host") not in self._security.allowed_hosts:
            return _error(421, "this server does not answer to that Host")
        origin = headers.get("origin")
        if origin is not None and origin not in self._security.allowed_origins:
            return _error(403, "pages of that Origin may not use this server")
        scheme, _, token = headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not hmac.compare_digest(token.strip().encode(), self._token):
            message = "a bearer token is needed: the one that `blendwright serve` was started with"
            return _error(401, message, {"WWW-Authenticate": "Bearer"})
        return None


def _error(status: int, message: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    return JSONResponse(error_response(INVALID_REQUEST, message), status, headers={**CLOSE, **(headers or {})})


def _replayed(body: bytes, receive: Receive) -> Receive:
    """A receiver that gives the body once more, which was read already."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return messages.pop() if messages else await receive()

    return replay
