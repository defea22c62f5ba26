"""Who may use the page: a link that is good once becomes a session of one tab, which a cookie and a key stand for together. In memory
alone: all of it ends with the process.

A browser sends a cookie to every port of a host, so to whoever listens there; the key is kept by the tab, for the origin of the page alone.
The id of a session is for the audit, and opens nothing."""

from __future__ import annotations

import hmac
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

# A link that nobody used is over then; another one is made on request.
LINK_SECONDS = 15 * 60.0
# A page that is closed says nothing: a session is over when nothing came for so long.
IDLE_SECONDS = 12 * 3600.0
MOST_SESSIONS = 16
MOST_LINKS = 8


@dataclass(slots=True)
class Session:
    """`id` is told, `secret` is in the cookie, `key` in a header of every request."""

    id: str
    secret: str
    key: str
    seen: float


class Sessions:
    """Links and sessions. For one event loop. `on_end` is told every session that is over, whatever ended it."""

    def __init__(
        self, now: Callable[[], float] = time.monotonic, *, on_end: Callable[[Session], None] = lambda _: None
    ) -> None:
        self._now = now
        self._on_end = on_end
        self._links: dict[str, float] = {}
        self._sessions: dict[str, Session] = {}

    def new_link(self) -> str:
        """A secret for the address of the page, good once."""
        link = secrets.token_urlsafe(24)
        self._links = dict([*self._links.items(), (link, self._now() + LINK_SECONDS)][-MOST_LINKS:])
        return link

    def enter(self, link: str) -> Session | None:
        """The session that a link becomes. None where there is no such link, any more."""
        known = next((one for one in self._links if _same(one, link)), None)
        if known is None or self._links.pop(known) < self._now():
            return None
        secret, key = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        session = Session(secrets.token_hex(6), secret, key, self._now())
        self._sessions[session.id] = session
        while len(self._sessions) > MOST_SESSIONS:
            self.leave(min(self._sessions.values(), key=lambda one: one.seen))
        return session

    def find(self, key: str, cookies: Mapping[str, str]) -> Session | None:
        """The session of a key, which is in use with that. `cookies` are by the id of the session that each is for: one without the
        other is nothing."""
        session = next((one for one in self._sessions.values() if _same(one.key, key)), None)
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


def _same(secret: str, given: str) -> bool:
    return hmac.compare_digest(secret.encode(), given.encode())
