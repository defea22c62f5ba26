"""The bodies of HTTP requests, limited in number and in total size, so that even clients with a token cannot fill the memory.

A large body must reserve memory before the server reads more of it than a small body has. Until then the server does not read from
the connection. The reservation lasts until the server has answered the request, because the body stays in memory until then.
"""

from __future__ import annotations

import asyncio
import mmap
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from starlette.types import Receive, Scope

# Bodies up to this many bytes need no reservation: all connections together hold little of them.
SMALL_BODY_BYTES = 64 * 1024
MAX_LARGE_BODIES = 16
# Room for two of the largest messages.
MAX_TOTAL_BYTES = 128 * 1024 * 1024
# A large body that has waited this long for its reservation is refused.
RESERVATION_TIMEOUT_SECONDS = 10.0


class NoPlace(Exception):
    """No memory became free for this body in time."""


class TooLarge(Exception):
    """The body has more bytes than the limit of a message."""


class Disconnected(Exception):
    """The client left before its body ended."""


class _Buffer:
    """The received part of one body.

    A large body uses memory pages that the operating system gets back as soon as the buffer releases them. Many small Python
    allocations would stay with the process."""

    def __init__(self) -> None:
        self.size = 0
        self._small = bytearray()
        self._pages: mmap.mmap | None = None

    def enlarge(self, size: int) -> None:
        """Reserve pages for a large body of at most `size` bytes."""
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
        """Return the complete body and release the buffer."""
        if self._pages is None:
            body = bytes(self._small)
        else:
            body = self._pages[: self.size]
        self.release()
        return body

    def release(self) -> None:
        self._small = bytearray()
        if self._pages is not None:
            self._pages.close()
            self._pages = None


class BodyPlaces:
    """The reservations of large bodies, granted in the order of the requests. For use in one event loop."""

    def __init__(self, largest: int) -> None:
        self._largest = largest
        self._reserved_bytes = 0
        self._reserved_bodies = 0
        self._waiting: deque[tuple[int, asyncio.Future[None]]] = deque()

    @asynccontextmanager
    async def body(self, scope: Scope, receive: Receive) -> AsyncGenerator[bytes]:
        """Yield the complete body of a request, and give back its reservation at the end. Raise TooLarge, NoPlace or Disconnected."""
        declared = _declared_length(scope)
        if declared is not None and declared > self._largest:
            raise TooLarge
        if declared is None:
            limit = self._largest
        else:
            limit = declared
        buffer, reserved = _Buffer(), 0
        try:
            has_more = True
            while has_more:
                # A body without a declared length reserves the largest size at once. Growing reservations could wait for each other
                # forever.
                is_large = declared is not None or buffer.size > SMALL_BODY_BYTES
                if not reserved and limit > SMALL_BODY_BYTES and is_large:
                    reserved = await self._reserve(limit)
                    buffer.enlarge(limit)
                message = await receive()
                if message["type"] != "http.request":
                    raise Disconnected
                part: bytes = message.get("body", b"")
                if buffer.size + len(part) > limit:
                    raise TooLarge
                buffer.write(part)
                has_more = message.get("more_body", False)
            yield buffer.whole()
        finally:
            buffer.release()
            if reserved:
                self._give_back(reserved)

    async def _reserve(self, size: int) -> int:
        """Wait until `size` bytes are free, reserve them, and return `size`. Raise NoPlace after the time limit."""
        if not self._waiting and self._fits(size):
            self._reserved_bytes += size
            self._reserved_bodies += 1
            return size
        reservation: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((size, reservation))
        try:
            await asyncio.wait_for(asyncio.shield(reservation), RESERVATION_TIMEOUT_SECONDS)
        except BaseException as error:
            if reservation.done():
                self._give_back(size)
            else:
                reservation.cancel()
                self._waiting.remove((size, reservation))
                self._grant_waiting()
            if isinstance(error, TimeoutError):
                raise NoPlace from error
            raise
        return size

    def _give_back(self, size: int) -> None:
        self._reserved_bytes -= size
        self._reserved_bodies -= 1
        self._grant_waiting()

    def _grant_waiting(self) -> None:
        while self._waiting and self._fits(self._waiting[0][0]):
            size, reservation = self._waiting.popleft()
            self._reserved_bytes += size
            self._reserved_bodies += 1
            reservation.set_result(None)

    def _fits(self, size: int) -> bool:
        max_bytes = max(MAX_TOTAL_BYTES, self._largest)
        return self._reserved_bodies < MAX_LARGE_BODIES and self._reserved_bytes + size <= max_bytes


def _declared_length(scope: Scope) -> int | None:
    for name, value in scope["headers"]:
        if name.lower() == b"content-length" and value.isdigit():
            return int(value)
    return None
