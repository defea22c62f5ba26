"""Stands in front of the page: Host and Origin, the session, bounded bodies, and what a browser is told to refuse.

Whoever has no session gets the page itself, which holds nothing, and can bring a link. Everything else is refused.
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
# The key of the tab: no form, picture or link of another page can send it, and no cookie brings it along.
PAGE_KEY = "x-page-key"
SESSION = "blendwright.session"
LARGEST_BODY = 8 * 1024 * 1024
# Of whoever has no session yet.
LARGEST_ENTRY = 4 * 1024
READING = ("GET", "HEAD")
# No inline script or style, nothing from elsewhere, no eval, no frames; and no text ever becomes markup (Trusted Types).
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
NO_SESSION = "every tab needs a link of its own, and each is good once"
ANOTHER_LINK = "Press Enter in the terminal of blendwright ui for a link, or Open Console in Blender's sidebar."


class PageGuard:
    """`cookie` is what the names of its cookies begin with, before the id of the session. `read_only` refuses every act, whoever asks.
    `window_key` is that of the window which may ask for links; None where there is none."""

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
        self._places = BodyPlaces(LARGEST_BODY)
        self._entries = BodyPlaces(LARGEST_ENTRY)

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
            await _error(503, "busy", "too many large requests at once; try again")(scope, receive, send)

    def _is_window(self, headers: dict[str, str]) -> bool:
        given, key = headers.get(KEY_HEADER, ""), self._window_key
        return key is not None and hmac.compare_digest(given.encode(), key.encode())

    def _session(self, headers: dict[str, str]) -> Session | None:
        cookies = cookie_parser(headers.get("cookie", ""))
        own = {
            name.removeprefix(self._cookie): value for name, value in cookies.items() if name.startswith(self._cookie)
        }
        return self._sessions.find(headers.get(PAGE_KEY, ""), own)

    def _refusal(self, scope: Scope, headers: dict[str, str], session: Session | None) -> JSONResponse | None:
        """In this order: names, origin, who it is, and then what it asks for."""
        path, method = scope["path"], scope["method"]
        refused = self._names.refused(headers)
        if refused == "host":
            return _error(421, "wrong_host", "this page does not answer to that Host")
        # A browser says where a request comes from, also where it sends no Origin.
        if refused == "origin" or not (_same_origin(headers) or _leads_to_page(path, headers)):
            return _error(403, "wrong_origin", "other pages may not use this one")
        if method not in READING and "origin" not in headers:
            return _error(403, "wrong_origin", "an act must say which page it comes from")
        if not path.startswith(API):
            if method in READING:
                return None
            return _error(405, "no_act", "there is nothing to do there")
        if path == ENTRY and method == "POST":
            return None
        if path == LINKS:
            if self._is_window(headers):
                return None
            return _error(401, "no_window", "no window of this console asks")
        if session is None:
            return _error(401, "no_session", NO_SESSION, ANOTHER_LINK)
        if self._read_only and method not in READING and path != ENTRY:
            return _error(403, "read_only", "this console was started with --read-only")
        return None


def _same_origin(headers: dict[str, str]) -> bool:
    """Whether the browser says that it comes from the page itself, or from the person; what is no browser says nothing."""
    return headers.get("sec-fetch-site", "none") in ("none", "same-origin")


def _leads_to_page(path: str, headers: dict[str, str]) -> bool:
    """Whether something outside leads the person to the page, as the file does that a window opens. The page itself holds nothing, and
    goes into no frame."""
    asked = headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest")
    return path == "/" and asked == ("navigate", "document")


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
