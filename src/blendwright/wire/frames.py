"""The wire between core and worker: frames of a four-byte big-endian length and that many bytes of UTF-8 JSON.

Both sides import this module, so it imports only the standard library. It transfers bytes and limits their number. Both
ends interpret the JSON themselves, and decide how to handle a broken stream.

Requests   `{"id": n, "method": "…", "params": {…}}`, ids strictly increasing from 1, the first one `hello`.
Answers    `{"id": n, "result": …}` or `{"id": n, "error": {"code": "…", "message": "…"}}`, in the order of the requests.
"""

import io
import os
import select
import struct
from collections.abc import Sequence
from typing import Any, BinaryIO, Self

# Since version 2, both sides report in their hello which package they run.
PROTOCOL = 2
# The largest body of a frame in bytes.
MAX_FRAME = 32 * 1024 * 1024

_LENGTH = struct.Struct(">I")


class FrameError(Exception):
    """The stream is unusable, because the start of the next frame is unknown."""


class OversizedFrame(FrameError):
    """The length of a frame exceeds the limit."""


class TruncatedFrame(FrameError):
    """The stream ended inside a frame."""


def open_reader(fd: int) -> BinaryIO:
    """Return a blocking, buffered reader that owns the descriptor. The buffer saves system calls for small frames."""
    return os.fdopen(fd, "rb", buffering=64 * 1024)


class CountingReader:
    """A reader that can report without waiting whether more data is available."""

    def __init__(self, fd: int) -> None:
        self._raw = _CountedFile(fd, "rb")
        self._buffered = io.BufferedReader(self._raw, 64 * 1024)
        self._consumed = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._buffered.close()

    def read_frame(self) -> bytes | None:
        """Return the body of the next frame, or None when the stream ended between two frames."""
        body = read_frame(self._buffered)
        if body is not None:
            self._consumed += _LENGTH.size + len(body)
        return body

    def has_more(self) -> bool:
        """Return whether data after the last returned frame is available now."""
        return self._raw.bytes_read > self._consumed or bool(select.select([self._raw], [], [], 0)[0])


class _CountedFile(io.FileIO):
    """A file that counts the bytes that the buffer above it has read."""

    bytes_read = 0

    def readinto(self, buffer: Any, /) -> int | None:
        count = super().readinto(buffer)
        self.bytes_read += count or 0
        return count


def read_frame(reader: BinaryIO) -> bytes | None:
    """Return the body of the next frame, or None when the stream ended between two frames."""
    head = reader.read(_LENGTH.size)
    if not head:
        return None
    if len(head) < _LENGTH.size:
        raise TruncatedFrame("the stream ended inside the length of a frame")
    (length,) = _LENGTH.unpack(head)
    # Check the length before reading the body, so that a wrong length never causes an allocation.
    if length > MAX_FRAME:
        raise OversizedFrame(f"a frame of {length} bytes was announced; at most {MAX_FRAME} are allowed")
    body = reader.read(length)
    if len(body) < length:
        raise TruncatedFrame(f"the stream ended after {len(body)} of {length} bytes of a frame")
    return body


def header(body: bytes) -> bytes:
    """Return the four bytes that precede the body."""
    if len(body) > MAX_FRAME:
        raise OversizedFrame(f"a frame of {len(body)} bytes is too large; at most {MAX_FRAME} are allowed")
    return _LENGTH.pack(len(body))


def write_frame(fd: int, body: bytes) -> None:
    """Write one frame to a blocking descriptor: header and body in one system call, without joining them first."""
    write_frames(fd, [body])


def write_frames(fd: int, bodies: Sequence[bytes]) -> None:
    """Write at most a few hundred frames in as few system calls as the descriptor allows."""
    remaining = [memoryview(part) for body in bodies for part in (header(body), body)]
    while remaining:
        remaining = write_some(fd, remaining)


def write_some(fd: int, parts: list[memoryview]) -> list[memoryview]:
    """Write as much as the descriptor takes at once, and return the rest. Raises BlockingIOError like os.writev."""
    return unwritten(parts, os.writev(fd, parts))


def unwritten(parts: Sequence[memoryview], written: int) -> list[memoryview]:
    """Return the rest of the parts after `written` bytes."""
    remaining: list[memoryview] = []
    for part in parts:
        if written >= len(part):
            written -= len(part)
            continue
        remaining.append(part[written:])
        written = 0
    return remaining
