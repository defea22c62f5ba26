"""Where a core finds this window: a private directory with a socket and a note for each Blender. The standard library only."""

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
# What the kernel allows, with the null behind it; macOS has the least.
LONGEST_SOCKET_PATH = 103


class NotPrivate(Exception):
    """The directory could be somebody else's."""


def directory() -> Path:
    """Where the notes are; core and window look in the same place."""
    named = os.environ.get(VARIABLE)
    if named:
        return Path(named)
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    if runtime:
        return Path(runtime) / "blendwright" / "windows"
    if hasattr(os, "getuid"):
        user = os.getuid()
    else:
        user = os.environ.get("USERNAME", "user")
    return Path(tempfile.gettempdir()) / f"blendwright-{user}" / "windows"


def prepare(path: Path) -> None:
    """Make what is missing, for its owner only. Raises NotPrivate where a part that should be ours is not."""
    missing = [part for part in (path, *path.parents) if not part.exists()]
    for part in reversed(missing):
        part.mkdir(mode=0o700, exist_ok=True)
    for part in {path, *missing, *_ours_above(path)}:
        _require_private(part)


def _ours_above(path: Path) -> list[Path]:
    """`<tempdir>/blendwright-<uid>` and `<runtime>/blendwright`, which an earlier window may have made."""
    if path.parent.name.startswith("blendwright"):
        return [path.parent]
    return []


def _require_private(part: Path) -> None:
    found = part.lstat()
    if not stat.S_ISDIR(found.st_mode):
        raise NotPrivate(f"{part} is no directory")
    if hasattr(os, "getuid"):
        if found.st_uid != os.getuid():
            raise NotPrivate(f"{part} belongs to somebody else")
        if stat.S_IMODE(found.st_mode) & 0o077:
            raise NotPrivate(f"{part} is open to others; it must have mode 0700")


def is_running(pid: int) -> bool:
    """Whether a process is there; where the system has no harmless way to ask, it is taken to be."""
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
    """What a killed Blender has left."""
    for note in path.glob("*.json"):
        if note.stem.isdecimal() and not is_running(int(note.stem)):
            note.unlink(missing_ok=True)
            note.with_suffix(".sock").unlink(missing_ok=True)


class Rendezvous:
    """The socket on which this window listens, and its note."""

    def __init__(self, path: Path) -> None:
        prepare(path)
        remove_dead(path)
        self.token = secrets.token_hex(TOKEN_BYTES)
        self._note = path / f"{os.getpid()}.json"
        self._socket_path = path / f"{os.getpid()}.sock"
        self._facts: dict[str, Any] = {}
        self.listener = self._listen()

    def _listen(self) -> socket.socket:
        fits = len(os.fsencode(self._socket_path)) <= LONGEST_SOCKET_PATH
        if hasattr(socket, "AF_UNIX") and os.name == "posix" and fits:
            self._socket_path.unlink(missing_ok=True)
            listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            # The directory is private already; nobody else can come in between.
            listener.bind(str(self._socket_path))
            self._socket_path.chmod(0o600)
        else:
            listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
            listener.bind(("127.0.0.1", 0))
        listener.listen(4)
        return listener

    def write(self, facts: dict[str, Any]) -> None:
        """Write the note, whole or not at all: pid, Blender, file and token, for its owner only."""
        self._facts = {**self._facts, **facts}
        is_unix = self.listener.family != socket.AF_INET
        note = {
            "protocol": PROTOCOL,
            "pid": os.getpid(),
            "socket": str(self._socket_path) if is_unix else None,
            "port": None if is_unix else self.listener.getsockname()[1],
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
