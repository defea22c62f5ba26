"""Connections of cores to this window: threads that accept and read, and a queue for Blender's main thread.

This module uses only the standard library, and its threads never touch Blender. One core is attached at a time. A client without the
token, or a second core, receives an error and is disconnected, without any effect on the attached core.
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
# Limits for a client before it has shown the token: size of its request, time for it, and number of such clients.
MAX_FIRST_BYTES = 64 * 1024
FIRST_SECONDS = 5.0
MAX_UNKNOWN_CLIENTS = 8
# The time to send answers to a core. A slower core is dropped, since Blender is blocked meanwhile.
SEND_SECONDS = 5
SEND_BYTES = 64 * 1024
# The pause after a connection could not be accepted, since the process may have no file descriptors left.
ACCEPT_PAUSE_SECONDS = 0.2
# The number of frames that wait for the main thread. A reader that is further ahead waits.
MAX_QUEUED_FRAMES = 1024

_SEND_FLAGS: int = getattr(socket, "MSG_NOSIGNAL", 0)
_LOOK_ONLY: int = socket.MSG_PEEK | socket.MSG_DONTWAIT if hasattr(socket, "MSG_DONTWAIT") else 0


@dataclass(frozen=True)
class Dropped:
    """A queue entry that replaces requests which the core no longer waits for.

    `ids` are the ids of the dropped requests, and `request_id` that of the request to drop them."""

    ids: tuple[int | None, ...]
    request_id: int | None


class Core:
    """An attached core: its connection, the queue of its requests, and the parameters of its first request."""

    def __init__(self, connection: socket.socket, params: dict[str, Any]) -> None:
        self._connection = connection
        self.params = params
        self.about: dict[str, Any] = {}
        about = params.get("core")
        if isinstance(about, dict):
            self.about = about
        # Bodies of frames. None means that the core has hung up.
        self.frames: queue.Queue[bytes | Dropped | None] = queue.Queue(MAX_QUEUED_FRAMES)
        # True if the request that waits for the window to be ready must be dropped too.
        self.drops_waiting = False
        self.is_closed = False
        self.is_over = False
        # Set by the pump after attaching. A thread reads `session.ended` to learn if another file was opened since.
        self.session: Any = None

    def read(self, reader: BinaryIO) -> None:
        """Queue frames until the stream ends for any reason. This runs in the reader thread."""
        with contextlib.suppress(OSError, ValueError, frames.FrameError):
            while not self.is_closed:
                body = frames.read_frame(reader)
                if body is None:
                    break
                self._put(self._dropped(body) or body)
        self.is_over = True
        self._put(None)

    def makes_way(self) -> bool:
        """Return True if another core may attach: this one has hung up, or its session has ended.

        Also asks the socket, since the reader thread may not have noticed yet that the core hung up."""
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
        """For a request to drop, remove all requests that the main thread has not begun, and return the entry that replaces them.

        Returns None for every other request. The main thread answers the entry in its order."""
        if DROP.encode() not in body[:200] or request_of(body).get("method") != DROP:
            return None

        dropped_ids: list[int | None] = []
        with contextlib.suppress(queue.Empty):
            while True:
                queued = self.frames.get_nowait()
                if isinstance(queued, Dropped):
                    dropped_ids += [*queued.ids, queued.request_id]
                elif queued is not None:
                    dropped_ids.append(id_of(queued))
        self.drops_waiting = True
        return Dropped(tuple(dropped_ids), id_of(body))

    def _put(self, body: bytes | Dropped | None) -> None:
        while not self.is_closed:
            try:
                return self.frames.put(body, timeout=0.5)
            except queue.Full:
                continue
        return None

    def send(self, bodies: list[bytes]) -> None:
        """Send answers from the main thread. Close the connection if the core is gone or reads too slowly."""
        if not bodies or self.is_closed:
            return
        try:
            self._send_all(b"".join(frames.header(body) + body for body in bodies))
        except (OSError, frames.FrameError):
            self.close()

    def _send_all(self, data: bytes) -> None:
        """Send the data in parts, since the timeout of the socket starts again with every part. Raises OSError after SEND_SECONDS."""
        ends, remaining = monotonic() + SEND_SECONDS, memoryview(data)
        while remaining:
            if monotonic() > ends:
                raise TimeoutError("the core reads its answers too slowly")
            remaining = remaining[self._connection.send(remaining[:SEND_BYTES], _SEND_FLAGS) :]

    def close(self) -> None:
        self.is_closed = True
        hang_up(self._connection)


class Listener:
    """A listener that accepts cores on a socket until it is closed."""

    def __init__(self, listening: socket.socket, token: str) -> None:
        # With the default action of this signal, sending to a core that hung up would end Blender.
        if hasattr(signal, "SIGPIPE"):
            signal.signal(signal.SIGPIPE, signal.SIG_IGN)
        self._listening = listening
        self._token = token
        self._lock = threading.Lock()
        self._core: Core | None = None
        self._is_closed = False
        self._unknown_clients = threading.BoundedSemaphore(MAX_UNKNOWN_CLIENTS)
        threading.Thread(target=self._accept, name="blendwright-listener", daemon=True).start()

    @property
    def core(self) -> Core | None:
        """The attached core, or None."""
        return self._core

    def release(self, core: Core) -> None:
        """Close the connection of a core and let another core attach."""
        core.close()
        with self._lock:
            if self._core is core:
                self._core = None

    def close(self) -> None:
        self._is_closed = True
        # Closing the socket would not wake the thread that accepts; shutting it down does.
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
                sleep(ACCEPT_PAUSE_SECONDS)
                continue
            if not self._unknown_clients.acquire(blocking=False):
                hang_up(connection)
                continue
            threading.Thread(target=self._meet, args=(connection,), name="blendwright-core", daemon=True).start()

    def _meet(self, connection: socket.socket) -> None:
        """Check the token of a client, and read its requests while it is attached. Each client has a thread that runs this."""
        core: Core | None = None
        with connection, contextlib.suppress(OSError):
            try:
                core = self._admit(connection)
            finally:
                self._unknown_clients.release()
            if core is not None:
                with connection.makefile("rb", buffering=64 * 1024) as reader:
                    core.read(reader)
                # The main thread handles the queued requests and closes the core.

    def _admit(self, connection: socket.socket) -> Core | None:
        request = _first_request(connection)
        params = request.get("params")
        if request.get("id") != 1 or request.get("method") != FIRST_REQUEST or not isinstance(params, dict):
            return refuse(connection, "malformed_request", f"the first request must be {FIRST_REQUEST} with id 1")
        if not hmac.compare_digest(str(params.get("token")).encode(errors="replace"), self._token.encode()):
            return refuse(connection, "wrong_token", "this is not the token of the window")

        core = Core(connection, params)
        with self._lock:
            attached = None
            if self._core is not None and not self._core.makes_way():
                attached = self._core
            is_closed = self._is_closed
            if attached is None and not is_closed:
                self._core = core
        if is_closed:
            return hang_up(connection)
        if attached is not None:
            message = f"another core, pid {attached.about.get('pid')}, is attached to the window"
            return refuse(connection, "window_taken", message)

        # From here on reading has no timeout, but sending has one. `settimeout` would apply to both.
        connection.settimeout(None)
        _limit_sending(connection)
        return core


def refuse(connection: socket.socket, code: str, message: str) -> None:
    body = error_body(1, code, message)
    connection.sendall(frames.header(body) + body, _SEND_FLAGS)
    hang_up(connection)


def error_body(request_id: int | None, code: str, message: str) -> bytes:
    """Return an error answer in the same form as the worker package writes it."""
    return json.dumps({"id": request_id, "error": {"code": code, "message": message}}).encode()


def result_body(request_id: int | None, result: dict[str, Any]) -> bytes:
    return json.dumps({"id": request_id, "result": result}).encode()


def request_of(body: bytes) -> dict[str, Any]:
    """Parse a request; return an empty dictionary if the body is not a JSON object."""
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
    """Shut a connection down. Data that was sent before still arrives, and the reader thread ends."""
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


def _first_request(connection: socket.socket) -> dict[str, Any]:
    """Read exactly one frame, without buffering bytes of the second request. Return an empty dictionary if it is too large."""
    ends = monotonic() + FIRST_SECONDS
    (length,) = struct.unpack(">I", _exactly(connection, 4, ends))
    if length > MAX_FIRST_BYTES:
        return {}
    return request_of(_exactly(connection, length, ends))


def _exactly(connection: socket.socket, count: int, ends: float) -> bytes:
    parts: list[bytes] = []
    while count:
        # The time limit applies to all parts together.
        connection.settimeout(max(0.001, ends - monotonic()))
        part = connection.recv(count)
        if not part:
            raise ConnectionError("the core hung up")
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def _limit_sending(connection: socket.socket) -> None:
    is_posix = hasattr(signal, "SIGPIPE")
    if is_posix:
        value = struct.pack("ll", SEND_SECONDS, 0)
    else:  # Windows expects milliseconds.
        value = struct.pack("L", SEND_SECONDS * 1000)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, value)
