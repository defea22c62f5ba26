"""What happens in workspaces and batches, told to every page that is open: a thread follows each, and every page has a queue.

Also what another process does is seen: a run of `blendwright run`, or of a server, is followed by what it commits.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import AsyncGenerator, Callable, Mapping
from functools import partial
from typing import Any, Protocol

import orjson

# A page that does not read falls out; it asks for everything anew when it comes back.
MOST_QUEUED = 512
MOST_PAGES = 24
# Something is sent this often, so that a page that is gone is noticed.
HEARTBEAT_SECONDS = 15.0
STILL_HERE = b": still here\n\n"

Message = bytes | None
# An event by its name, and what is told of it.
Tell = Callable[[str, Mapping[str, Any]], None]


class Followed(Protocol):
    """What can be looked on at. `follow` tells until it has ended, in a thread of its own."""

    @property
    def id(self) -> str: ...
    def follow(self, ended: threading.Event, tell: Tell) -> None: ...


class Live:
    """Pages and followers. `listen` is for the event loop, `tell` for any thread."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._pages: dict[str, dict[asyncio.Queue[Message], str]] = {}
        self._followers: dict[str, threading.Event] = {}
        self._closed = False

    async def listen(self, followed: Followed, session: str) -> AsyncGenerator[bytes]:
        """Events of one workspace or batch as a stream, until the page leaves, its session is over or the console ends."""
        self._loop = asyncio.get_running_loop()
        queue: asyncio.Queue[Message] = asyncio.Queue(MOST_QUEUED)
        pages = self._pages.setdefault(followed.id, {})
        if self._closed or sum(map(len, self._pages.values())) >= MOST_PAGES:
            return
        pages[queue] = session
        if followed.id not in self._followers:
            ended = self._followers[followed.id] = threading.Event()
            follow = partial(followed.follow, ended, partial(self.tell, followed.id))
            threading.Thread(target=follow, name="follower", daemon=True).start()
        try:
            yield STILL_HERE
            while True:
                try:
                    message = await asyncio.wait_for(queue.get(), HEARTBEAT_SECONDS)
                except TimeoutError:
                    message = STILL_HERE
                if message is None:
                    return
                yield message
        finally:
            pages.pop(queue, None)
            if not pages and (ended := self._followers.pop(followed.id, None)) is not None:
                ended.set()

    def tell(self, id: str, event: str, data: Mapping[str, Any]) -> None:
        """Send an event to every page of a workspace or batch."""
        if self._loop is not None and not self._closed:
            message = b"event: " + event.encode() + b"\ndata: " + orjson.dumps(data) + b"\n\n"
            with contextlib.suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(self._put, id, message)

    def _put(self, id: str, message: Message) -> None:
        for queue in tuple(self._pages.get(id, ())):
            full = queue.qsize() >= MOST_QUEUED - 1
            if full:
                del self._pages[id][queue]
            queue.put_nowait(None if full else message)

    def end_streams(self, session: str) -> None:
        """Nothing more is told to the pages of a session that is over. In the event loop."""
        for pages in self._pages.values():
            for queue in [queue for queue, whose in pages.items() if whose == session]:
                del pages[queue]
                queue.put_nowait(None)

    def close(self) -> None:
        """End every stream. In the event loop."""
        self._closed = True
        for id in tuple(self._pages):
            self._put(id, None)
