"""The engine for many machines: jobs are in PostgreSQL, and workers on any machine take them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass

from blendwright.batch.engines.engine import Engine, Job, LaneSettings, OnReport
from blendwright.fleet.address import Address
from blendwright.fleet.database import Database
from blendwright.fleet.job_queue import MAX_CASES_PER_JOB, JobQueue
from blendwright.fleet.worker import STALLED_AFTER, FleetSettings, FleetWorker, OnNote


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """The settings of the engine. `queue` is the queue for one Blender version and one set of tools.

    A submitter sets the location of the outputs and the number of cases per job; a worker sets its Blender."""

    queue: str
    outputs: str = ""
    cases_per_job: int = MAX_CASES_PER_JOB
    blender: str | None = None
    stalled_after: float = STALLED_AFTER
    once: bool = False


class PostgresEngine(Engine):
    """An engine whose `submit` and `work` run in different processes: one submits a batch, and any number of workers run it."""

    def __init__(self, address: Address, settings: EngineSettings, note: OnNote = lambda _: None) -> None:
        self._address = address
        self._settings = settings
        self._note = note
        self._worker: FleetWorker | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopped_early = False

    def submit(self, jobs: Iterable[Job]) -> None:
        settings, database = self._settings, Database(self._address)
        try:
            JobQueue(database).put(settings.queue, settings.outputs, jobs, settings.cases_per_job)
        finally:
            database.close()

    def work(self, lanes: LaneSettings, count: int, report: OnReport) -> None:
        settings = self._settings
        fleet = FleetSettings(lanes, count, settings.queue, settings.blender, settings.stalled_after, settings.once)
        asyncio.run(self._work(FleetWorker(self._address, fleet, report, self._note)))

    async def _work(self, worker: FleetWorker) -> None:
        self._loop, self._worker = asyncio.get_running_loop(), worker
        if not self._stopped_early:
            await worker.run()

    def stop(self, *, at_once: bool = False) -> None:
        self._stopped_early = True
        loop, worker = self._loop, self._worker
        if loop is not None and worker is not None and not loop.is_closed():
            loop.call_soon_threadsafe(lambda: worker.stop(at_once=at_once))
