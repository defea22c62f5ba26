"""The files in checkpoints/: written so that a name in there is a whole, synced file with exactly the content the name says.

Knows nothing of rows. A file without a row is garbage; a row without its file cannot come to be, because the file is durable first.
"""

from __future__ import annotations

import hashlib
import io
import os
import secrets
from collections.abc import Sequence
from pathlib import Path

from blendwright.journal.file_modes import DIRECTORY_MODE, FILE_MODE
from blendwright.journal.rows import file_name
from blendwright.journal.store import sync_directory, translate_errors
from blendwright.records.checkpoints import StagedCheckpoint
from blendwright.values import crash_points
from blendwright.values.errors import JournalError

DIRECTORY = "checkpoints"
PART = ".part"
CHUNK = 1 << 20


class CheckpointFiles:
    """The checkpoint directory of a workspace. Where it is not `durable`, nothing waits for the disk."""

    def __init__(self, workspace: Path, *, durable: bool = True) -> None:
        self.directory = workspace / DIRECTORY
        self._durable = durable

    def create(self) -> None:
        if not self.directory.is_dir():
            self.directory.mkdir(mode=DIRECTORY_MODE, parents=True)
            self._sync(self.directory.parent)

    def stage(self, saved: Path, scene_hash: str, fence: int) -> StagedCheckpoint:
        """Copy a saved scene in. Never move it: the process that wrote it may still hold the file open and write to it."""
        part = self.directory / f"{fence}-{os.getpid()}-{secrets.token_hex(4)}{PART}"
        with translate_errors(f"saving a checkpoint in {self.directory}"):
            crash_points.reach("checkpoint.before_copy")
            try:
                sha256, size = _copy(saved, part, durable=self._durable)
                crash_points.reach("checkpoint.before_rename")
                part.replace(self.directory / file_name(sha256))
            except BaseException:
                part.unlink(missing_ok=True)
                raise
            crash_points.reach("checkpoint.before_directory_sync")
            self._sync(self.directory)
        crash_points.reach("checkpoint.durable")
        return StagedCheckpoint(file_name(sha256), sha256, size, scene_hash)

    def require(self, staged: StagedCheckpoint) -> None:
        """Before a row may name it; its content was hashed while it was written."""
        path = self.directory / staged.file
        if staged.file != file_name(staged.sha256) or not path.is_file() or path.stat().st_size != staged.size:
            raise JournalError(f"the checkpoint {staged.file} is not in {self.directory}: stage it first")

    def sound(self, sha256: str, size: int) -> bool:
        """Whether the file is there and has the content that its row says."""
        path = self.directory / file_name(sha256)
        with translate_errors(f"reading {path}"):
            if not path.is_file() or path.stat().st_size != size:
                return False
            with path.open("rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest() == sha256

    def names(self) -> dict[str, int]:
        """Every file and its size."""
        return {path.name: path.stat().st_size for path in self.directory.iterdir() if path.is_file()}

    def clear_parts(self) -> tuple[str, ...]:
        """Remove what a process that died had begun to copy."""
        parts = [path for path in self.directory.glob(f"*{PART}") if path.is_file()]
        for path in parts:
            crash_points.reach("clean.before_unlink")
            path.unlink(missing_ok=True)
        return tuple(sorted(path.name for path in parts))

    def remove(self, names: Sequence[str], *, durably: bool = True) -> None:
        for name in names:
            crash_points.reach("gc.before_unlink")
            (self.directory / name).unlink(missing_ok=True)
            crash_points.reach("gc.after_unlink")
        if names and durably:
            self._sync(self.directory)

    def _sync(self, directory: Path) -> None:
        if self._durable:
            sync_directory(directory)


def _copy(source: Path, target: Path, *, durable: bool) -> tuple[str, int]:
    """Copy, hash on the way, sync. A link in place of the source is refused: it could lead anywhere."""
    digest = hashlib.sha256()
    size = 0
    reading = os.open(source, os.O_RDONLY | os.O_NOFOLLOW)
    with os.fdopen(reading, "rb") as inward, _private(target) as outward:
        while chunk := inward.read(CHUNK):
            _write_all(outward.fileno(), chunk)
            crash_points.reach("checkpoint.half_copied")
            digest.update(chunk)
            size += len(chunk)
        crash_points.reach("checkpoint.before_file_sync")
        if durable:
            os.fsync(outward.fileno())
    return digest.hexdigest(), size


def _private(path: Path) -> io.FileIO:
    """A new file that only its owner may read."""
    return io.FileIO(path, "w", opener=lambda name, flags: os.open(name, flags, FILE_MODE))


def _write_all(descriptor: int, data: bytes) -> None:
    """A disk that is nearly full takes a part and refuses only the next write."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
