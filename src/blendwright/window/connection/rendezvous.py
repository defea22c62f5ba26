"""The windows of this user that offer a connection. Each has a file in a directory that only this user can read.

The extension writes these files (`blender/extension/rendezvous.py`). Readers remove the files of a killed Blender.
"""

from __future__ import annotations

import json
import os
import stat
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from blendwright.util.invisible_text import escape_invisible
from blendwright.util.no_follow import READ_PLAIN
from blendwright.values.errors import EnvironmentUnfit

# The environment variable for another directory, which both sides read.
DIRECTORY = "BLENDWRIGHT_WINDOWS"
PROTOCOL = 1
MAX_FILE_BYTES = 16_384
# The largest process id of any system, and the largest start time in seconds that a float holds exactly.
MAX_PID = 1 << 31
MAX_START_SECONDS = 1 << 53
MAX_LINE_CHARACTERS = 300


@dataclass(frozen=True, slots=True)
class OpenWindow:
    """A Blender that a person has open, as it describes itself."""

    pid: int
    blender: str
    python: str
    binary: str
    file: str
    socket: str | None
    port: int | None
    token: str
    started: float

    @property
    def series(self) -> str:
        return ".".join(self.blender.split(".")[:2])

    @property
    def name(self) -> str:
        """A description of the window for people."""
        if self.file:
            file = Path(self.file).name
        else:
            file = "not saved yet"
        return one_line(f"Blender {self.blender}, pid {self.pid}, {file}")


def one_line(text: str) -> str:
    """Return text from a window as one safe, shortened line for messages."""
    line = escape_invisible(" ".join(text[: 4 * MAX_LINE_CHARACTERS].split()))
    if len(line) <= MAX_LINE_CHARACTERS:
        return line
    return f"{line[: MAX_LINE_CHARACTERS - 1]}…"


def windows_directory() -> Path:
    """Return the directory of the windows' files, which may not exist."""
    configured = os.environ.get(DIRECTORY)
    if configured:
        return Path(configured)
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    if runtime:
        return Path(runtime) / "blendwright" / "windows"
    return Path(tempfile.gettempdir()) / f"blendwright-{_user()}" / "windows"


def open_windows() -> list[OpenWindow]:
    """Return the living windows, newest first. Raises EnvironmentUnfit when other users could write to the
    directory.
    """
    directory = windows_directory()
    try:
        entries = sorted(directory.glob("*.json"))
        _require_own(directory)
        if directory.parent.name.startswith("blendwright"):  # if Blendwright created it
            _require_own(directory.parent)
    except FileNotFoundError:
        return []
    return sorted(_read_all(entries), key=lambda window: window.started, reverse=True)


def window_of(pid: int) -> OpenWindow | None:
    return next((window for window in open_windows() if window.pid == pid), None)


def _read_all(entries: list[Path]) -> Iterator[OpenWindow]:
    for path in entries:
        window = _read(path)
        if window is None or path.stem != f"{window.pid:d}":
            continue
        if _is_running(window.pid):
            yield window
        else:
            path.unlink(missing_ok=True)
            path.with_suffix(".sock").unlink(missing_ok=True)


def _read(path: Path) -> OpenWindow | None:
    """Return the window that the file describes, or None for an invalid or incomplete file."""
    try:
        # Open without following links or waiting for pipes.
        with os.fdopen(os.open(path, READ_PLAIN), "rb") as file:
            info = os.fstat(file.fileno())
            if not stat.S_ISREG(info.st_mode) or not _is_own(info):
                return None
            data: object = json.loads(file.read(MAX_FILE_BYTES))
    except (OSError, ValueError, RecursionError):
        return None
    if isinstance(data, dict):
        fields = cast("dict[str, Any]", data)
    else:
        fields = {}
    match fields:
        case {
            "protocol": int(protocol), "pid": int(pid), "blender": str(blender), "python": str(python),
            "binary": str(binary), "file": str(file_name), "token": str(token), "started": float() | int() as started,
        } if protocol == PROTOCOL and 0 < pid < MAX_PID and 0 <= started < MAX_START_SECONDS:  # fmt: skip
            socket = fields.get("socket")
            port = fields.get("port")
            if not isinstance(socket, str) and not (isinstance(port, int) and 0 < port < 1 << 16):
                return None
            if not isinstance(socket, str):
                socket = None
            if not isinstance(port, int):
                port = None
            return OpenWindow(pid, blender, python, binary, file_name, socket, port, token, float(started))
        case _:
            return None


def _require_own(directory: Path) -> None:
    info = directory.lstat()
    if not stat.S_ISDIR(info.st_mode) or not _is_own(info):
        message = f"other users can write to {directory}, so Blendwright does not trust its content"
        cure = f"Remove the directory and connect again, or set {DIRECTORY} to a directory that only you can use."
        raise EnvironmentUnfit(message, cure=cure)


def _is_own(info: os.stat_result) -> bool:
    return os.name != "posix" or (info.st_uid == os.getuid() and not info.st_mode & 0o077)


def _is_running(pid: int) -> bool:
    """Return True if the process may be running. On Windows always True: signal 0 would be Ctrl-C there, and a
    closed window does not answer.
    """
    if os.name != "posix":
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _user() -> str:
    if os.name == "posix":
        return str(os.getuid())
    return os.environ.get("USERNAME", "user")
