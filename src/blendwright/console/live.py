"""Live events of workspaces and batches for all open pages. One thread follows each workspace or batch, and every page has a queue.

The threads follow what is committed, so pages also show the work of other processes, such as `blendwright run` or a server.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import AsyncGenerator, Callable, Mapping
from functools import partial
from typing import Any, Protocol

import orjson

# A page that reads too slowly loses its stream. It loads everything again when it reconnects.
MAX_QUEUED_EVENTS = 512
MAX_PAGES = 24
# Time between two messages that keep a stream open and detect closed pages.
HEARTBEAT_SECONDS = 15.0
HEARTBEAT = b": still here\n\n"

Message = bytes | None
# A function that sends an event, by its name, with its data.
Tell = Callable[[str, Mapping[str, Any]], None]


class Followed(Protocol):
    """A workspace or batch that pages can follow. `follow` sends its events in a separate thread until `ended` is set."""

    @property
    def id(self) -> str: ...
    def follow(self, ended: threading.Event, tell: Tell) -> None: ...


class Live:
    """The open pages and the threads that follow workspaces and batches.

    Call `listen` in the event loop. Any thread may call `tell`."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._pages: dict[str, dict[asyncio.Queue[Message], str]] = {}
        self._followers: dict[str, threading.Event] = {}
        self._closed = False

    async def listen(self, followed: Followed, session: str) -> AsyncGenerator[bytes]:
        """Yield the events of one workspace or batch until the page leaves, its session ends or the console closes."""
        self._loop = asyncio.get_running_loop()
        queue: asyncio.Queue[Message] = asyncio.Queue(MAX_QUEUED_EVENTS)
        pages = self._pages.setdefault(followed.id, {})
        if self._closed or sum(map(len, self._pages.values())) >= MAX_PAGES:
            return
        pages[queue] = session
        if followed.id not in self._followers:
            ended = self._followers[followed.id] = threading.Event()
            follow = partial(followed.follow, ended, partial(self.tell, followed.id))
            threading.Thread(target=follow, name="follower", daemon=True).start()
        try:
            yield HEARTBEAT
            while True:
                try:
                    message = await asyncio.wait_for(queue.get(), HEARTBEAT_SECONDS)
                except TimeoutError:
                    message = HEARTBEAT
                if message is None:
                    return
                yield message
        finally:
            pages.pop(queue, None)
            if not pages:
                follower_ended = self._followers.pop(followed.id, None)
                if follower_ended is not None:
                    follower_ended.set()

    def tell(self, id: str, event: str, data: Mapping[str, Any]) -> None:
        """Send an event to every page that follows a workspace or batch."""
        if self._loop is not None and not self._closed:
            message = b"event: " + event.encode() + b"\ndata: " + orjson.dumps(data) + b"\n\n"
            with contextlib.suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(self._put, id, message)

    def _put(self, id: str, message: Message) -> None:
        for queue in tuple(self._pages.get(id, ())):
            if queue.qsize() >= MAX_QUEUED_EVENTS - 1:
                del self._pages[id][queue]
                queue.put_nowait(None)
            else:
                queue.put_nowait(message)

    def end_streams(self, session: str) -> None:
        """End the streams of a session. Call it in the event loop."""
        for pages in self._pages.values():
            for queue, owner in tuple(pages.items()):
                if owner == session:
                    del pages[queue]
                    queue.put_nowait(None)

    def close(self) -> None:
        """End every stream. Call it in the event loop."""
        self._closed = True
        for id in tuple(self._pages):
            self._put(id, None)
