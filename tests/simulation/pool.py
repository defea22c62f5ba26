"""Where simulated workers come from: some do not start, and a pool that is closed gives none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from blendwright.bridge.spawn import WorkerSettings
from blendwright.bridge.worker_source import WorkerSource
from blendwright.values.errors import DeadlinePassed, EnvironmentUnfit, WorkerLost
from blendwright.wire.worker_port import ReadableFile, WorkerPool
from simulation.workers import SimulatedWorker
from simulation.world import World


class SimulatedPool(WorkerPool):
    def __init__(self, world: World, settings: WorkerSettings) -> None:
        self._world = world
        self._root = settings.scratch_root
        self.workers: list[SimulatedWorker] = []
        self._closed = False

    def take(self, *, bare: bool = False, seconds: float | None = None) -> SimulatedWorker:
        if self._closed:
            raise WorkerLost("the pool of workers is closed")
        if self._world.happens(self._world.rates.no_start):
            self._world.say("no worker starts")
            if seconds is not None and self._world.happens(0.5):
                raise DeadlinePassed("no Blender process was ready in time")
            raise EnvironmentUnfit("Blender does not start", cure="Try again.")
        worker = SimulatedWorker(self._world, self._root, 1000 + len(self.workers))
        self.workers.append(worker)
        return worker

    def warm(self) -> None:
        pass

    def allow(self, readable: Sequence[ReadableFile]) -> None:
        pass

    def close(self) -> None:
        self._closed = True
        for worker in self.workers:
            worker.close()


class SimulatedSource(WorkerSource):
    """Keeps the pool that it opened last, so that the oracle can look into the worker."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.pool: SimulatedPool | None = None

    @classmethod
    def from_text(cls, text: str) -> Self | None:
        return None

    def open_pool(self, settings: WorkerSettings, *, spares: int = 1) -> SimulatedPool:
        self.pool = SimulatedPool(self._world, settings)
        return self.pool
