"""The warm Blenders of a batch's worker process, lent to one workspace after another.

Starting a Blender takes seconds; giving a running one another scene does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from blendwright.bridge.spawn import WorkerSettings
from blendwright.bridge.worker_source import WorkerSource
from blendwright.wire.remote_scene import RemoteScene
from blendwright.wire.worker_port import ReadableFile, WorkerPool


@dataclass(frozen=True, slots=True)
class _WarmBlender:
    """A running Blender with the files that it may read, which are fixed when it starts."""

    scene: RemoteScene
    readable: tuple[ReadableFile, ...]


class LaneWorkers(WorkerSource):
    """A source of Blenders that outlive the workspaces which borrow them.

    One workspace may be open at a time. Between workspaces, every Blender that is still alive is idle and waits for the next one.
    """

    def __init__(self, source: WorkerSource, scratch: Path, memory_mb: int, scratch_mb: int) -> None:
        settings = WorkerSettings(scratch_root=scratch, memory_mb=memory_mb, scratch_mb=scratch_mb)
        self._pool = source.open_pool(settings)
        self._idle: list[_WarmBlender] = []
        self._lent: list[_WarmBlender] = []

    @classmethod
    def from_text(cls, text: str) -> Self | None:
        return None

    def open_pool(self, settings: WorkerSettings, *, spares: int = 1) -> WorkerPool:
        return _LentPool(self)

    def worker(self) -> RemoteScene:
        """Return an idle Blender without lending it. Start one if there is none."""
        for blender in self._idle:
            if blender.scene.alive:
                return blender.scene
        blender = self._start(())
        self._idle.append(blender)
        return blender.scene

    def lend(self, readable: tuple[ReadableFile, ...], seconds: float | None) -> RemoteScene:
        """Return an idle Blender that may read exactly these files. Start one if there is none."""
        for blender in self._idle:
            if blender.scene.alive and blender.readable == readable:
                self._idle.remove(blender)
                self._lent.append(blender)
                return blender.scene

        # The idle Blenders are of no use to this workspace. Ending them keeps their number small.
        for blender in self._idle:
            blender.scene.abandon()
        self._idle.clear()

        blender = self._start(readable, seconds)
        self._lent.append(blender)
        return blender.scene

    def start_bare(self, seconds: float | None) -> RemoteScene:
        """Start a Blender that may read no external file. It has held no other scene and never becomes idle."""
        return self._pool.take(bare=True, seconds=seconds)

    def take_back(self) -> None:
        """Make all lent Blenders idle that are still alive."""
        self._idle += [blender for blender in self._lent if blender.scene.alive]
        self._lent.clear()

    def pids(self) -> tuple[int, ...]:
        """Return the process ids of the Blenders that are running, lent or idle."""
        return tuple(blender.scene.profile.pid for blender in (*self._lent, *self._idle) if blender.scene.alive)

    def close(self) -> None:
        self._pool.close()

    def _start(self, readable: tuple[ReadableFile, ...], seconds: float | None = None) -> _WarmBlender:
        self._pool.allow(readable)
        return _WarmBlender(self._pool.take(seconds=seconds), readable)


class _LentPool(WorkerPool):
    """The pool of one workspace. Closing it gives the Blenders back instead of ending them."""

    def __init__(self, workers: LaneWorkers) -> None:
        self._workers = workers
        self._readable: tuple[ReadableFile, ...] = ()

    def take(self, *, bare: bool = False, seconds: float | None = None) -> RemoteScene:
        """Return a Blender that is not in use. It may still hold the scene of an earlier workspace, which the caller replaces."""
        if bare:
            return self._workers.start_bare(seconds)
        return self._workers.lend(self._readable, seconds)

    def warm(self) -> None:
        """Do nothing: a worker process starts a second Blender only when a step needs it."""

    def allow(self, readable: Sequence[ReadableFile]) -> None:
        self._readable = tuple(readable)

    def close(self) -> None:
        self._workers.take_back()
