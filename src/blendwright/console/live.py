"""What happens in the workspaces, told to every page that is open: a thread follows the journal, and each page has a queue.

Also what another process does is seen: a run of `blendwright run`, or of a server, is followed by what it commits.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import AsyncGenerator, Mapping
from typing import Any

import orjson

from blendwright.app.following import JournalFollower
from blendwright.console.workspaces import ConsoleWorkspace
from blendwright.values.errors import BlendwrightError

POLL_SECONDS = 0.12
# A page that does not read falls out; it asks for everything anew when it comes back.
MOST_QUEUED = 512
MOST_PAGES = 24
# Something is sent this often, so that a page that is gone is noticed.
HEARTBEAT_SECONDS = 15.0

Message = bytes | None


class Live:
    """Pages and followers. `listen` is for the event loop, `tell` for any thread."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._pages: dict[str, set[asyncio.Queue[Message]]] = {}
        self._followers: dict[str, _Following] = {}
        self._closed = False

    async def listen(self, workspace: ConsoleWorkspace) -> AsyncGenerator[bytes]:
        """Events of one workspace as a stream, until the page leaves or the console ends."""
        self._loop = asyncio.get_running_loop()
        queue: asyncio.Queue[Message] = asyncio.Queue(MOST_QUEUED)
        pages = self._pages.setdefault(workspace.id, set())
        if self._closed or sum(map(len, self._pages.values())) >= MOST_PAGES:
            return
        pages.add(queue)
        if workspace.id not in self._followers:
            self._followers[workspace.id] = _Following(workspace, self)
        try:
            yield b"retry: 1000\n\n"
            while True:
                try:
                    message = await asyncio.wait_for(queue.get(), HEARTBEAT_SECONDS)
                except TimeoutError:
                    message = b": still here\n\n"
                if message is None:
                    return
                yield message
        finally:
            pages.discard(queue)
            if not pages and (follower := self._followers.pop(workspace.id, None)) is not None:
                follower.stop()

    def tell(self, workspace: str, event: str, data: Mapping[str, Any]) -> None:
        """Send an event to every page of a workspace."""
        if self._loop is not None and not self._closed:
            message = b"event: " + event.encode() + b"\ndata: " + orjson.dumps(data) + b"\n\n"
            with contextlib.suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(self._put, workspace, message)

    def _put(self, workspace: str, message: Message) -> None:
        for queue in tuple(self._pages.get(workspace, ())):
            full = queue.qsize() >= MOST_QUEUED - 1
            if full:
                self._pages[workspace].discard(queue)
            queue.put_nowait(None if full else message)

    def close(self) -> None:
        """End every stream. In the event loop."""
        self._closed = True
        for workspace in tuple(self._pages):
            self._put(workspace, None)


class _Following:
    """The thread that follows one workspace."""

    def __init__(self, workspace: ConsoleWorkspace, live: Live) -> None:
        self._workspace = workspace
        self._live = live
        self._ended = threading.Event()
        threading.Thread(target=self._follow, name="journal-follower", daemon=True).start()

    def stop(self) -> None:
        self._ended.set()

    def _follow(self) -> None:
        while not self._ended.is_set():
            # A journal that cannot be read now, or is not there any more, may be there later.
            with (
                contextlib.suppress(BlendwrightError),
                contextlib.closing(JournalFollower(self._workspace.directory)) as follower,
            ):
                while not self._ended.wait(POLL_SECONDS):
                    changes = follower.poll()
                    if changes is not None:
                        data = {"state": changes.state, "records": changes.records, "runs": changes.runs}
                        self._live.tell(self._workspace.id, "changes", data)
            self._ended.wait(1.0)
