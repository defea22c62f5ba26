"""Who may use the page: a link that is good once becomes a session, which a cookie stands for. In memory alone: both end with the process.

The id of a session is for the audit, and opens nothing."""

from __future__ import annotations

import hmac
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass

# A link that nobody used is over then; another one is made on request.
LINK_SECONDS = 15 * 60.0
# A page that is closed says nothing: a session is over when nothing came for so long.
IDLE_SECONDS = 12 * 3600.0
MOST_SESSIONS = 16
MOST_LINKS = 8


@dataclass(slots=True)
class Session:
    """`id` is told, `secret` is in the cookie, `csrf` in a header of every act."""

    id: str
    secret: str
    csrf: str
    seen: float


class Sessions:
    """Links and sessions. For one event loop."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._links: dict[str, float] = {}
        self._sessions: dict[str, Session] = {}

    def new_link(self) -> str:
        """A secret for the address of the page, good once."""
        link = secrets.token_urlsafe(24)
        self._links = dict([*self._links.items(), (link, self._now() + LINK_SECONDS)][-MOST_LINKS:])
        return link

    def enter(self, link: str) -> Session | None:
        """The session that a link becomes. None where there is no such link, any more."""
        known = next((one for one in self._links if hmac.compare_digest(one.encode(), link.encode())), None)
        if known is None or self._links.pop(known) < self._now():
            return None
        secret, csrf = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        session = Session(secrets.token_hex(6), secret, csrf, self._now())
        self._sessions[secret] = session
        while len(self._sessions) > MOST_SESSIONS:
            del self._sessions[min(self._sessions.values(), key=lambda one: one.seen).secret]
        return session

    def find(self, secret: str) -> Session | None:
        """The session of a cookie, which is in use with that."""
        known = next((one for one in self._sessions if hmac.compare_digest(one.encode(), secret.encode())), None)
        if known is None:
            return None
        session = self._sessions[known]
        if session.seen + IDLE_SECONDS < self._now():
            del self._sessions[known]
            return None
        session.seen = self._now()
        return session

    def leave(self, session: Session) -> None:
        self._sessions.pop(session.secret, None)
