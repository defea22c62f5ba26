"""The files in checkpoints/. Every name there belongs to a complete, synced file with exactly the content that its
name promises.

This module knows no rows. A file without a row is garbage. A row without its file cannot exist, because the file is
durable first. A workspace may come from a stranger: the module never enters the directory through a link, and removes
only files whose names it would give.
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
# The error numbers for a missing file, and for a link, a pipe or a directory with its name.
_NO_FILE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EINVAL, errno.ENXIO)
_SAVED = re.compile(r"[0-9a-f]{64}\.blend")
_PARTIAL = re.compile(rf"[0-9]+-[0-9]+-[0-9a-f]{{8}}{re.escape(PART)}")


class CheckpointFiles:
    """The checkpoint directory of a workspace. Without `durable`, no method waits for the disk."""

    def __init__(self, workspace: Path, *, durable: bool = True) -> None:
        self.directory = workspace / DIRECTORY
        self._durable = durable

    def create(self) -> None:
        """Create the directory if it is missing.

        Raise EnvironmentUnfit if its path is a link, whose target is outside the workspace.
        """
        if self.directory.is_symlink():
            raise EnvironmentUnfit(
                f"{self.directory} is a link, but checkpoints must be stored in the workspace itself",
                cure="Replace the link with a directory. Copy the files of its target into it if they belong to this workspace.",
            )
        if not self.directory.is_dir():
            self.directory.mkdir(mode=DIRECTORY_MODE, parents=True)
            self._sync(self.directory.parent)

    def stage(self, saved: Path, scene_hash: str, fence: int) -> StagedCheckpoint:
        """Copy a saved scene into the directory.

        Never move it: the process that wrote it may still have the file open and write to it.
        """
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
        """Raise JournalError unless the staged file exists with its size.

        Call it before a row names the file; staging hashed the content.
        """
        path = self.directory / staged.file
        if staged.file != file_name(staged.sha256) or not path.is_file() or path.stat().st_size != staged.size:
            raise JournalError(f"the checkpoint {staged.file} is not in {self.directory}: stage it first")

    def sound(self, sha256: str, size: int) -> bool:
        """Return whether the file exists, is a regular file, and has the content that its row promises."""
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
        """Yield the content of a file in chunks.

        Raise JournalError after the last chunk if the content does not match the hash.
        """
        path = self.directory / file_name(sha256)
        digest = hashlib.sha256()
        with translate_errors(f"reading {path}"), self._opened(path.name) as file:
            while chunk := file.read(CHUNK):
                digest.update(chunk)
                yield chunk
        if digest.hexdigest() != sha256:
            raise JournalError(f"the checkpoint {path.name} does not have the content that its name promises")

    def _opened(self, name: str) -> BinaryIO:
        return open_file(self._resolved_directory / name)

    @property
    def _resolved_directory(self) -> Path:
        """The path of the directory, resolved except for its last part, so that only the directory itself can be a
        link.
        """
        return self.directory.parent.resolve() / DIRECTORY

    def names(self) -> dict[str, int]:
        """Return the size of every checkpoint and every partial copy by file name."""
        return self._sizes_of(_SAVED) | self._sizes_of(_PARTIAL)

    def _sizes_of(self, pattern: re.Pattern[str]) -> dict[str, int]:
        sizes: dict[str, int] = {}
        with os.scandir(self.directory) as entries:
            for entry in entries:
                if not pattern.fullmatch(entry.name):
                    continue
                status = entry.stat(follow_symlinks=False)
                if stat.S_ISREG(status.st_mode):
                    sizes[entry.name] = status.st_size
        return sizes

    def clear_parts(self) -> tuple[str, ...]:
        """Remove the partial copies that a crashed process left, and return their names."""
        parts = sorted(self._sizes_of(_PARTIAL))
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
        """Remove one file. If a link replaced the directory in the meantime, remove nothing outside the workspace."""
        with open_directory(self._resolved_directory) as directory, contextlib.suppress(FileNotFoundError):
            os.unlink(name, dir_fd=directory)

    def _sync(self, directory: Path) -> None:
        if self._durable:
            sync_directory(directory)


def _copy(source: Path, target: Path, *, durable: bool) -> tuple[str, int]:
    """Copy and sync a file, and return its SHA-256 and size.

    Refuse a link as the source, because it could lead anywhere.
    """
    digest = hashlib.sha256()
    size = 0
    descriptor = os.open(source, os.O_RDONLY | os.O_NOFOLLOW)
    with os.fdopen(descriptor, "rb") as source_file, _private(target) as target_file:
        while chunk := source_file.read(CHUNK):
            _write_all(target_file.fileno(), chunk)
            crash_points.reach("checkpoint.half_copied")
            digest.update(chunk)
            size += len(chunk)
        crash_points.reach("checkpoint.before_file_sync")
        if durable:
            os.fsync(target_file.fileno())
    return digest.hexdigest(), size


def _private(path: Path) -> io.FileIO:
    """Create a file that only its owner may read."""
    return io.FileIO(path, "w", opener=lambda name, flags: os.open(name, flags, FILE_MODE))


def _write_all(descriptor: int, data: bytes) -> None:
    """Write all bytes, retrying short writes: a nearly full disk accepts a part and refuses only the next write."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
