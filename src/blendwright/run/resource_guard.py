"""Watches a process that runs foreign code: how much memory and disk it uses, beyond what the kernel bounds by itself."""

from __future__ import annotations

import contextlib
import os
import stat
import threading
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import Self

from blendwright.values.faults import Fault
from blendwright.values.findings import Finding
from blendwright.wire.worker_port import ChildProcess

INTERVAL = 0.05
# Memory in use, unlike the address space that the confinement bounds.
RESIDENT_MB = 4096
MOST_FILES = 10_000
BLOCK = 512


class ResourceGuard:
    """Kills the process when it takes too much, for the length of a `with` block."""

    def __init__(self, process: ChildProcess, scratch_mb: int) -> None:
        self._process = process
        self._scratch = scratch_mb << 20
        self._resident = RESIDENT_MB << 20
        self._done = threading.Event()
        self._excess: str | None = None
        self._thread = threading.Thread(target=self._watch, name=f"blendwright-watch-{process.pid}", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done.set()
        self._thread.join()

    def finding(self) -> Finding | None:
        """Why it was killed, where it was."""
        if self._excess is None:
            return None
        return Finding(Fault.LIMIT_EXCEEDED, f"the code took too much: {self._excess}", "/code", "Ask for less.")

    def _watch(self) -> None:
        while not self._done.wait(INTERVAL):
            self._excess = self._find_excess()
            if self._excess is not None:
                self._process.kill()
                return

    def _find_excess(self) -> str | None:
        if resident(self._process.pid) > self._resident:
            return f"more than {self._resident >> 20} MB of memory"
        used = 0
        try:
            for number, info in enumerate(chain(files_below(self._process.scratch), _unnamed_files(self._process.pid))):
                used += info.st_blocks * BLOCK
                if number > MOST_FILES:
                    return f"more than {MOST_FILES} files"
        except UncountableDirectory as error:
            return str(error)
        return f"more than {self._scratch >> 20} MB of disk" if used > self._scratch else None


def resident(pid: int) -> int:
    """Memory in use, in bytes; 0 where the system does not tell."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError, ValueError):
        return 0


class UncountableDirectory(Exception):
    """A directory cannot be looked into, because nobody may or because it lies too deep: what it holds cannot be counted."""


def files_below(directory: Path) -> Iterator[os.stat_result]:
    """Everything in a directory that is none itself; links are not followed. Raises Unseen. Not os.walk, which a deep nest breaks."""
    waiting = [str(directory)]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                        continue
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
