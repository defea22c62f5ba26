"""Watches a process that runs foreign code: how much memory and disk it uses, beyond what the kernel bounds by itself."""

from __future__ import annotations

import contextlib
import os
import stat
import threading
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import Self

from blendwright.values.faults import Fault
from blendwright.values.findings import Finding
from blendwright.wire.worker_port import ChildProcess

# Memory and threads grow faster than anything else, and are read in no time.
INTERVAL = 0.02
# A look at the disk takes as long as there are entries to count: it must not keep anybody from looking at the memory.
DISK_INTERVAL = 0.05
# Memory in use, unlike the address space that the confinement bounds.
RESIDENT_MB = 4096
# Files, directories and whatever else has a name.
MOST_ENTRIES = 10_000
# Blender, numpy and Cycles start some for each core; nothing that bounds them for one process alone holds for root as well.
MOST_THREADS = 256 + 8 * (os.cpu_count() or 1)
BLOCK = 512


class ResourceGuard:
    """Kills the process when it takes too much, for the length of a `with` block."""

    def __init__(self, process: ChildProcess, scratch_mb: int) -> None:
        self._process = process
        self._scratch = scratch_mb << 20
        self._resident = RESIDENT_MB << 20
        self._done = threading.Event()
        self._excess: str | None = None
        looks = ((self._memory_excess, INTERVAL), (self._disk_excess, DISK_INTERVAL))
        self._threads = [
            threading.Thread(target=self._watch, args=look, name=f"blendwright-watch-{process.pid}", daemon=True)
            for look in looks
        ]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done.set()
        for thread in self._threads:
            thread.join()

    def finding(self) -> Finding | None:
        """Why it was killed, where it was."""
        if self._excess is None:
            return None
        return Finding(Fault.LIMIT_EXCEEDED, f"the code took too much: {self._excess}", "/code", "Ask for less.")

    def _watch(self, find_excess: Callable[[], str | None], interval: float) -> None:
        while not self._done.wait(interval):
            excess = find_excess()
            if excess is not None:
                # The first reason stands: what is found in a process that is ending is none.
                self._excess = self._excess or excess
                self._done.set()
                self._process.kill()

    def _memory_excess(self) -> str | None:
        memory, threads = usage(self._process.pid)
        if memory > self._resident:
            return f"more than {self._resident >> 20} MB of memory"
        if threads > MOST_THREADS:
            return f"more than {MOST_THREADS} threads"
        return None

    def _disk_excess(self) -> str | None:
        used = 0
        try:
            entries = chain(entries_below(self._process.scratch), _unnamed_files(self._process.pid))
            for number, info in enumerate(entries):
                used += info.st_blocks * BLOCK
                if number > MOST_ENTRIES:
                    return f"more than {MOST_ENTRIES} files and directories"
        except UncountableDirectory as error:
            return str(error)
        if used > self._scratch:
            return f"more than {self._scratch >> 20} MB of disk"
        if _hides_memory(self._process.pid):
            return "shared memory, or a file without a name, that nobody can count"
        return None


def usage(pid: int) -> tuple[int, int]:
    """Memory in use, swapped out or not, in bytes, and the number of threads; 0 where the system does not tell."""
    fields = dict[str, str]()
    with contextlib.suppress(OSError):
        text = Path(f"/proc/{pid}/status").read_text(errors="replace")
        fields = dict(line.split(":", 1) for line in text.splitlines() if ":" in line)

    def number(name: str) -> int:
        return int(fields.get(name, "0").split()[0])

    return (number("VmRSS") + number("VmSwap")) << 10, number("Threads")


class UncountableDirectory(Exception):
    """A directory cannot be looked into, because nobody may or because it lies too deep: what it holds cannot be counted."""


def entries_below(directory: Path) -> Iterator[os.stat_result]:
    """Everything in a directory, directories too; links are not followed. Raises UncountableDirectory. Not os.walk, which a deep nest
    breaks."""
    waiting = [str(directory)]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    with contextlib.suppress(FileNotFoundError):
                        yield entry.stat(follow_symlinks=False)
        except (FileNotFoundError, NotADirectoryError):
            continue  # gone since it was seen
        except OSError as error:
            raise UncountableDirectory(f"a directory that cannot be looked into ({error.strerror})") from error


def _unnamed_files(pid: int) -> Iterator[os.stat_result]:
    """Open files that have no name any more, or never had one."""
    with contextlib.suppress(OSError):
        for entry in os.scandir(f"/proc/{pid}/fd"):
            with contextlib.suppress(OSError):
                info = entry.stat()
                if stat.S_ISREG(info.st_mode) and info.st_nlink == 0:
                    yield info


def _hides_memory(pid: int) -> bool:
    """Whether it maps something without a name that it has not open: a page of it keeps all of it, on the disk or in memory, and nobody
    can say how much that is. Shared memory is such a file too. Blender has none."""
    mapped: set[tuple[int, int]] = set()
    with contextlib.suppress(OSError, ValueError):
        for line in Path(f"/proc/{pid}/maps").read_text(errors="replace").splitlines():
            if line.endswith(" (deleted)"):
                _, _, _, device, inode = line.split(maxsplit=5)[:5]
                major, minor = (int(part, 16) for part in device.split(":"))
                mapped.add((os.makedev(major, minor), int(inode)))
    if not mapped:
        return False
    return not mapped <= {(info.st_dev, info.st_ino) for info in _unnamed_files(pid)}
