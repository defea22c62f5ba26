"""Pictures of scenes, kept in the workspace by the hash of the scene: a scene looks the same whichever commit has it."""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
from pathlib import Path

DIRECTORY = "pictures"
# About eight thousand small ones.
MOST_BYTES = 64 * 1024 * 1024
# One in so many writes looks how large it all is.
LOOK_EVERY = 64
NOTHING = b""


class PictureCache:
    """From any thread. Where nothing can be written, every picture is made anew."""

    def __init__(self, workspace: Path) -> None:
        self._directory = workspace / DIRECTORY
        self._written = 0

    def read(self, kind: str, scene_hash: str) -> bytes | None:
        """NOTHING for a scene in which there is nothing to see, None for one that nobody has looked at."""
        try:
            return self._path(kind, scene_hash).read_bytes()
        except OSError:
            return None

    def write(self, kind: str, scene_hash: str, picture: bytes | None) -> None:
        with contextlib.suppress(OSError):
            self._directory.mkdir(mode=0o700, exist_ok=True)
            part = self._directory / f".{secrets.token_hex(8)}"
            descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(picture or NOTHING)
            part.replace(self._path(kind, scene_hash))
        self._written += 1
        if self._written % LOOK_EVERY == 1:
            self._drop_oldest()

    def _path(self, kind: str, scene_hash: str) -> Path:
        name = hashlib.sha256(f"{kind}:{scene_hash}".encode()).hexdigest()[:40]
        return self._directory / f"{name}.webp"

    def _drop_oldest(self) -> None:
        with contextlib.suppress(OSError):
            files = sorted(
                ((path.stat(), path) for path in self._directory.iterdir()), key=lambda one: -one[0].st_mtime
            )
            size = 0
            for about, path in files:
                size += about.st_size
                if size > MOST_BYTES:
                    path.unlink(missing_ok=True)
