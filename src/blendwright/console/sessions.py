"""The sessions of the page. A link, which works once, starts the session of one browser tab. Sessions exist only in memory.

A session needs a cookie and a key. A browser sends the cookie to every port of the host, so other programs can read it there. The tab
keeps the key for the page's origin only. The id of a session appears in the audit and gives no access."""

from __future__ import annotations

import hmac
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

# An unused link expires after this time.
LINK_SECONDS = 15 * 60.0
# A closed page sends no message, so a session expires after this time without requests.
IDLE_SECONDS = 12 * 3600.0
MAX_SESSIONS = 16
MAX_LINKS = 8


@dataclass(slots=True)
class Session:
    """A session of one tab. `id` is public, `secret` is the value of the cookie, and `key` is a header of every request."""

    id: str
    secret: str
    key: str
    seen: float


class Sessions:
    """The links and sessions of a console, for one event loop. `on_end` receives every session that ends, for whatever reason."""

    def __init__(
        self, now: Callable[[], float] = time.monotonic, *, on_end: Callable[[Session], None] = lambda _: None
    ) -> None:
        self._now = now
        self._on_end = on_end
        self._links: dict[str, float] = {}
        self._sessions: dict[str, Session] = {}

    def new_link(self) -> str:
        """Return a new secret for the page's address, which works once."""
        link = secrets.token_urlsafe(24)
        self._links[link] = self._now() + LINK_SECONDS
        while len(self._links) > MAX_LINKS:
            del self._links[next(iter(self._links))]
        return link

    def enter(self, link: str) -> Session | None:
        """Exchange a link for a session. Return None if the link is unknown, used or expired."""
        stored_link = next((candidate for candidate in self._links if _same(candidate, link)), None)
        if stored_link is None or self._links.pop(stored_link) < self._now():
            return None
        secret, key = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        session = Session(secrets.token_hex(6), secret, key, self._now())
        self._sessions[session.id] = session
        while len(self._sessions) > MAX_SESSIONS:
            self.leave(min(self._sessions.values(), key=lambda candidate: candidate.seen))
        return session

    def find(self, key: str, cookies: Mapping[str, str]) -> Session | None:
        """Return the session with this key and the matching cookie, or None. Its idle time starts again.

        `cookies` are the values of the page's cookies by session id."""
        session = next((candidate for candidate in self._sessions.values() if _same(candidate.key, key)), None)
        if session is None or not _same(session.secret, cookies.get(session.id, "")):
            return None
        if session.seen + IDLE_SECONDS < self._now():
            self.leave(session)
            return None
        session.seen = self._now()
        return session

    def leave(self, session: Session) -> None:
        if self._sessions.pop(session.id, None) is not None:
            self._on_end(session)


def _same(secret: str, candidate: str) -> bool:
    return hmac.compare_digest(secret.encode(), candidate.encode())
