"""Pictures of scenes, stored in the workspace by the scene's hash, because equal scenes look equal in every commit.

A workspace may belong to another user. Therefore the cache follows no symbolic link, reads only regular files, and removes only files
whose names it chose itself."""

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
# Room for about eight thousand small pictures.
MAX_BYTES = 64 * 1024 * 1024
# The cache checks its total size once in this number of writes.
WRITES_PER_CHECK = 64
# No picture of the console is larger.
MAX_PICTURE_BYTES = 4 * 1024 * 1024
# Pictures kept in memory if the workspace is read-only. The page asks for a picture right after the event that announces it.
MAX_PICTURES_IN_MEMORY = 64
# The name of a picture, or of a temporary file.
OWN_NAME = re.compile(r"[0-9a-f]{40}\.webp|\.[0-9a-f]{16}")
NOTHING = b""


class PictureCache:
    """The pictures of one workspace, for use by any thread. `workspace` is an absolute path without symbolic links.

    If the workspace cannot be written, the cache keeps the latest pictures in memory."""

    def __init__(self, workspace: Path) -> None:
        self._directory = workspace / DIRECTORY
        self._written = 0
        self._held: dict[str, bytes] = {}
        self._lock = threading.Lock()

    def read(self, kind: str, scene_hash: str) -> bytes | None:
        """Return a picture, NOTHING for an empty scene, or None if no picture is stored."""
        name = file_name(kind, scene_hash)
        try:
            with open_directory(self._directory) as directory, open_file_in(directory, name) as opened:
                picture = opened.read(MAX_PICTURE_BYTES + 1)
        except OSError:
            return self._held.get(name)
        if len(picture) > MAX_PICTURE_BYTES:
            return self._held.get(name)
        return picture

    def write(self, kind: str, scene_hash: str, picture: bytes | None) -> None:
        """Store a picture, or None for an empty scene."""
        name, content = file_name(kind, scene_hash), picture or NOTHING
        try:
            with open_directory(self._directory, make=0o700) as directory:
                _write(directory, name, content)
                self._written += 1
                if self._written % WRITES_PER_CHECK == 1:
                    _drop_oldest(directory)
        except OSError:
            with self._lock:
                self._held[name] = content
                while len(self._held) > MAX_PICTURES_IN_MEMORY:
                    del self._held[next(iter(self._held))]


def file_name(kind: str, scene_hash: str) -> str:
    """Return the name of a picture's file."""
    return hashlib.sha256(f"{kind}:{scene_hash}".encode()).hexdigest()[:40] + ".webp"


def _write(directory: int, name: str, content: bytes) -> None:
    part = f".{secrets.token_hex(8)}"
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600, dir_fd=directory)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
    os.replace(part, name, src_dir_fd=directory, dst_dir_fd=directory)


def _drop_oldest(directory: int) -> None:
    """Remove the oldest pictures until the rest fits into MAX_BYTES. Ignore files of other owners."""
    with contextlib.suppress(OSError):
        descriptor = os.open(".", os.O_RDONLY | os.O_DIRECTORY, dir_fd=directory)
        try:
            with os.scandir(descriptor) as entries:
                names = [entry.name for entry in entries if OWN_NAME.fullmatch(entry.name)]
        finally:
            os.close(descriptor)

        files = [(os.stat(name, dir_fd=directory, follow_symlinks=False), name) for name in names]
        files.sort(key=lambda file: -file[0].st_mtime)
        total = 0
        for status, name in files:
            if not stat.S_ISREG(status.st_mode):
                continue
            total += status.st_size
            if total > MAX_BYTES:
                os.unlink(name, dir_fd=directory)
