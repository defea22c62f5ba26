"""MCP over streamable HTTP on one address, with a bearer token, Host and Origin checks, and limits for bodies and
connections.

The token is compared in constant time and never logged. All errors have the form of JSON-RPC errors.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Mapping
from typing import Any

from mcp.server.lowlevel.server import Server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from blendwright.server.transport.jsonrpc import INVALID_REQUEST, MAX_MESSAGE_BYTES, error_response, message_error
from blendwright.web.bodies import BodyPlaces, Disconnected, NoPlace, TooLarge
from blendwright.web.connections import recognise
from blendwright.web.listening import OnShutdown, listen, replayed
from blendwright.web.origins import Names

ENDPOINT = "/mcp"
# A refused request ends its connection, so that an unauthorized client does not keep one.
CLOSE = {"Connection": "close"}


def application(server: Server[Any], token: str, *, host: str, port: int, largest: int = MAX_MESSAGE_BYTES) -> ASGIApp:
    """Return the complete web application."""
    names = Names.of(host, port)
    security = TransportSecuritySettings(allowed_hosts=list(names.hosts), allowed_origins=list(names.origins))
    inner = server.streamable_http_app(
        streamable_http_path=ENDPOINT, transport_security=security, host=host, max_request_body_size=largest
    )
    return RequestGuard(inner, token, names, largest)


async def serve_http(
    server: Server[Any],
    token: str,
    host: str,
    port: int,
    on_shutdown: OnShutdown,
    *,
    on_listening: Callable[[tuple[str, int]], None] = lambda _: None,
) -> None:
    """Serve until a shutdown is requested.

    `on_shutdown` registers the function that a shutdown calls. `on_listening` gets the address when the server
    listens.
    """
    app = application(server, token, host=host, port=port)
    await listen(app, host, port, on_shutdown, on_listening=on_listening)


class RequestGuard:
    """A filter in front of the protocol. It refuses requests with a wrong Host or Origin, without the token, or with
    a broken body.
    """

    def __init__(self, app: ASGIApp, token: str, names: Names, largest: int) -> None:
        self._app = app
        self._token = token.encode()
        self._names = names
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
                    await self._app(scope, replayed(body, receive), send)
                else:
                    await JSONResponse(problem, 400)(scope, receive, send)
        except Disconnected:
            return
        except TooLarge:
            await _error(413, "the message is too large")(scope, receive, send)
        except NoPlace:
            message = "the server is reading too many large messages; send this one again later"
            await _error(503, message, {"Retry-After": "10"})(scope, receive, send)

    def _refusal(self, headers: dict[str, str]) -> JSONResponse | None:
        refused = self._names.refused(headers)
        if refused == "host":
            return _error(421, "this server does not accept this Host header")
        if refused == "origin":
            return _error(403, "this server does not accept requests from this Origin")
        scheme, _, token = headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not hmac.compare_digest(token.strip().encode(), self._token):
            message = "the bearer token is missing or wrong; pass the token of `blendwright serve`"
            return _error(401, message, {"WWW-Authenticate": "Bearer"})
        return None


def _error(status: int, message: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    return JSONResponse(error_response(INVALID_REQUEST, message), status, headers={**CLOSE, **(headers or {})})
