"""A worker of a fleet. Procrastinate fetches and ends jobs and sends heartbeats; worker processes of this machine run the cases.

Each worker also watches the other workers: it queues the jobs of a worker again whose heartbeat stopped.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import queue
import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any

from procrastinate import App, JobContext
from procrastinate.exceptions import ConnectorException
from procrastinate.jobs import DeleteJobCondition
from procrastinate.worker import Worker

from blendwright.batch.engines.engine import LaneSettings, OnReport
from blendwright.fleet.address import Address
from blendwright.fleet.database import Database
from blendwright.fleet.job_queue import TASK, CaseJob, JobQueue
from blendwright.fleet.lane_slot import LaneSlot
from blendwright.fleet.patient_connector import PatientConnector
from blendwright.values.errors import EnvironmentUnfit, Refusal

# A function that receives messages for the user, such as a lost database or jobs that this worker cannot take.
OnNote = Callable[[str], None]
HEARTBEATS = 6
"""Heartbeats within the time after which a worker counts as lost."""
STALLED_AFTER = 60.0
PATIENCE = 7 * 86_400.0
"""Seconds that a running worker waits for its database."""
START_PATIENCE = 15.0
"""Seconds that a starting worker waits for its database. Short, because the address may be wrong."""
POLL_SECONDS = 5.0
"""Time between two looks at the queue if no notification arrives."""


@dataclass(frozen=True, slots=True)
class FleetSettings:
    """The settings of a worker. `stalled_after` must be the same for all workers of a fleet; with `once`, it ends when no job waits."""

    lanes: LaneSettings
    count: int
    queue: str
    blender: str | None = None
    stalled_after: float = STALLED_AFTER
    once: bool = False


class FleetWorker:
    """A worker that runs in a separate event loop. Call `stop` from that loop or from its signal handler."""

    def __init__(self, address: Address, settings: FleetSettings, report: OnReport, note: OnNote) -> None:
        self._settings = settings
        self._note = note
        # Long patience, because no other process can report the results of this worker.
        self._database = Database(address, patience=PATIENCE)
        self._queue = JobQueue(self._database)
        self._slots: queue.SimpleQueue[LaneSlot] = queue.SimpleQueue()
        lanes = replace(settings.lanes, queue=settings.queue)
        self._all_slots = [LaneSlot(lanes, settings.blender, report) for _ in range(settings.count)]
        for slot in self._all_slots:
            self._slots.put(slot)
        self._app = App(connector=PatientConnector(address, lambda why: note(f"the database is away, waiting: {why}")))
        self._app.task(name=TASK, pass_context=True)(self._run_cases)
        self._worker: Worker | None = None
        self._stopping = False
        self._running: set[int] = set()
        self._unknown: set[int] = set()
        self._elsewhere: dict[str, int] = {}
        self._error: Exception | None = None
        self._loop: asyncio.AbstractEventLoop

    async def run(self) -> None:
        """Run until `stop`, or with `once` until no job waits. Raise EnvironmentUnfit if this machine cannot run cases."""
        logging.getLogger("procrastinate").addHandler(logging.NullHandler())
        logging.getLogger("psycopg").addHandler(logging.NullHandler())
        self._loop = loop = asyncio.get_running_loop()
        # Ending a job that another worker has taken over fails in a task that no code awaits. Ignore that error.
        loop.set_exception_handler(lambda _loop, _context: None)
        loop.set_default_executor(ThreadPoolExecutor(self._settings.count + 4, thread_name_prefix="blendwright-fleet"))
        await self._open_database()
        try:
            async with self._app.open_async():
                watch_task = asyncio.create_task(self._watch_other_workers())
                try:
                    await self._work()
                finally:
                    watch_task.cancel()
                    with contextlib.suppress(asyncio.CancelledError):
                        await watch_task
        finally:
            for slot in self._all_slots:
                await asyncio.to_thread(slot.close)
            self._database.close()
        if self._error is not None:
            raise self._error

    async def _open_database(self) -> None:
        """Connect to the database, and wait a short time for it. Note a problem at once, and raise EnvironmentUnfit at the end."""
        deadline, is_noted = monotonic() + START_PATIENCE, False
        while True:
            try:
                await asyncio.to_thread(self._database.open)
                return
            except EnvironmentUnfit as error:
                if self._stopping or monotonic() > deadline:
                    raise
                if not is_noted:
                    self._note(f"{error.message}; trying again for {START_PATIENCE:g} s")
                    is_noted = True
            await asyncio.sleep(0.5)

    def stop(self, *, at_once: bool = False) -> None:
        """Stop after the running cases, or at once, which gives them back."""
        self._stopping = True
        if self._worker is not None:
            self._worker.stop()
        for slot in self._all_slots:
            slot.stop(at_once=at_once)

    async def _work(self) -> None:
        """Run Procrastinate's worker. Start it again under a new id if the fleet has removed the old one because it seemed dead."""
        settings = self._settings
        while not self._stopping:
            self._worker = Worker(
                self._app,
                queues=[settings.queue],
                concurrency=settings.count,
                wait=not settings.once,
                fetch_job_polling_interval=POLL_SECONDS,
                delete_jobs=DeleteJobCondition.ALWAYS,
                install_signal_handlers=False,
                update_heartbeat_interval=settings.stalled_after / HEARTBEATS,
                stalled_worker_timeout=settings.stalled_after,
            )
            try:
                await self._worker.run()
            except ConnectorException:
                await asyncio.sleep(1.0)
            else:
                if settings.once:
                    return

    def _run_cases(self, context: JobContext, **job_args: Any) -> None:
        """Run the cases of one job one after another in one worker process. Queue the unfinished ones again. Runs in a thread."""
        try:
            work = CaseJob.from_json(job_args)
        except Refusal as refusal:
            self._note(f"{refusal.message}. {refusal.cure}")
            return
        id = context.job.id or 0
        self._running.add(id)
        slot = self._slots.get()
        done, checked_at = 0, monotonic()
        try:
            while done < len(work.jobs) and not self._stopping:
                # Without heartbeats, for example while the process was stopped, this worker may have lost its job.
                if monotonic() - checked_at > self._settings.stalled_after / 2:
                    if not self._queue.holds(id):
                        self._note("this worker seemed dead, and another worker has taken over its job")
                        return
                    checked_at = monotonic()
                if not slot.do(work.jobs[done], work.outputs):
                    break
                done += 1
        except Exception as error:
            # Do not raise: Procrastinate would log the error and fetch the next job.
            self._error = self._error or error
            self._loop.call_soon_threadsafe(self.stop)
        finally:
            self._slots.put(slot)
            if done < len(work.jobs):
                self._queue.put_back(id, self._settings.queue, work.without(done))
            self._running.discard(id)

    async def _watch_other_workers(self) -> None:
        """Queue the jobs of lost workers again, and report jobs that this worker cannot take."""
        settings = self._settings
        manager = self._app.job_manager
        while True:
            # At a random time, so that the workers do not do this simultaneously.
            await asyncio.sleep(settings.stalled_after / 3 * random.uniform(0.5, 1.0))
            with contextlib.suppress(ConnectorException):
                stalled = await manager.get_stalled_jobs(task_name=TASK, seconds_since_heartbeat=settings.stalled_after)
                lost_ids = [job.id for job in stalled if job.id is not None]
                for id in [*lost_ids, *await self._orphaned_jobs()]:
                    if await asyncio.to_thread(self._queue.replace, id):
                        self._note("a worker is lost, and its cases are queued again")
                await self._note_other_queues()

    async def _orphaned_jobs(self) -> list[int]:
        """Return jobs that the queue assigned to this worker in an answer that got lost.

        A job also looks like this shortly before it begins. Therefore only jobs count that look like this twice."""
        if self._worker is None or self._worker.worker_id is None:
            return []
        assigned = await self._app.job_manager.list_jobs_async(status="doing", worker_id=self._worker.worker_id)
        unknown = {job.id for job in assigned if job.id is not None} - self._running
        seen_twice, self._unknown = unknown & self._unknown, unknown
        return sorted(seen_twice)

    async def _note_other_queues(self) -> None:
        job_counts = await asyncio.to_thread(self._queue.waiting_elsewhere, self._settings.queue)
        for name in job_counts.keys() - self._elsewhere.keys():
            self._note(
                f"{job_counts[name]} jobs wait in {name}, but this worker serves {self._settings.queue}: "
                "they need another Blender or other tools"
            )
        self._elsewhere = job_counts
