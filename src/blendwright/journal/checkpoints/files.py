"""The files in checkpoints/: written so that a name in there is a whole, synced file with exactly the content the name says.

Knows nothing of rows. A file without a row is garbage; a row without its file cannot come to be, because the file is durable first.
A workspace may come from somebody else: the directory is never entered through a link, and only files with names as they are given here are
removed.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import io
import os
import re
import secrets
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from blendwright.journal.file_modes import DIRECTORY_MODE, FILE_MODE
from blendwright.journal.rows import file_name
from blendwright.journal.store import sync_directory, translate_errors
from blendwright.records.checkpoints import StagedCheckpoint
from blendwright.util import crash_points
from blendwright.util.no_follow import open_directory, open_file
from blendwright.values.errors import EnvironmentUnfit, JournalError

DIRECTORY = "checkpoints"
PART = ".part"
CHUNK = 1 << 20
# There is no file, or a link, a pipe or a directory in its place.
_NO_FILE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EINVAL, errno.ENXIO)
_SAVED = re.compile(r"[0-9a-f]{64}\.blend")
_BEGUN = re.compile(rf"[0-9]+-[0-9]+-[0-9a-f]{{8}}{re.escape(PART)}")


class CheckpointFiles:
    """The checkpoint directory of a workspace. Where it is not `durable`, nothing waits for the disk."""

    def __init__(self, workspace: Path, *, durable: bool = True) -> None:
        self.directory = workspace / DIRECTORY
        self._durable = durable

    def create(self) -> None:
        """Raises EnvironmentUnfit where a link is in its place: what is behind that is not the workspace's own."""
        if self.directory.is_symlink():
            raise EnvironmentUnfit(
                f"{self.directory} is a link, and checkpoints are kept in the workspace itself",
                cure="Put a directory in its place, with the files of the one that it leads to, if they are this workspace's.",
            )
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
        """Whether the file is there, is a plain one, and has the content that its row says."""
        path = self.directory / file_name(sha256)
        with translate_errors(f"reading {path}"):
            try:
                file = self._opened(path.name)
            except OSError as error:
                if error.errno in _NO_FILE:
                    return False
                raise
            with file:
                if os.fstat(file.fileno()).st_size != size:
                    return False
                digest = hashlib.sha256()
                while chunk := file.read(CHUNK):
                    digest.update(chunk)
                return digest.hexdigest() == sha256

    def content(self, sha256: str) -> Iterator[bytes]:
        """What the file of this hash holds, in pieces; raises JournalError behind the last one where it is something else."""
        path = self.directory / file_name(sha256)
        digest = hashlib.sha256()
        with translate_errors(f"reading {path}"), self._opened(path.name) as file:
            while chunk := file.read(CHUNK):
                digest.update(chunk)
                yield chunk
        if digest.hexdigest() != sha256:
            raise JournalError(f"the checkpoint {path.name} does not have the content that its name says")

    def _opened(self, name: str) -> BinaryIO:
        return open_file(self._itself / name)

    @property
    def _itself(self) -> Path:
        """The directory by a path that is free of links, unless it is one itself."""
        return self.directory.parent.resolve() / DIRECTORY

    def names(self) -> dict[str, int]:
        """Every file of ours and its size."""
        return self._listed(_SAVED) | self._listed(_BEGUN)

    def _listed(self, pattern: re.Pattern[str]) -> dict[str, int]:
        with os.scandir(self.directory) as entries:
            listed = [
                (entry.name, entry.stat(follow_symlinks=False)) for entry in entries if pattern.fullmatch(entry.name)
            ]
        return {name: status.st_size for name, status in listed if stat.S_ISREG(status.st_mode)}

    def clear_parts(self) -> tuple[str, ...]:
        """Remove what a process that died had begun to copy."""
        parts = sorted(self._listed(_BEGUN))
        for name in parts:
            crash_points.reach("clean.before_unlink")
            self._unlink(name)
        return tuple(parts)

    def remove(self, names: Sequence[str], *, durably: bool = True) -> None:
        for name in names:
            crash_points.reach("gc.before_unlink")
            self._unlink(name)
            crash_points.reach("gc.after_unlink")
        if names and durably:
            self._sync(self.directory)

    def _unlink(self, name: str) -> None:
        """Whatever has come in the place of the directory meanwhile, only a file in the workspace itself is removed."""
        with open_directory(self._itself) as directory, contextlib.suppress(FileNotFoundError):
            os.unlink(name, dir_fd=directory)

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
