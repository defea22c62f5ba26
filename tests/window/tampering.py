"""A proxy between a core and a played window, which passes on requests and answers and lets a test change them."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

from blendwright.wire import frames
from window.playing import PlayedWindow

# Gets method, params and answer of a request; what it returns goes to the core in place of the answer.
Tamper = Callable[[str, dict[str, Any], dict[str, Any]], dict[str, Any]]


class TamperedWindow:
    """A window as a core finds it in `windows`, with answers from `tamper`."""

    def __init__(self, window: PlayedWindow, windows: Path) -> None:
        self.windows = windows
        self.tamper: Tamper = lambda method, params, answer: answer
        self._window = window
        self._listening = socket.socket(socket.AF_UNIX)
        windows.mkdir(mode=0o700)
        address = windows / "s"
        self._listening.bind(str(address))
        self._listening.listen(4)
        note = windows / f"{window.pid}.json"
        note.touch(0o600)
        note.write_text(json.dumps(window.note | {"socket": str(address)}), "utf-8")
        self._serving: list[threading.Thread] = []
        self._accepting = threading.Thread(target=self._accept, daemon=True)
        self._accepting.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        _hang_up(self._listening)  # closing alone does not wake a thread that accepts
        self._accepting.join()
        self._listening.close()
        for serving in self._serving:
            serving.join()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                core, _ = self._listening.accept()
                self._serving.append(threading.Thread(target=self._serve, args=(core,), daemon=True))
                self._serving[-1].start()

    def _serve(self, core: socket.socket) -> None:
        with core, socket.socket(socket.AF_UNIX) as window:
            window.connect(self._window.note["socket"])
            self._pass_on(core, window)

    def _pass_on(self, core: socket.socket, window: socket.socket) -> None:
        requests: dict[int, tuple[str, dict[str, Any]]] = {}

        def pass_requests() -> None:
            with contextlib.suppress(OSError, frames.FrameError), core.makefile("rb") as reader:
                while (body := frames.read_frame(reader)) is not None:  # pyright: ignore[reportArgumentType]
                    request = json.loads(body)
                    requests[request["id"]] = (request["method"], request["params"])
                    window.sendall(frames.header(body) + body)
            _hang_up(window)

        passing = threading.Thread(target=pass_requests, daemon=True)
        passing.start()
        with contextlib.suppress(OSError, frames.FrameError), window.makefile("rb") as answers:
            while (body := frames.read_frame(answers)) is not None:  # pyright: ignore[reportArgumentType]
                answer: dict[str, Any] = json.loads(body)
                method, params = requests.get(answer["id"], ("", {}))
                body = json.dumps(self.tamper(method, params, answer)).encode()
                core.sendall(frames.header(body) + body)
        _hang_up(core)
        passing.join()


def _hang_up(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
