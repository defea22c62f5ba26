"""Reads from outside what a served workspace costs: memory, descriptors and threads of core and workers, and what lies on the disk."""

from __future__ import annotations

import contextlib
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

PAGE_MB = os.sysconf("SC_PAGE_SIZE") / 2**20


@dataclass(frozen=True, slots=True)
class Sample:
    """One look at a server at rest. `seconds` is the time that clients have worked so far, without their rests; `operations` counts what
    they have had answered in it."""

    seconds: float
    operations: int
    commits: int
    core_mb: float
    core_anonymous_mb: float
    """Of the core's memory what it made itself: without pages of files, which the system takes and gives as it likes."""
    core_descriptors: int
    core_threads: int
    workers: int
    worker_mb: float
    """Of the largest worker: the one that holds the scene, or runs code on it."""
    worker_descriptors: int
    scratch_entries: int
    scratch_mb: float
    journal_mb: float
    checkpoints_mb: float

    @property
    def counts(self) -> tuple[int, ...]:
        """What tells a server at rest from one at work."""
        return (self.core_descriptors, self.core_threads, self.workers, self.worker_descriptors, self.scratch_entries)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def sample(core: int, workspace: Path, *, seconds: float, operations: int, commits: int) -> Sample:
    workers = _children(core)
    entries, scratch = _below(workspace / "scratch")
    return Sample(
        round(seconds, 2), operations, commits, _memory_mb(core), _anonymous_mb(core), _descriptors(core),
        len(_names(f"/proc/{core}/task")), len(workers), max(map(_memory_mb, workers), default=0.0),
        max(map(_descriptors, workers), default=0), entries, scratch,
        _below(workspace, "journal.db*")[1], _below(workspace / "checkpoints")[1],
    )  # fmt: skip


def _memory_mb(pid: int) -> float:
    with contextlib.suppress(OSError, ValueError, IndexError):
        return round(int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE_MB, 2)
    return 0.0


def _anonymous_mb(pid: int) -> float:
    with contextlib.suppress(OSError, ValueError, IndexError, StopIteration):
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        return round(next(int(line.split()[1]) for line in lines if line.startswith("Anonymous:")) / 1024, 2)
    return 0.0


def _descriptors(pid: int) -> int:
    return len(_names(f"/proc/{pid}/fd"))


def _names(directory: str) -> list[str]:
    with contextlib.suppress(OSError):
        return [path.name for path in Path(directory).iterdir()]
    return []


def _children(pid: int) -> list[int]:
    """Processes that a process has started, by whichever of its threads."""
    found: list[int] = []
    for thread in _names(f"/proc/{pid}/task"):
        with contextlib.suppress(OSError):
            found += map(int, Path(f"/proc/{pid}/task/{thread}/children").read_text().split())
    return found


def _below(directory: Path, pattern: str = "**/*") -> tuple[int, float]:
    """How many entries there are, and what the files among them hold; some may be gone before they are looked at."""
    entries, size = 0, 0
    with contextlib.suppress(OSError):
        for path in directory.glob(pattern):
            entries += 1
            with contextlib.suppress(OSError):
                info = path.lstat()
                size += info.st_size if not path.is_dir() else 0
    return entries, round(size / 2**20, 3)
