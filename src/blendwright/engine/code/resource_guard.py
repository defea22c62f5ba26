"""A guard for processes that run foreign code: it limits memory, threads and disk space beyond what the kernel
limits.
"""

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

# Seconds between checks of memory and threads, which grow fastest and are cheap to read.
MEMORY_INTERVAL_SECONDS = 0.02
# Seconds between checks of the disk. A check takes longer with more entries, so it has a thread of its own.
DISK_INTERVAL_SECONDS = 0.05
# Megabytes of memory in use; the confinement limits the address space separately.
RESIDENT_MB = 4096
# Entries in the scratch directory: files, directories and anything else with a name.
MOST_ENTRIES = 10_000
# Threads of one process. Blender, numpy and Cycles start several for each core. The kernel's limit for one process
# does not apply to root.
MOST_THREADS = 256 + 8 * (os.cpu_count() or 1)
BLOCK_BYTES = 512


class ResourceGuard:
    """A context manager that kills the process when it exceeds a limit while the block runs."""

    def __init__(self, process: ChildProcess, scratch_mb: int) -> None:
        self._process = process
        self._scratch = scratch_mb << 20
        self._resident = RESIDENT_MB << 20
        self._done = threading.Event()
        self._excess: str | None = None
        checks = ((self._memory_excess, MEMORY_INTERVAL_SECONDS), (self._disk_excess, DISK_INTERVAL_SECONDS))
        self._threads = [
            threading.Thread(target=self._watch, args=check, name=f"blendwright-watch-{process.pid}", daemon=True)
            for check in checks
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
        """Return the limit that the process exceeded, or None."""
        if self._excess is None:
            return None
        return Finding(Fault.LIMIT_EXCEEDED, f"the code used too much: {self._excess}", "/code", "Use less.")

    def _watch(self, find_excess: Callable[[], str | None], interval: float) -> None:
        while not self._done.wait(interval):
            excess = find_excess()
            if excess is not None:
                # Keep the first reason, because readings of an ending process are not reliable.
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
                used += info.st_blocks * BLOCK_BYTES
                if number > MOST_ENTRIES:
                    return f"more than {MOST_ENTRIES} files and directories"
        except UncountableDirectory as error:
            return str(error)
        if used > self._scratch:
            return f"more than {self._scratch >> 20} MB of disk"
        if _hides_memory(self._process.pid):
            return "shared memory or a file without a name, whose size cannot be measured"
        return None


def usage(pid: int) -> tuple[int, int]:
    """Return the memory in use (in bytes, including swap) and the number of threads. Both are 0 when the system
    does not report them.
    """
    fields: dict[str, str] = {}
    with contextlib.suppress(OSError):
        text = Path(f"/proc/{pid}/status").read_text(errors="replace")
        for line in text.splitlines():
            name, colon, value = line.partition(":")
            if colon:
                fields[name] = value

    def number(name: str) -> int:
        return int(fields.get(name, "0").split()[0])

    return (number("VmRSS") + number("VmSwap")) << 10, number("Threads")


class UncountableDirectory(Exception):
    """The error for a directory whose content cannot be counted, because it is not readable or lies too deep."""


def entries_below(directory: Path) -> Iterator[os.stat_result]:
    """Yield the status of everything below a directory, including directories, without following links.

    Raises UncountableDirectory. Does not use os.walk, which fails on deeply nested directories.
    """
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
            continue  # deleted since the listing
        except OSError as error:
            raise UncountableDirectory(f"a directory that cannot be read ({error.strerror})") from error


def _unnamed_files(pid: int) -> Iterator[os.stat_result]:
    """Yield the status of open files that have no name."""
    with contextlib.suppress(OSError):
        for entry in os.scandir(f"/proc/{pid}/fd"):
            with contextlib.suppress(OSError):
                info = entry.stat()
                if stat.S_ISREG(info.st_mode) and info.st_nlink == 0:
                    yield info


def _hides_memory(pid: int) -> bool:
    """Return True if the process maps a deleted file that it no longer has open. Such memory cannot be measured.

    One mapped page keeps the whole file, on disk or in memory. Shared memory is such a file too. Blender maps
    none.
    """
    mapped: set[tuple[int, int]] = set()
    with contextlib.suppress(OSError, ValueError):
        for line in Path(f"/proc/{pid}/maps").read_text(errors="replace").splitlines():
            if line.endswith(" (deleted)"):
                _, _, _, device, inode = line.split(maxsplit=5)[:5]
                major, _, minor = device.partition(":")
                mapped.add((os.makedev(int(major, 16), int(minor, 16)), int(inode)))
    if not mapped:
        return False
    return not mapped <= {(info.st_dev, info.st_ino) for info in _unnamed_files(pid)}
