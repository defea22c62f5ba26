"""The first seconds of a server on stdio: a host is answered while the rest of the program is still being loaded.

Loading the protocol's library and the catalogue takes longer than a host should wait to see the tools. What it asks first has
answers that are known beforehand: they are recorded from the server itself, protocol version by protocol version, and checked to
be current. Every message is also given to the server once it is loaded, so that its state is the same; what it answers a second time is
dropped. Imports nothing but the standard library, or there would be nothing gained.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import re
import sys
import threading
from collections.abc import Generator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

RECORDED = Path(__file__).parents[1] / "first_answers.json"
POLICY_FILE = "blendwright.toml"
OWN_LIMIT = re.compile(r"(?m)^[^#]*_seconds")
VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
APPS = "io.modelcontextprotocol/ui"

# Larger than any plan that the dialects accept, small enough that nobody can fill the memory.
LARGEST_MESSAGE = 64 * 1024 * 1024

Recorded = dict[str, dict[str, Any]]

_open_servers: list[EarlyServer] = []


class EarlyServer:
    """Owns both ends of stdio. `line` gives the server every message from the beginning; `write` sends what it answers."""

    def __init__(self, incoming: int, outgoing: int, recorded_answers: Recorded, largest: int) -> None:
        self._incoming = os.fdopen(incoming, "rb", closefd=False)
        self._outgoing = outgoing
        self._recorded = recorded_answers
        self._largest = largest
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._answered: set[Any] = set()
        self._version: str | None = None
        self._shows_apps = False
        self._open = True
        self._lock = threading.Lock()
        threading.Thread(target=self._receive, name="early-server", daemon=True).start()

    def line(self) -> bytes:
        """The next message, waiting for it; empty at the end. One that is too long comes cut, without its end."""
        return self._lines.get()

    def end(self) -> None:
        """End of input: whoever waits for a message gets an empty one."""
        self._lines.put(b"")

    def take_over(self) -> None:
        """From here on the server answers."""
        with self._lock:
            self._open = False

    def write(self, data: bytes) -> None:
        """Send one message whole, unless it answers what was answered here."""
        with self._lock:
            if self._answered and self._is_answered(data):
                return
            self._send(data)

    def _is_answered(self, data: bytes) -> bool:
        message = json.loads(data)
        if "method" in message or message.get("id") not in self._answered:
            return False
        self._answered.discard(message["id"])
        return True

    def _send(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(self._outgoing, rest) :]

    def _receive(self) -> None:
        while line := self._incoming.readline(self._largest + 1):
            whole = line
            while not whole.endswith(b"\n") and (whole := self._incoming.readline(self._largest + 1)):
                pass  # the rest of a message that is too long
            with self._lock:
                self._lines.put(line)
                if self._open:
                    self._answer(line)
        self._lines.put(b"")

    def _answer(self, line: bytes) -> None:
        """Answer what can be; anything else, or anything odd, waits for the server."""
        try:
            message = json.loads(line)
            method, id, params = message["method"], message["id"], message.get("params", {})
            version = params.get("protocolVersion") if method == "initialize" else self._version_of(params)
            result = self._recorded[method][version]
        except (ValueError, KeyError, TypeError, AttributeError):
            return
        if message.get("jsonrpc") != "2.0" or not isinstance(id, str | int) or params.get("cursor"):
            return
        if method == "initialize":
            self._version = version
        self._shows_apps = self._shows_apps or APPS in _client_extensions(params)
        if method == "tools/list" and self._shows_apps:
            return  # its list has more in it
        self._answered.add(id)
        answer = {"jsonrpc": "2.0", "id": id, "result": result}
        self._send(json.dumps(answer, separators=(",", ":")).encode() + b"\n")

    def _version_of(self, params: dict[str, Any]) -> Any:
        """The newer era names its version in every request, the older one when it begins."""
        return params.get("_meta", {}).get(VERSION_KEY, self._version)


def _client_extensions(params: dict[str, Any]) -> dict[str, Any]:
    """The newer era declares what a client can in every request, the older one when it begins."""
    declared: Any = params.get("capabilities") or params.get("_meta", {}).get(CAPABILITIES_KEY)
    try:
        return dict(declared["extensions"])
    except (LookupError, TypeError, ValueError):
        return {}


def recorded_answers() -> Recorded:
    """Answers by method and protocol version."""
    recording: dict[str, Any] = json.loads(RECORDED.read_bytes())
    bodies: list[Any] = recording.pop("bodies")
    return {
        method: {version: bodies[body] for version, body in versions.items()} for method, versions in recording.items()
    }


@contextlib.contextmanager
def early_server(largest: int = LARGEST_MESSAGE, *, answers: Recorded | None = None) -> Generator[EarlyServer]:
    """Take both ends of stdio over: from here on, standard output is where standard error is, and standard input is empty."""
    sys.stdout.flush()
    incoming, outgoing = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    try:
        yield EarlyServer(incoming, outgoing, answers or {}, largest)
    finally:
        os.dup2(incoming, 0)
        os.dup2(outgoing, 1)


@contextlib.contextmanager
def answer_early(arguments: Sequence[str]) -> Generator[None]:
    """Serve while the program loads. Recorded is the server without further options: with others, nothing is answered early."""
    plain = not any(part.startswith("--tools") for part in arguments) and not _has_own_limits(arguments)
    with early_server(answers=recorded_answers() if plain else None) as server:
        _open_servers.append(server)
        try:
            yield
        finally:
            _open_servers.remove(server)


def _has_own_limits(arguments: Sequence[str]) -> bool:
    """Whether a policy may set time limits: descriptions of tools name them, and those that were recorded name the usual ones."""
    words = [word for part in arguments for word in part.split("=", 1)]
    workspace = next((after for word, after in pairwise(words) if word == "--workspace"), ".blendwright")
    config = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")  # noqa: PTH111 - sooner loaded
    for file in (Path(workspace, POLICY_FILE), Path(config, "blendwright", POLICY_FILE)):
        with contextlib.suppress(OSError):
            if OWN_LIMIT.search(file.read_text("utf-8", "replace")):
                return True
    return False


@contextlib.contextmanager
def stdio_connection() -> Generator[EarlyServer]:
    """The early server of this process, for the server that takes over from it; a new one where none is open."""
    if _open_servers:
        yield _open_servers[0]
        return
    with early_server() as server:
        yield server
