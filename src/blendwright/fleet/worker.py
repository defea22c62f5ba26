"""A worker of a fleet: Procrastinate fetches jobs, keeps the heartbeat and ends them; lanes of this machine do their cases.

Beside that it looks after the others: jobs of workers whose heartbeat stopped are put into the queue anew.
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

# Is told what a person wants to know of a worker beside its cases: a database that is away, jobs that it cannot take.
OnNote = Callable[[str], None]
BEATS = 6
"""Heartbeats in the time after which a worker counts as lost."""
STALLED_AFTER = 60.0
PATIENCE = 7 * 86_400.0
START_PATIENCE = 15.0
"""Seconds that the database may be away when a worker starts: an address may be wrong, and who gave it wants to know."""
POLL_SECONDS = 5.0
"""How often the queue is asked although no notice came."""


@dataclass(frozen=True, slots=True)
class FleetSettings:
    """`stalled_after` must be the same in all workers of a fleet; `once` ends where nothing waits."""

    lanes: LaneSettings
    count: int
    queue: str
    blender: str | None = None
    stalled_after: float = STALLED_AFTER
    once: bool = False


class FleetWorker:
    """Run it in an event loop of its own; `stop` may be called from that loop or from a signal handler of it."""

    def __init__(self, address: Address, settings: FleetSettings, report: OnReport, note: OnNote) -> None:
        self._settings = settings
        self._note = note
        # A worker has time: whatever it does not say now, nobody else can say for it.
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
        self._trouble: Exception | None = None
        self._loop: asyncio.AbstractEventLoop

    async def run(self) -> None:
        """Until `stop`, or with `once` until nothing waits. Raises EnvironmentUnfit where this machine cannot do cases."""
        logging.getLogger("procrastinate").addHandler(logging.NullHandler())
        logging.getLogger("psycopg").addHandler(logging.NullHandler())
        self._loop = loop = asyncio.get_running_loop()
        # A job whose end could not be told, since it was taken away, leaves an error that nobody awaits.
        loop.set_exception_handler(lambda _loop, _context: None)
        loop.set_default_executor(ThreadPoolExecutor(self._settings.count + 4, thread_name_prefix="blendwright-fleet"))
        await self._open_database()
        try:
            async with self._app.open_async():
                looking_after = asyncio.create_task(self._look_after_others())
                try:
                    await self._work()
                finally:
                    looking_after.cancel()
                    with contextlib.suppress(asyncio.CancelledError):
                        await looking_after
        finally:
            for slot in self._all_slots:
                await asyncio.to_thread(slot.close)
            self._database.close()
        if self._trouble is not None:
            raise self._trouble

    async def _open_database(self) -> None:
        """A worker that is started while the database restarts waits a little; what is wrong is told at once. Raises EnvironmentUnfit."""
        ends, told = monotonic() + START_PATIENCE, False
        while True:
            try:
                await asyncio.to_thread(self._database.open)
                return
            except EnvironmentUnfit as error:
                if self._stopping or monotonic() > ends:
                    raise
                if not told:
                    self._note(f"{error.message}; trying again for {START_PATIENCE:g} s")
                    told = True
            await asyncio.sleep(0.5)

    def stop(self, *, at_once: bool = False) -> None:
        """After the cases that are under way, or at once, which gives them back."""
        self._stopping = True
        if self._worker is not None:
            self._worker.stop()
        for slot in self._all_slots:
            slot.stop(at_once=at_once)

    async def _work(self) -> None:
        """A worker that was thought dead has no entry any more: it begins again under another one."""
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
                update_heartbeat_interval=settings.stalled_after / BEATS,
                stalled_worker_timeout=settings.stalled_after,
            )
            try:
                await self._worker.run()
            except ConnectorException:
                await asyncio.sleep(1.0)
            else:
                if settings.once:
                    return

    def _run_cases(self, context: JobContext, **said: Any) -> None:
        """One job, in a thread: its cases one after another in one lane. What is left of it goes back into the queue."""
        try:
            work = CaseJob.from_json(said)
        except Refusal as refusal:
            self._note(f"{refusal.message}. {refusal.cure}")
            return
        id = context.job.id or 0
        self._running.add(id)
        slot = self._slots.get()
        done, looked = 0, monotonic()
        try:
            while done < len(work.jobs) and not self._stopping:
                # Time that passed without a heartbeat, as in a process that was stopped, may have cost this worker its job.
                if monotonic() - looked > self._settings.stalled_after / 2:
                    if not self._queue.holds(id):
                        self._note("this worker was thought dead: its job is with somebody else")
                        return
                    looked = monotonic()
                if not slot.do(work.jobs[done], work.outputs):
                    break
                done += 1
        except Exception as error:
            # A job ends here: Procrastinate would write the error to a log and fetch the next one.
            self._trouble = self._trouble or error
            self._loop.call_soon_threadsafe(self.stop)
        finally:
            self._slots.put(slot)
            if done < len(work.jobs):
                self._queue.put_back(id, self._settings.queue, work.without(done))
            self._running.discard(id)

    async def _look_after_others(self) -> None:
        settings = self._settings
        manager = self._app.job_manager
        while True:
            # Not all at the same time.
            await asyncio.sleep(settings.stalled_after / 3 * random.uniform(0.5, 1.0))
            with contextlib.suppress(ConnectorException):
                stalled = await manager.get_stalled_jobs(task_name=TASK, seconds_since_heartbeat=settings.stalled_after)
                lost = [job.id for job in stalled if job.id is not None]
                for id in [*lost, *await self._jobs_nobody_does()]:
                    if await asyncio.to_thread(self._queue.replace, id):
                        self._note("a worker is lost, and its cases were put into the queue again")
                await self._tell_what_waits_elsewhere()

    async def _jobs_nobody_does(self) -> list[int]:
        """Jobs that were given to this worker by an answer that it never got. They look so for a moment before they begin, too."""
        if self._worker is None or self._worker.worker_id is None:
            return []
        mine = await self._app.job_manager.list_jobs_async(status="doing", worker_id=self._worker.worker_id)
        unknown = {job.id for job in mine if job.id is not None} - self._running
        twice, self._unknown = unknown & self._unknown, unknown
        return sorted(twice)

    async def _tell_what_waits_elsewhere(self) -> None:
        elsewhere = await asyncio.to_thread(self._queue.waiting_elsewhere, self._settings.queue)
        for name in elsewhere.keys() - self._elsewhere.keys():
            self._note(
                f"{elsewhere[name]} jobs wait in {name}, which this worker ({self._settings.queue}) does not fit"
            )
        self._elsewhere = elsewhere
