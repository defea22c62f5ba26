"""The guard in front of the page: it checks Host, Origin and session, limits bodies, and sends security headers to the browser.

A client without a session can load the static page, which contains no data, and can exchange a link for a session. The guard refuses
everything else.
"""

from __future__ import annotations

import hmac

from starlette.datastructures import MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from blendwright.console.sessions import Session, Sessions
from blendwright.web.bodies import BodyPlaces, Disconnected, NoPlace, TooLarge
from blendwright.web.connections import recognise
from blendwright.web.listening import replayed
from blendwright.web.origins import Names
from blendwright.wire.console_door import KEY_HEADER, LINKS

API = "/api/"
ENTRY = "/api/session"
# The header with the key of a browser tab. Forms, pictures and links of other pages cannot send it, and no cookie contains it.
PAGE_KEY = "x-page-key"
SESSION = "blendwright.session"
MAX_BODY_BYTES = 8 * 1024 * 1024
# The limit for clients without a session.
MAX_ENTRY_BYTES = 4 * 1024
READING = ("GET", "HEAD")
# Forbids inline scripts and styles, foreign content, eval and frames. Trusted Types keep text from becoming markup.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=(), usb=(), payment=()",
}
CLOSE = {"connection": "close"}
NO_SESSION = "this tab has no session; every tab needs a separate link, which works once"
ANOTHER_LINK = "Press Enter in the terminal of blendwright ui for a new link, or use Open Console in Blender's sidebar."


class PageGuard:
    """The guard of one console. `cookie` is the prefix of its cookies' names, before the id of the session.

    `read_only` refuses every action. `window_key` is the key of the Blender window that may request links, or None."""

    def __init__(
        self,
        app: ASGIApp,
        names: Names,
        sessions: Sessions,
        cookie: str,
        *,
        read_only: bool,
        window_key: str | None = None,
    ) -> None:
        self._app = app
        self._names = names
        self._sessions = sessions
        self._cookie = cookie
        self._read_only = read_only
        self._window_key = window_key
        self._places = BodyPlaces(MAX_BODY_BYTES)
        self._entries = BodyPlaces(MAX_ENTRY_BYTES)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        send = _with_headers(send)
        headers = {key.decode("latin-1").lower(): value.decode("latin-1") for key, value in scope["headers"]}
        session = self._session(headers)
        refusal = self._refusal(scope, headers, session)
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        if session is not None:
            recognise(scope)
        scope[SESSION] = session
        if scope["method"] in READING:
            await self._app(scope, receive, send)
            return
        if session is None or scope["path"] == ENTRY:
            places = self._entries
        else:
            places = self._places
        try:
            async with places.body(scope, receive) as body:
                await self._app(scope, replayed(body, receive), send)
        except Disconnected:
            return
        except TooLarge:
            await _error(413, "too_large", "the request is too large")(scope, receive, send)
        except NoPlace:
            await _error(503, "busy", "too many large requests at the same time; try again")(scope, receive, send)

    def _is_window(self, headers: dict[str, str]) -> bool:
        """Return whether the request carries the key of the window."""
        sent_key, key = headers.get(KEY_HEADER, ""), self._window_key
        return key is not None and hmac.compare_digest(sent_key.encode(), key.encode())

    def _session(self, headers: dict[str, str]) -> Session | None:
        cookies = cookie_parser(headers.get("cookie", ""))
        secrets: dict[str, str] = {}
        for name, value in cookies.items():
            if name.startswith(self._cookie):
                secrets[name.removeprefix(self._cookie)] = value
        return self._sessions.find(headers.get(PAGE_KEY, ""), secrets)

    def _refusal(self, scope: Scope, headers: dict[str, str], session: Session | None) -> JSONResponse | None:
        """Return the error for a request, or None to accept it. Check names, origin, session and action, in this order."""
        path, method = scope["path"], scope["method"]
        refused = self._names.refused(headers)
        if refused == "host":
            return _error(421, "wrong_host", "the console does not answer to this Host header")
        # Sec-Fetch-Site names the origin of a request even if the browser sends no Origin.
        if refused == "origin" or not (_same_origin(headers) or _leads_to_page(path, headers)):
            return _error(403, "wrong_origin", "other pages may not use the console")
        if method not in READING and "origin" not in headers:
            return _error(403, "wrong_origin", "an action needs an Origin header")
        if not path.startswith(API):
            if method in READING:
                return None
            return _error(405, "no_act", "this address accepts no actions")
        if path == ENTRY and method == "POST":
            return None
        if path == LINKS:
            if self._is_window(headers):
                return None
            return _error(401, "no_window", "the request does not come from a window of this console")
        if session is None:
            return _error(401, "no_session", NO_SESSION, ANOTHER_LINK)
        if self._read_only and method not in READING and path != ENTRY:
            return _error(403, "read_only", "the console was started with --read-only")
        return None


def _same_origin(headers: dict[str, str]) -> bool:
    """Return whether the browser reports that the page itself or the user made the request. Other clients send no such header."""
    return headers.get("sec-fetch-site", "none") in ("none", "same-origin")


def _leads_to_page(path: str, headers: dict[str, str]) -> bool:
    """Return whether a foreign page or file navigates to the static page, as the file does that a window opens.

    This is harmless: the static page contains no data, and the headers forbid frames."""
    destination = headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest")
    return path == "/" and destination == ("navigate", "document")


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers[name] = value
            headers.setdefault("cache-control", "no-store")
        await send(message)

    return sending


def _error(status: int, code: str, message: str, cure: str | None = None) -> JSONResponse:
    return JSONResponse({"error": {"code": code, "message": message, "cure": cure}}, status, headers=CLOSE)
