"""A queue that sends frames through a pipe without blocking the sender.

A busy worker does not read, and a pipe has a small buffer. If sending blocked, no deadline could be kept.
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
import threading
from collections import deque
from collections.abc import Callable
from functools import partial
from itertools import islice

from blendwright.wire import frames

# The maximum number of parts per system call.
_MAX_PARTS_PER_WRITE = 64


class SendQueue:
    """The writing end of a pipe, with ownership of its descriptor. Frames go out in the order of `send`."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._write_some = self._writer()
        self._lock = threading.Lock()
        self._backlog: deque[memoryview] = deque()
        self._flushing = False
        self._closed = False

    def _writer(self) -> Callable[[list[memoryview]], list[memoryview]]:
        """Return a function that writes as much as possible at once and returns the rest.

        The function raises BlockingIOError if the pipe is full, and ConnectionError if the other side has closed it.
        """
        os.set_blocking(self._fd, False)
        return partial(frames.write_some, self._fd)

    def send(self, body: bytes) -> None:
        """Write immediately what the pipe accepts, and leave the rest to a thread. Raise OversizedFrame.

        A pipe without a reader is not an error here. The reader of the worker's answers notices its death.
        """
        parts = [memoryview(frames.header(body)), memoryview(body)]
        with self._lock:
            if self._closed:
                return
            if not self._backlog:
                try:
                    parts = self._write_some(parts)
                except BlockingIOError:
                    pass
                except ConnectionError:
                    return
            self._backlog.extend(parts)
            if self._backlog and not self._flushing:
                self._flushing = True
                threading.Thread(target=self._flush, name="blendwright-send", daemon=True).start()

    def close(self) -> None:
        """Close the pipe, which makes the worker end. Drop frames that are not sent yet."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            # If the thread is waiting for the descriptor, the thread closes it.
            if not self._flushing:
                self._close_descriptor()

    def _close_descriptor(self) -> None:
        os.close(self._fd)

    def _flush(self) -> None:
        """Write the backlog until it is empty or the queue is closed. A thread runs this."""
        writable = select.poll()
        writable.register(self._fd, select.POLLOUT)
        while True:
            # Return when the pipe has space, or when the reader has closed it.
            writable.poll()
            with self._lock:
                if self._closed:
                    self._close_descriptor()
                    return
                parts = list(islice(self._backlog, _MAX_PARTS_PER_WRITE))
                try:
                    remaining = self._write_some(parts)
                    for _ in parts:
                        self._backlog.popleft()
                    self._backlog.extendleft(reversed(remaining))
                except BlockingIOError:
                    pass
                except ConnectionError:
                    self._backlog.clear()
                if not self._backlog:
                    self._flushing = False
                    return


class SocketSendQueue(SendQueue):
    """A send queue for a socket. Another thread reads from the same descriptor in blocking mode, so only sending is non-blocking."""

    def _writer(self) -> Callable[[list[memoryview]], list[memoryview]]:
        connected = self._socket = socket.socket(fileno=os.dup(self._fd))
        return lambda parts: frames.unwritten(parts, connected.sendmsg(parts, [], socket.MSG_DONTWAIT))

    def _close_descriptor(self) -> None:
        # Inform the other side immediately, even if another process holds the descriptor.
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        super()._close_descriptor()
