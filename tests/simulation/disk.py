"""The disk of a simulated world: it is full, or fails, when the seed says so, and forgets what was not synced when the power is cut.

SQLite writes through a file system of ours; our own files go through `os.write` and `os.fsync`. Nothing is ever synced in earnest. Killing
a process is a copy of its files as they are; cutting the power is a copy in which everything that was written after the last sync
of a file is there, or is not, or is there in part, and in which a name that was not synced may be missing.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any, BinaryIO
from unittest.mock import patch

import apsw

from blendwright.engine.code import sandbox_run as isolated_code
from blendwright.engine.files import scratch as scratch_files
from blendwright.util.no_follow import copy
from simulation.world import World

NAME = "simulated"
SECTOR = 512
NOTE = "audit.head"
# Lost with the process: who is next makes its own.
NOT_KEPT = ("*-shm",)


def _nobody(where: str) -> None:
    raise AssertionError("nobody has said what a kill is")


class Disk:
    """Holds for one workspace at a time."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.writes_left: int | None = None
        """So many writes and syncs are possible before the disk refuses; None while it has room."""
        self.kill_at_write: int | None = None
        self.copies_left: int | None = None
        """The disk refuses one copy of a file, to or from the scratch of a worker: the one after so many."""
        self.full: type[apsw.Error] = apsw.FullError
        self._unsynced: dict[str, tuple[bytes, list[tuple[int, bytes]]]] = {}
        self._synced_files: set[tuple[int, int]] = set()
        self._durable_names: dict[tuple[int, int], set[str]] = {}
        self._notes: dict[tuple[int, int], list[bytes]] = {}
        """What files said that are written in place, from what is on the disk for certain on."""
        self.on_kill: Callable[[str], None] = _nobody

    # ------------------------------------------------------------------ what is written

    def count(self) -> None:
        """Before a write or a sync. Raises what a disk raises that is full, and goes on to do so."""
        if self._world.dead:
            return
        if self.kill_at_write is not None:
            self.kill_at_write -= 1
            if self.kill_at_write <= 0:
                self.kill_at_write = None
                self.on_kill("in the middle of a transaction")
                raise OSError(errno.EIO, "the process is dead")
        if self.writes_left is not None:
            self.writes_left -= 1
            if self.writes_left <= 0:
                self.writes_left = 1
                self._world.struck["full"] += 1
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def _copy(self, source: BinaryIO, target: BinaryIO) -> None:
        if self.copies_left is not None and not self._world.dead:
            self.copies_left -= 1
            if self.copies_left <= 0:
                self.copies_left = None
                self._world.struck["full"] += 1
                self._world.struck["no room for a copy"] += 1
                self._world.say("no room for a copy")
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        copy(source, target)

    def note_write(self, path: str, data: bytes, offset: int) -> None:
        if path not in self._unsynced:
            self._unsynced[path] = (Path(path).read_bytes(), [])
        self._unsynced[path][1].append((offset, data))

    def note_sync(self, path: str) -> None:
        self._unsynced.pop(path, None)

    def _write(self, descriptor: int, data: Any) -> int:
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            self.count()
        return self._real_write(descriptor, data)

    def _pwrite(self, descriptor: int, data: Any, offset: int) -> int:
        info = os.fstat(descriptor)
        versions = self._notes.setdefault((info.st_dev, info.st_ino), [os.pread(descriptor, info.st_size, 0)])
        versions.append(bytes(data))
        return self._real_pwrite(descriptor, data, offset)

    def _fsync(self, descriptor: int) -> None:
        self.count()
        info = os.fstat(descriptor)
        versions = self._notes.get((info.st_dev, info.st_ino))
        if versions:
            del versions[:-1]
        if stat.S_ISDIR(info.st_mode):
            self._durable_names[info.st_dev, info.st_ino] = set(os.listdir(descriptor))
        else:
            self._synced_files.add((info.st_dev, info.st_ino))

    # ------------------------------------------------------------------ what is left

    def survive(self, workspace: Path, to: Path, *, power_cut: bool) -> None:
        """The files of a workspace, as whoever comes next finds them."""
        shutil.copytree(workspace, to, ignore=shutil.ignore_patterns(*NOT_KEPT, "worker-*"))
        if power_cut:
            self._forget(workspace, to)

    def _forget(self, workspace: Path, to: Path) -> None:
        chance = self._world.chance
        for path, (base, writes) in sorted(self._unsynced.items()):
            copy = to / Path(path).relative_to(workspace)
            if copy.exists():
                copy.write_bytes(self._partly(base, writes))
        note, info = to / NOTE, (workspace / NOTE).stat() if (workspace / NOTE).exists() else None
        versions = () if info is None else self._notes.get((info.st_dev, info.st_ino), ())
        if versions:
            # Its one block is written whole: any version since the last sync may be what is left.
            self._world.struck["note"] += 1
            note.write_bytes(chance.choice(versions))
        checkpoints = workspace / "checkpoints"
        durable = self._names(checkpoints)
        for file in sorted(checkpoints.iterdir()) if checkpoints.is_dir() else ():
            info, copy = file.stat(), to / "checkpoints" / file.name
            if (info.st_dev, info.st_ino) not in self._synced_files:
                copy.write_bytes(copy.read_bytes()[: chance.randrange(info.st_size + 1)])
            if file.name not in durable and chance.random() < 0.5:
                copy.unlink()
        if "journal.db" not in self._names(workspace) and chance.random() < 0.5:
            for copy in to.glob("journal.db*"):
                copy.unlink()

    def forget_exports(self, directory: Path) -> None:
        """The power is cut: of files outside the workspace, too, only what was synced is there for certain."""
        durable = self._names(directory)
        for file in sorted(directory.glob("*.stl")):
            info = file.stat()
            if (info.st_dev, info.st_ino) not in self._synced_files:
                file.write_bytes(file.read_bytes()[: self._world.chance.randrange(info.st_size + 1)])
                self._synced_files.add((info.st_dev, info.st_ino))
            if file.name not in durable and self._world.chance.random() < 0.5:
                file.unlink()
        info = directory.stat()
        self._durable_names[info.st_dev, info.st_ino] = {path.name for path in directory.iterdir()}

    def _names(self, directory: Path) -> set[str]:
        if not directory.is_dir():
            return set()
        info = directory.stat()
        return self._durable_names.get((info.st_dev, info.st_ino), set())

    def _partly(self, base: bytes, writes: list[tuple[int, bytes]]) -> bytes:
        """Any of the writes, the last of them torn at a sector."""
        chance, content = self._world.chance, bytearray(base)
        share = chance.choice((0.0, 0.5, 1.0))
        for offset, data in writes:
            if chance.random() >= share:
                continue
            part = data[: chance.randrange(len(data) // SECTOR + 1) * SECTOR] if chance.random() < 0.3 else data
            content.extend(bytes(max(0, offset + len(part) - len(content))))
            content[offset : offset + len(part)] = part
        return bytes(content)

    def settled(self, workspace: Path) -> None:
        """The power is back: what is there now is all that there is, and all of it is durable."""
        self._unsynced.clear()
        self._notes.clear()
        for directory in (workspace, workspace / "checkpoints"):
            if directory.is_dir():
                info = directory.stat()
                self._durable_names[info.st_dev, info.st_ino] = {path.name for path in directory.iterdir()}
                for path in directory.iterdir():
                    self._synced_files.add((path.stat().st_dev, path.stat().st_ino))

    @contextlib.contextmanager
    def installed(self) -> Generator[None]:
        self._real_write, self._real_pwrite = os.write, os.pwrite
        files = _Files(self)
        with (
            patch.object(os, "write", self._write),
            patch.object(os, "pwrite", self._pwrite),
            patch.object(os, "fsync", self._fsync),
            patch.object(isolated_code, "copy", self._copy),
            patch.object(scratch_files, "copy", self._copy),
        ):
            try:
                yield
            finally:
                files.unregister()


class _File(apsw.VFSFile):
    def __init__(self, disk: Disk, name: Any, flags: Any) -> None:
        super().__init__("unix", name, flags)
        self._disk = disk
        self._path = "" if name is None else str(name.filename() if isinstance(name, apsw.URIFilename) else name)

    def xWrite(self, data: Any, offset: int) -> None:
        self._count()
        self._disk.note_write(self._path, bytes(data), offset)
        inner: Any = super()
        inner.xWrite(data, offset)

    def xSync(self, flags: int) -> None:
        self._count()
        self._disk.note_sync(self._path)

    def xLock(self, level: int) -> None:
        try:
            super().xLock(level)
        except apsw.IOError as error:
            # Whoever only reads cannot lock it for writing, which SQLite tries at the end and does without.
            raise apsw.BusyError("opened for reading") from error

    def xTruncate(self, newsize: int) -> None:
        super().xTruncate(newsize)
        self._disk.note_sync(self._path)

    def _count(self) -> None:
        try:
            self._disk.count()
        except OSError as error:
            raise self._disk.full("the simulated disk refuses") from error


class _Files(apsw.VFS):
    def __init__(self, disk: Disk) -> None:
        super().__init__(NAME, "unix", makedefault=True)
        self._disk = disk

    def xOpen(self, name: Any, flags: Any) -> _File:
        return _File(self._disk, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:
        super().xDelete(filename, syncdir)
        self._disk.note_sync(filename)
