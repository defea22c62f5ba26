"""Cores that come to this window: threads that accept and read, and a queue for Blender's main thread. The standard library only.

Nothing of Blender is touched in a thread. One core is attached at a time; who has not the token, or comes second, gets an answer and
is hung up on, without the attached one noticing.
"""

import contextlib
import hmac
import json
import queue
import signal
import socket
import struct
import threading
from dataclasses import dataclass
from time import monotonic, sleep
from typing import Any, BinaryIO

from . import frames

FIRST_REQUEST = "window.attach"
DROP = "window.drop"
# Of a stranger only so much is read, and for so long.
LARGEST_FIRST = 64 * 1024
FIRST_SECONDS = 5.0
MOST_STRANGERS = 8
# A core that does not take its answers in this time is dropped, also one that takes them bit by bit: Blender waits meanwhile.
SEND_SECONDS = 5
SEND_BYTES = 64 * 1024
# After a connection that could not be accepted: the process may have no descriptors left.
ACCEPT_PAUSE = 0.2
# Frames that wait to be run; a reader that is ahead waits.
MOST_QUEUED = 1024

_SEND_FLAGS: int = getattr(socket, "MSG_NOSIGNAL", 0)
_LOOK_ONLY: int = socket.MSG_PEEK | socket.MSG_DONTWAIT if hasattr(socket, "MSG_DONTWAIT") else 0


@dataclass(frozen=True)
class Dropped:
    """In the queue in the place of requests that nobody waits for any more: their ids, and that of the request to drop them."""

    ids: tuple[int | None, ...]
    request_id: int | None


class Core:
    """One attached core."""

    def __init__(self, connection: socket.socket, params: dict[str, Any]) -> None:
        self._connection = connection
        self.params = params
        about = params.get("core")
        self.about: dict[str, Any] = about if isinstance(about, dict) else {}
        # Bodies of frames; None when the core has hung up.
        self.frames: queue.Queue[bytes | Dropped | None] = queue.Queue(MOST_QUEUED)
        # Whether a request that waits for the window to be ready is to be dropped too.
        self.drops_waiting = False
        self.is_closed = False
        self.is_over = False
        # Set by the pump once it is attached; whether another file was opened since is asked from a thread.
        self.session: Any = None

    def read(self, reader: BinaryIO) -> None:
        """The reader thread: queue frames until the stream ends, whatever the reason."""
        with contextlib.suppress(OSError, ValueError, frames.FrameError):
            while not self.is_closed and (body := frames.read_frame(reader)) is not None:
                self._put(self._dropped(body) or body)
        self.is_over = True
        self._put(None)

    def makes_way(self) -> bool:
        """Whether it has hung up, or its session is over and it has not noticed: whoever comes next need not wait for it.

        Asked of the socket: the reading thread may not have come to notice it yet."""
        if self.is_over or (self.session is not None and self.session.ended is not None):
            return True
        if not _LOOK_ONLY:
            return False
        try:
            return self._connection.recv(1, _LOOK_ONLY) == b""
        except BlockingIOError:
            return False
        except OSError:
            return True

    def _dropped(self, body: bytes) -> Dropped | None:
        """What a request to drop takes out of the queue, at once: whatever the main thread has not begun. Answered in its turn."""
        if DROP.encode() not in body[:200] or request_of(body).get("method") != DROP:
            return None
        taken: list[int | None] = []
        with contextlib.suppress(queue.Empty):
            while True:
                queued = self.frames.get_nowait()
                if isinstance(queued, Dropped):
                    taken += [*queued.ids, queued.request_id]
                elif queued is not None:
                    taken.append(id_of(queued))
        self.drops_waiting = True
        return Dropped(tuple(taken), id_of(body))

    def _put(self, body: bytes | Dropped | None) -> None:
        while not self.is_closed:
            try:
                return self.frames.put(body, timeout=0.5)
            except queue.Full:
                continue
        return None

    def send(self, bodies: list[bytes]) -> None:
        """Send answers, from the main thread. A core that is gone, or does not take them, is dropped."""
        if not bodies or self.is_closed:
            return
        try:
            self._send_all(b"".join(part for body in bodies for part in (frames.header(body), body)))
        except (OSError, frames.FrameError):
            self.close()

    def _send_all(self, data: bytes) -> None:
        """In parts: the system begins to wait anew with every bit that is taken. Raises OSError."""
        ends, rest = monotonic() + SEND_SECONDS, memoryview(data)
        while rest:
            if monotonic() > ends:
                raise TimeoutError("the core takes its answers too slowly")
            rest = rest[self._connection.send(rest[:SEND_BYTES], _SEND_FLAGS) :]

    def close(self) -> None:
        self.is_closed = True
        hang_up(self._connection)


