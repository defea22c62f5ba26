"""Pictures of scenes, kept in the workspace by the hash of the scene: a scene looks the same whichever commit has it.

A workspace may be somebody else's: no link is followed to where they are kept, what is no plain file is not read, and nothing is removed
but what has a name that is given here."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import secrets
import stat
import threading
from pathlib import Path

from blendwright.util.no_follow import open_directory, open_file_in

DIRECTORY = "pictures"
# About eight thousand small ones.
MOST_BYTES = 64 * 1024 * 1024
# One in so many writes looks how large it all is.
LOOK_EVERY = 64
# None of ours is larger.
LARGEST = 4 * 1024 * 1024
# Of those that cannot be written so many are in memory: a page is told that a picture is there, and asks for it then.
MOST_HELD = 64
# Of a picture, and of one that is being written.
OWN_NAME = re.compile(r"[0-9a-f]{40}\.webp|\.[0-9a-f]{16}")
NOTHING = b""


class PictureCache:
    """From any thread. `workspace` is an absolute path without links. Where nothing can be written, the last ones are kept in memory."""

    def __init__(self, workspace: Path) -> None:
        self._directory = workspace / DIRECTORY
        self._written = 0
        self._held: dict[str, bytes] = {}
        self._lock = threading.Lock()

    def read(self, kind: str, scene_hash: str) -> bytes | None:
        """NOTHING for a scene in which there is nothing to see, None for one that nobody has looked at."""
        name = file_name(kind, scene_hash)
        try:
            with open_directory(self._directory) as directory, open_file_in(directory, name) as opened:
                found = opened.read(LARGEST + 1)
        except OSError:
            found = None
        if found is None or len(found) > LARGEST:
            return self._held.get(name)
        return found

    def write(self, kind: str, scene_hash: str, picture: bytes | None) -> None:
        name, content = file_name(kind, scene_hash), picture or NOTHING
        try:
            with open_directory(self._directory, make=0o700) as directory:
                _write(directory, name, content)
                self._written += 1
                if self._written % LOOK_EVERY == 1:
                    _drop_oldest(directory)
        except OSError:
            with self._lock:
                self._held = dict([*self._held.items(), (name, content)][-MOST_HELD:])


def file_name(kind: str, scene_hash: str) -> str:
    """Under which a picture is kept."""
    return hashlib.sha256(f"{kind}:{scene_hash}".encode()).hexdigest()[:40] + ".webp"


def _write(directory: int, name: str, content: bytes) -> None:
    part = f".{secrets.token_hex(8)}"
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600, dir_fd=directory)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
    os.replace(part, name, src_dir_fd=directory, dst_dir_fd=directory)


def _drop_oldest(directory: int) -> None:
    """Of our own files, beyond what may be kept."""
    with contextlib.suppress(OSError):
        listed = os.open(".", os.O_RDONLY | os.O_DIRECTORY, dir_fd=directory)
        try:
            with os.scandir(listed) as entries:
                names = [entry.name for entry in entries if OWN_NAME.fullmatch(entry.name)]
        finally:
            os.close(listed)
        found = [(os.stat(name, dir_fd=directory, follow_symlinks=False), name) for name in names]
        size = 0
        for about, name in sorted(found, key=lambda one: -one[0].st_mtime):
            if not stat.S_ISREG(about.st_mode):
                continue
            size += about.st_size
            if size > MOST_BYTES:
                os.unlink(name, dir_fd=directory)
