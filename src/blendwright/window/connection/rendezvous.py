"""The windows of this user that offer a connection: each has left a file in a directory that nobody else may read.

What the extension writes there is in `blender/extension/rendezvous.py`. What a killed Blender left is removed by whoever finds it.
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

# Names the directory where it is not the usual one, for both sides.
DIRECTORY = "BLENDWRIGHT_WINDOWS"
PROTOCOL = 1
MOST_BYTES = 16_384
# As large as systems have them; and seconds that a float holds.
LARGEST_PID = 1 << 31
LARGEST_TIME = 1 << 53
LONGEST_LINE = 300


@dataclass(frozen=True, slots=True)
class OpenWindow:
    """One Blender that a person has open, as it describes itself."""

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
        """For people: which window it is."""
        if self.file:
            file = Path(self.file).name
        else:
            file = "not saved yet"
        return one_line(f"Blender {self.blender}, pid {self.pid}, {file}")


def one_line(text: str) -> str:
    """What a window says, as a message repeats it."""
    line = escape_invisible(" ".join(text[: 4 * LONGEST_LINE].split()))
    if len(line) <= LONGEST_LINE:
        return line
    return f"{line[: LONGEST_LINE - 1]}…"


def windows_directory() -> Path:
    """Where windows leave their files; it need not be there."""
    named = os.environ.get(DIRECTORY)
    if named:
        return Path(named)
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    if runtime:
        return Path(runtime) / "blendwright" / "windows"
    return Path(tempfile.gettempdir()) / f"blendwright-{_user()}" / "windows"


def open_windows() -> list[OpenWindow]:
    """Those that are alive, the newest first. Raises EnvironmentUnfit where others could have written there."""
    directory = windows_directory()
    try:
        entries = sorted(directory.glob("*.json"))
        _require_own(directory)
        if directory.parent.name.startswith("blendwright"):  # where it is ours by name
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
            for left in (path, path.with_suffix(".sock")):
                left.unlink(missing_ok=True)


def _read(path: Path) -> OpenWindow | None:
    """None for what is no such file, or is being replaced at this moment."""
    try:
        # What is a link or a pipe is neither followed nor waited for.
        with os.fdopen(os.open(path, READ_PLAIN), "rb") as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode) or not _is_own(found):
                return None
            data: object = json.loads(file.read(MOST_BYTES))
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
        } if protocol == PROTOCOL and 0 < pid < LARGEST_PID and 0 <= started < LARGEST_TIME:  # fmt: skip
            socket, port = fields.get("socket"), fields.get("port")
            if not isinstance(socket, str) and not (isinstance(port, int) and 0 < port < 1 << 16):
                return None
            return OpenWindow(
                pid, blender, python, binary, file_name,
                socket if isinstance(socket, str) else None, port if isinstance(port, int) else None, token, float(started),
            )  # fmt: skip
        case _:
            return None


def _require_own(directory: Path) -> None:
    found = directory.lstat()
    if not stat.S_ISDIR(found.st_mode) or not _is_own(found):
        message = f"{directory} is not a directory that only you can use, so nothing in it is believed"
        raise EnvironmentUnfit(
            message, cure=f"Remove it and connect again, or set {DIRECTORY} to a directory of your own."
        )


def _is_own(found: os.stat_result) -> bool:
    return os.name != "posix" or (found.st_uid == os.getuid() and not found.st_mode & 0o077)


def _is_running(pid: int) -> bool:
    """On Windows signal 0 is Ctrl-C, so nobody is asked there: a window that is gone does not answer."""
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
