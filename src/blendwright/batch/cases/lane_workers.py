"""The warm Blender of a lane, lent to one workspace after another. Starting one takes seconds; giving it another scene does not."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Self

from blendwright.bridge.spawn import WorkerSettings
from blendwright.bridge.worker_source import WorkerSource
from blendwright.wire.remote_scene import RemoteScene
from blendwright.wire.worker_port import ReadableFile, WorkerPool


class LaneWorkers(WorkerSource):
    """As a source for whoever opens a workspace: the pool that it gives goes on after the workspace is closed. One workspace at a time."""

    def __init__(self, source: WorkerSource, scratch: Path, memory_mb: int, scratch_mb: int) -> None:
        settings = WorkerSettings(scratch_root=scratch, memory_mb=memory_mb, scratch_mb=scratch_mb)
        self._pool = source.open_pool(settings)
        self._lent = _LentPool(self._pool)

    @classmethod
    def from_text(cls, text: str) -> Self | None:
        return None

    def open_pool(self, settings: WorkerSettings, *, spares: int = 1) -> WorkerPool:
        return self._lent

    def worker(self) -> RemoteScene:
        """The Blender of this lane, started where there is none."""
        return self._lent.take()

    def pids(self) -> tuple[int, ...]:
        """Of the Blender that is running, where one is."""
        return self._lent.pids()

    def close(self) -> None:
        self._pool.close()


class _LentPool(WorkerPool):
    def __init__(self, pool: WorkerPool) -> None:
        self._pool = pool
        self._kept: RemoteScene | None = None
        self._readable: tuple[ReadableFile, ...] = ()
        self._started_with: tuple[ReadableFile, ...] = ()

    def take(self, *, bare: bool = False, seconds: float | None = None) -> RemoteScene:
        """The one that the workspace before had: whoever takes it gives it a scene, which leaves nothing of the last one.

        What a worker may read is fixed when it starts: where a workspace needs files, or fewer, it gets another worker."""
        if bare and self._readable:
            return self._pool.take(bare=True, seconds=seconds)
        if self._kept is not None and self._kept.alive and self._started_with == self._readable:
            return self._kept
        if self._kept is not None:
            self._kept.abandon()
        self._pool.allow(self._readable)
        self._kept, self._started_with = self._pool.take(seconds=seconds), self._readable
        return self._kept

    def pids(self) -> tuple[int, ...]:
        return () if self._kept is None or not self._kept.alive else (self._kept.profile.pid,)

    def warm(self) -> None:
        """A lane has one Blender; a lost one is replaced when the next is needed."""

    def allow(self, readable: Sequence[ReadableFile]) -> None:
        self._readable = tuple(readable)

    def close(self) -> None:
        """The workspace is closed, and the worker stays."""