class Listener:
    """Accepts cores on a socket until it is closed."""

    def __init__(self, listening: socket.socket, token: str) -> None:
        # A core that hangs up while it is sent something would end Blender, where the default of this signal is left.
        if hasattr(signal, "SIGPIPE"):
            signal.signal(signal.SIGPIPE, signal.SIG_IGN)
        self._listening = listening
        self._token = token
        self._lock = threading.Lock()
        self._core: Core | None = None
        self._is_closed = False
        self._strangers = threading.BoundedSemaphore(MOST_STRANGERS)
        threading.Thread(target=self._accept, name="blendwright-listener", daemon=True).start()

    @property
    def core(self) -> Core | None:
        """The attached one."""
        return self._core

    def release(self, core: Core) -> None:
        """Somebody else may attach now."""
        core.close()
        with self._lock:
            if self._core is core:
                self._core = None

    def close(self) -> None:
        self._is_closed = True
        # Closing alone does not wake a thread that accepts.
        with contextlib.suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        core = self._core
        if core is not None:
            self.release(core)

    def _accept(self) -> None:
        while not self._is_closed:
            try:
                connection, _ = self._listening.accept()
            except OSError:
                if self._is_closed:
                    return
                sleep(ACCEPT_PAUSE)
                continue
            if not self._strangers.acquire(blocking=False):
                hang_up(connection)
                continue
            threading.Thread(target=self._meet, args=(connection,), name="blendwright-core", daemon=True).start()

    def _meet(self, connection: socket.socket) -> None:
        """A thread for each who connects: check the token, then read for as long as the core is attached."""
        core: Core | None = None
        with connection, contextlib.suppress(OSError):
            try:
                core = self._admit(connection)
            finally:
                self._strangers.release()
            if core is not None:
                with connection.makefile("rb", buffering=64 * 1024) as reader:
                    core.read(reader)
                # The main thread has what is queued, and closes it.

    def _admit(self, connection: socket.socket) -> Core | None:
        request = _first_request(connection)
        params = request.get("params")
        if request.get("id") != 1 or request.get("method") != FIRST_REQUEST or not isinstance(params, dict):
            return refuse(connection, "malformed_request", f"the first request must be {FIRST_REQUEST} with id 1")
        if not hmac.compare_digest(str(params.get("token")).encode(errors="replace"), self._token.encode()):
            return refuse(connection, "wrong_token", "this is not the token of the window")
        core = Core(connection, params)
        with self._lock:
            if self._core is not None and not self._core.makes_way():
                taken = self._core
            else:
                taken = None
            is_closed = self._is_closed
            if taken is None and not is_closed:
                self._core = core
        if is_closed:
            return hang_up(connection)
        if taken is not None:
            message = f"another core, pid {taken.about.get('pid')}, is attached to the window"
            return refuse(connection, "window_taken", message)
        # From here on reading waits for ever, and sending does not: one flag of the socket would be for both.
        connection.settimeout(None)
        _limit_sending(connection)
        return core


def refuse(connection: socket.socket, code: str, message: str) -> None:
    body = error_body(1, code, message)
    connection.sendall(frames.header(body) + body, _SEND_FLAGS)
    hang_up(connection)


def error_body(request_id: int | None, code: str, message: str) -> bytes:
    """An answer of `error`, in the form that our package gives it."""
    return json.dumps({"id": request_id, "error": {"code": code, "message": message}}).encode()


def result_body(request_id: int | None, result: dict[str, Any]) -> bytes:
    return json.dumps({"id": request_id, "result": result}).encode()


def request_of(body: bytes) -> dict[str, Any]:
    """A request, empty where it is none."""
    try:
        request = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    if isinstance(request, dict):
        return request
    return {}


def id_of(body: bytes) -> int | None:
    request_id = request_of(body).get("id")
    if type(request_id) is int:
        return request_id
    return None


def hang_up(connection: socket.socket) -> None:
    """The reading thread notices, and what was sent still arrives."""
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


def _first_request(connection: socket.socket) -> dict[str, Any]:
    """Byte by byte as much as there must be, so that nothing of the second request is swallowed."""
    ends = monotonic() + FIRST_SECONDS
    (length,) = struct.unpack(">I", _exactly(connection, 4, ends))
    if length > LARGEST_FIRST:
        return {}
    return request_of(_exactly(connection, length, ends))


def _exactly(connection: socket.socket, count: int, ends: float) -> bytes:
    parts: list[bytes] = []
    while count:
        # All of it has so much time, however slowly it comes.
        connection.settimeout(max(0.001, ends - monotonic()))
        part = connection.recv(count)
        if not part:
            raise ConnectionError("the core hung up")
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def _limit_sending(connection: socket.socket) -> None:
    # Windows takes milliseconds.
    is_posix = hasattr(signal, "SIGPIPE")
    if is_posix:
        value = struct.pack("ll", SEND_SECONDS, 0)
    else:
        value = struct.pack("L", SEND_SECONDS * 1000)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, value)
