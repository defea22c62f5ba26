"""The private directory in which a core finds this window, with a socket and a note file for each Blender.

This module uses only the standard library."""

import json
import os
import secrets
import socket
import stat
import tempfile
from pathlib import Path
from typing import Any

PROTOCOL = 1
VARIABLE = "BLENDWRIGHT_WINDOWS"
TOKEN_BYTES = 32
# The longest path of a socket in bytes, without the terminating null. macOS has the lowest limit of all systems.
MAX_SOCKET_PATH_BYTES = 103


class NotPrivate(Exception):
    """An error for a directory that other users own or can access."""


def directory() -> Path:
    """Return the directory for the notes. Core and window derive the same path from the environment."""
    configured = os.environ.get(VARIABLE)
    if configured:
        return Path(configured)
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    if runtime:
        return Path(runtime) / "blendwright" / "windows"
    if hasattr(os, "getuid"):
        user = os.getuid()
    else:
        user = os.environ.get("USERNAME", "user")
    return Path(tempfile.gettempdir()) / f"blendwright-{user}" / "windows"


def prepare(path: Path) -> None:
    """Create the missing directories of the path, accessible only to their owner.

    Raises NotPrivate if another user owns or can access a directory that Blendwright uses."""
    missing = [part for part in (path, *path.parents) if not part.exists()]
    for part in reversed(missing):
        part.mkdir(mode=0o700, exist_ok=True)
    for part in {path, *missing, *_own_parents(path)}:
        _require_private(part)


def _own_parents(path: Path) -> list[Path]:
    """Return the parent directory if an earlier window may have created it: `<tempdir>/blendwright-<uid>` or `<runtime>/blendwright`."""
    if path.parent.name.startswith("blendwright"):
        return [path.parent]
    return []


def _require_private(part: Path) -> None:
    status = part.lstat()
    if not stat.S_ISDIR(status.st_mode):
        raise NotPrivate(f"{part} is not a directory")
    if hasattr(os, "getuid"):
        if status.st_uid != os.getuid():
            raise NotPrivate(f"{part} belongs to another user")
        if stat.S_IMODE(status.st_mode) & 0o077:
            raise NotPrivate(f"other users can access {part}; set its mode to 0700")


def is_running(pid: int) -> bool:
    """Return True if the process exists, and always on systems without a harmless way to test that."""
    if os.name != "posix":
        return True
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    return True


def remove_dead(path: Path) -> None:
    """Remove the notes and sockets of Blender processes that no longer run."""
    for note in path.glob("*.json"):
        if note.stem.isdecimal() and not is_running(int(note.stem)):
            note.unlink(missing_ok=True)
            note.with_suffix(".sock").unlink(missing_ok=True)


class Rendezvous:
    """The listening socket of this window, and the note file that names it."""

    def __init__(self, path: Path) -> None:
        prepare(path)
        remove_dead(path)
        self.token = secrets.token_hex(TOKEN_BYTES)
        self._note = path / f"{os.getpid()}.json"
        self._socket_path = path / f"{os.getpid()}.sock"
        self._facts: dict[str, Any] = {}
        self.listener = self._listen()

    def _listen(self) -> socket.socket:
        fits = len(os.fsencode(self._socket_path)) <= MAX_SOCKET_PATH_BYTES
        if hasattr(socket, "AF_UNIX") and os.name == "posix" and fits:
            self._socket_path.unlink(missing_ok=True)
            listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            # The directory is already private, so no other user can connect before the mode is set.
            listener.bind(str(self._socket_path))
            self._socket_path.chmod(0o600)
        else:
            listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
            listener.bind(("127.0.0.1", 0))
        listener.listen(4)
        return listener

    def write(self, facts: dict[str, Any]) -> None:
        """Write the note atomically: address, token, and all facts of this and earlier calls. Only the owner can read it."""
        self._facts = {**self._facts, **facts}
        socket_path = port = None
        if self.listener.family == socket.AF_INET:
            port = self.listener.getsockname()[1]
        else:
            socket_path = str(self._socket_path)
        note = {
            "protocol": PROTOCOL,
            "pid": os.getpid(),
            "socket": socket_path,
            "port": port,
            "token": self.token,
            **self._facts,
        }

        temporary = self._note.with_suffix(f".{secrets.token_hex(4)}.tmp")
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                json.dump(note, file)
            temporary.replace(self._note)
        except OSError:
            temporary.unlink(missing_ok=True)
            raise

    def close(self) -> None:
        self._note.unlink(missing_ok=True)
        self.listener.close()
        self._socket_path.unlink(missing_ok=True)
