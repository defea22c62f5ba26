"""A minimal core that exchanges frames with a window, for tests of the window's side."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path
from typing import Any, Self

from blendwright.wire import frames
from blendwright.wire.package_version import this_package
from window.playing import PACKAGE


class WindowError(Exception):
    """An error answer of the window."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code


class CoreClient:
    """A client that sends requests one by one, or several before it reads the first answer."""

    def __init__(self, note: dict[str, Any], timeout: float = 60) -> None:
        self._note = note
        if note["socket"]:
            self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            self._socket.connect(note["socket"])
        else:
            self._socket = socket.create_connection(("127.0.0.1", note["port"]))
        self._socket.settimeout(timeout)
        self._reader = self._socket.makefile("rb")
        self._last_id = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._reader.close()
        self._socket.close()

    def attach(self, **other: Any) -> dict[str, Any]:
        params = {"token": self._note["token"], "core": {"pid": os.getpid(), "name": "a test"}, "package": str(PACKAGE)}
        return self.call("window.attach", **(params | {"packages": []} | other))

    def greet(self) -> dict[str, Any]:
        return self.call("hello", protocol=frames.PROTOCOL, package=this_package())

    def attached(self, **other: Any) -> Self:
        """Attach to the window and send `hello`."""
        self.attach(**other)
        self.greet()
        return self

    def send(self, method: str, **params: Any) -> int:
        self._last_id += 1
        body = json.dumps({"id": self._last_id, "method": method, "params": params}).encode()
        self.send_bytes(frames.header(body) + body)
        return self._last_id

    def send_bytes(self, data: bytes) -> None:
        self._socket.sendall(data)

    def receive_bytes(self, most: int) -> bytes:
        """Return some received bytes; empty after the window has hung up."""
        try:
            return self._socket.recv(most)
        except ConnectionError:
            return b""

    def answer(self) -> Any:
        """Return the next answer. Raises WindowError for an error answer, and EOFError after the window has hung up."""
        body = frames.read_frame(self._reader)  # pyright: ignore[reportArgumentType]
        if body is None:
            raise EOFError("the window has hung up")
        answer = json.loads(body)
        if "error" in answer:
            raise WindowError(answer["error"]["code"], answer["error"]["message"])
        return answer["result"]

    def call(self, method: str, **params: Any) -> Any:
        self.send(method, **params)
        return self.answer()

    # ------------------------------------------------------------------ turns

    def begin(self, label: str = "a plan", wait: float = 0) -> dict[str, Any]:
        return self.call("window.begin", label=label, wait=wait)

    def end(self, label: str = "a plan", *, changed: bool = True) -> str:
        return self.call("window.end", label=label, changed=changed)["hash"]

    def step(self, tool: str, **args: Any) -> dict[str, Any]:
        return self.call("scene.step", **step(tool, **args))


def step(tool: str, **args: Any) -> dict[str, Any]:
    """Return the request for a step, with arguments as the core writes them."""
    from blendwright.plan.validate import validate_arguments
    from blendwright.tools.catalog import tools

    tool_type = tools()[tool]
    canonical, findings, _ = validate_arguments(tool_type, args)
    assert not findings, findings
    return {"tool": tool, "version": tool_type.version, "args": canonical}


def notes(windows: Path) -> list[str]:
    """Return the names of the files in a rendezvous directory."""
    return sorted(path.name for path in windows.iterdir())
