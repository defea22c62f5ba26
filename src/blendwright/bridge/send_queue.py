"""Sends frames down a pipe without ever making the sender wait.

A worker that is busy does not read, and a pipe holds little: were sending to block, no deadline could be kept.
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

_PARTS_AT_ONCE = 64


class SendQueue:
    """The writing end of a pipe; owns the descriptor. Frames go out in the order of `send`."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._write_some = self._writer()
        self._lock = threading.Lock()
        self._backlog: deque[memoryview] = deque()
        self._flushing = False
        self._closed = False

    def _writer(self) -> Callable[[list[memoryview]], list[memoryview]]:
        """What writes as much as goes at once and returns the rest. Raises BlockingIOError, or ConnectionError where nobody reads."""
        os.set_blocking(self._fd, False)
        return partial(frames.write_some, self._fd)

    def send(self, body: bytes) -> None:
        """Write at once what the pipe takes and leave the rest to a thread; raises OversizedFrame.

        A pipe that nobody reads any more is not an error here: the death of the worker is noticed where its answers are read.
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
        """Close the pipe, which tells the worker to end; what was not sent yet is dropped."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            # While the thread waits on the descriptor, closing it is the thread's task.
            if not self._flushing:
                self._close_descriptor()

    def _close_descriptor(self) -> None:
        os.close(self._fd)

    def _flush(self) -> None:
        writable = select.poll()
        writable.register(self._fd, select.POLLOUT)
        while True:
            # Wakes when there is room, and also when the reader is gone.
            writable.poll()
            with self._lock:
                if self._closed:
                    self._close_descriptor()
                    return
                some = list(islice(self._backlog, _PARTS_AT_ONCE))
                try:
                    remaining = self._write_some(some)
                    for _ in some:
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
    """The same for a socket, whose descriptor is also read from: that one must go on waiting, so only sending never does."""

    def _writer(self) -> Callable[[list[memoryview]], list[memoryview]]:
        connected = self._socket = socket.socket(fileno=os.dup(self._fd))
        return lambda parts: frames.unwritten(parts, connected.sendmsg(parts, [], socket.MSG_DONTWAIT))

    def _close_descriptor(self) -> None:
        # The other side learns of it at once, whoever else has the descriptor.
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        super()._close_descriptor()
