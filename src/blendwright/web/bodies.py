"""The bodies of HTTP requests: read whole, and bounded in number and in sum, so that token holders cannot fill the memory either.

A large body has a place before more of it is read than a small one has; until then its connection is not read from. The place is kept
until the request is answered, since what was read from the body is in memory as long.
"""

from __future__ import annotations

import asyncio
import mmap
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from starlette.types import Receive, Scope

# Bodies up to this size need no place: what all connections together hold of them is little.
SMALL_BODY = 64 * 1024
MOST_LARGE_BODIES = 16
# Two of the largest messages.
MOST_BYTES = 128 * 1024 * 1024
# So long a large body waits for its place before it is refused.
PLACE_SECONDS = 10.0


class NoPlace(Exception):
    """The other large bodies did not end in time."""


class TooLarge(Exception):
    """The body has more bytes than a message may have."""


class Disconnected(Exception):
    """The client left before its body ended."""


class _Buffer:
    """What was read of a body. Of a large one it is held in pages of its own, which the system has back as soon as they are released;
    what Python allocates in a thousand parts stays with the process."""

    def __init__(self) -> None:
        self.size = 0
        self._small = bytearray()
        self._pages: mmap.mmap | None = None

    def enlarge(self, size: int) -> None:
        """Make room for a large body of at most this size."""
        self._pages = mmap.mmap(-1, size)
        self._pages.write(self._small)
        self._small.clear()

    def write(self, part: bytes) -> None:
        self.size += len(part)
        if self._pages is None:
            self._small += part
        else:
            self._pages.write(part)

    def whole(self) -> bytes:
        """Everything that was written; the buffer holds it no longer."""
        if self._pages is None:
            whole = bytes(self._small)
        else:
            whole = self._pages[: self.size]
        self.release()
        return whole

    def release(self) -> None:
        self._small = bytearray()
        if self._pages is not None:
            self._pages.close()
            self._pages = None


class BodyPlaces:
    """Gives large bodies their places, in the order in which they came. For one event loop."""

    def __init__(self, largest: int) -> None:
        self._largest = largest
        self._bytes = 0
        self._bodies = 0
        self._waiting: deque[tuple[int, asyncio.Future[None]]] = deque()

    @asynccontextmanager
    async def body(self, scope: Scope, receive: Receive) -> AsyncGenerator[bytes]:
        """The whole body of a request; what it holds of the places is given back at the end. Raises TooLarge, NoPlace and Disconnected."""
        declared = _declared_length(scope)
        if declared is not None and declared > self._largest:
            raise TooLarge
        if declared is None:
            needed = self._largest
        else:
            needed = declared
        buffer, taken = _Buffer(), 0
        try:
            more = True
            while more:
                # Without a length it needs the room of the largest: whoever took it bit by bit could wait for others who wait too.
                if not taken and needed > SMALL_BODY and (declared is not None or buffer.size > SMALL_BODY):
                    taken = await self._take(needed)
                    buffer.enlarge(needed)
                message = await receive()
                if message["type"] != "http.request":
                    raise Disconnected
                part: bytes = message.get("body", b"")
                if buffer.size + len(part) > needed:
                    raise TooLarge
                buffer.write(part)
                more = message.get("more_body", False)
            yield buffer.whole()
        finally:
            buffer.release()
            if taken:
                self._give_back(taken)

    async def _take(self, size: int) -> int:
        if not self._waiting and self._fits(size):
            self._bytes += size
            self._bodies += 1
            return size
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((size, place))
        try:
            await asyncio.wait_for(asyncio.shield(place), PLACE_SECONDS)
        except BaseException as error:
            if place.done():
                self._give_back(size)
            else:
                place.cancel()
                self._waiting.remove((size, place))
                self._hand_out()
            if isinstance(error, TimeoutError):
                raise NoPlace from error
            raise
        return size

    def _give_back(self, size: int) -> None:
        self._bytes -= size
        self._bodies -= 1
        self._hand_out()

    def _hand_out(self) -> None:
        while self._waiting and self._fits(self._waiting[0][0]):
            size, place = self._waiting.popleft()
            self._bytes += size
            self._bodies += 1
            place.set_result(None)

    def _fits(self, size: int) -> bool:
        return self._bodies < MOST_LARGE_BODIES and self._bytes + size <= max(MOST_BYTES, self._largest)


def _declared_length(scope: Scope) -> int | None:
    for name, value in scope["headers"]:
        if name.lower() == b"content-length" and value.isdigit():
            return int(value)
    return None
