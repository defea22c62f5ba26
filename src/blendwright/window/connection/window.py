"""The core's connection to a Blender that a person has open. The core closes the connection, but never kills the
window.

A call that takes too long gets an error on time, and its late answer is dropped. Then only a full fingerprint
shows the window's scene.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from concurrent.futures import Future
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from blendwright.bridge.connection import Connection, fail
from blendwright.bridge.send_queue import SocketSendQueue
from blendwright.bridge.sources.blender_executable import packages_by_python
from blendwright.values.errors import EnvironmentUnfit, ProtocolBreach, WorkerError, WorkerFault, WorkerLost
from blendwright.window.connection.rendezvous import OpenWindow, one_line
from blendwright.wire.package_version import PACKAGE
from blendwright.wire.remote_window import RemoteWindow

CONNECT_SECONDS = 5.0
# Seconds for the first answer: the window loads the package and hashes its catalogue.
HELLO_SECONDS = 30.0
# Seconds to wait for another core to release the window.
TAKEN_SECONDS = 3.0
TAKEN = "window_taken"


class WindowConnection(Connection, RemoteWindow):
    """The connection to one window. Thread-safe."""

    def __init__(self, window: OpenWindow, connected: socket.socket) -> None:
        # Two descriptors: the reader closes one, the sender the other.
        read_fd = os.dup(connected.fileno())
        super().__init__(read_fd, SocketSendQueue(connected.detach()))
        self.window = window
        self._reader = self.start_reading(f"blendwright-window-{window.pid}")

    @property
    def alive(self) -> bool:
        return self._end is None

    @property
    def has_late_work(self) -> bool:
        with self._lock:
            return any(future.done() for _, _, future in self._waiting)

    def abandon(self) -> None:
        """Stop waiting for all requests. The running request continues in the window; later ones are dropped."""
        with self._lock:
            waiting = [future for _, _, future in self._waiting]
        for future in waiting:
            fail(future, WorkerLost("the call was abandoned; the window still works on it"))
        self.submit("window.drop", {})

    def close(self, timeout: float = 1.0) -> None:
        self._sending.close()
        self._reader.join(timeout)

    def _give_up(self, future: Future[Any], error: WorkerError) -> None:
        fail(future, error)
        self.submit("window.drop", {})

    def _stream_ended(self, breach: ProtocolBreach | None) -> WorkerError:
        return breach or WorkerLost(f"the window ({self.window.name}) has closed the connection")


def connect(window: OpenWindow, core: Mapping[str, Any] | None = None) -> WindowConnection:
    """Connect to a window. `core` is additional information about this process for its sidebar.

    Raises EnvironmentUnfit, with a fix, when no connection is possible.
    """
    python = ".".join(window.python.split(".")[:2])
    packages = packages_by_python().get(python)
    if packages is None:
        raise EnvironmentUnfit(
            f"{window.name} has Python {python}, but pydantic for that version is not installed",
            cure=f"Install it: blendwright blender add {one_line(window.binary) or 'PATH'}",
        )
    attach = {
        "token": window.token,
        "core": {"pid": os.getpid(), "name": "blendwright", **(core or {})},
        "package": str(PACKAGE),
        "packages": [str(packages)],
    }
    patient_until = monotonic() + TAKEN_SECONDS
    while True:
        try:
            return _connect(window, attach)
        except WorkerFault as error:
            # The window may not have noticed yet that the previous core has ended.
            if error.code != TAKEN or monotonic() > patient_until:
                message = f"{window.name}: {one_line(error.message)}"
                raise EnvironmentUnfit(message, cure=_FIXES.get(error.code)) from error
        except OSError as error:
            cure = "Press Disconnect and Connect in its sidebar."
            raise EnvironmentUnfit(f"{window.name} does not answer: {error.strerror or error}", cure=cure) from error
        except WorkerError as error:
            cure = "Check what it waits for (a dialog, a render), or press Disconnect and Connect in its sidebar."
            raise EnvironmentUnfit(f"{window.name} did not answer: {one_line(error.message)}", cure=cure) from error
        except (ValueError, KeyError, TypeError) as error:
            message = f"{window.name} sent an invalid hello: {one_line(str(error))}"
            raise EnvironmentUnfit(message) from error
        sleep(0.1)


def _connect(window: OpenWindow, attach: dict[str, Any]) -> WindowConnection:
    connection = WindowConnection(window, _socket_to(window))
    try:
        connection.call("window.attach", attach, deadline=HELLO_SECONDS)
        connection.exchange_hello(HELLO_SECONDS)
    except BaseException:
        connection.close()
        raise
    return connection


_FIXES = {
    TAKEN: "Detach the other workspace (`blendwright detach` there), or press Disconnect and Connect in the sidebar.",
    "wrong_token": "Press Disconnect and Connect in the sidebar of the window.",
    "package_mismatch": "Restart Blender: it has already loaded another version of blendwright.",
}


def _socket_to(window: OpenWindow) -> socket.socket:
    if window.socket is not None:
        connected = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        address: Any = str(Path(window.socket))
    else:
        connected = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        address = ("127.0.0.1", window.port)
    try:
        connected.settimeout(CONNECT_SECONDS)
        connected.connect(address)
        connected.settimeout(None)
    except BaseException:
        connected.close()
        raise
    return connected
