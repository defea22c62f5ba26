"""The engine of one machine: several worker processes, each with one warm Blender. The engine replaces a process that dies.

The engine reads jobs when it needs them and does not store them. The table of results still contains the unfinished cases.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import chain

from blendwright.batch.engines.engine import Engine, Job, JobReport, LaneSettings, OnReport
from blendwright.batch.engines.lane_process import LaneProcess
from blendwright.values.errors import BlendwrightError, EnvironmentUnfit

# Number of waiting jobs among which the engine looks for one that shares a prefix with the last job of a worker process.
WINDOW = 256
# After this many failed starts in a row, the engine gives up.
MAX_FAILED_STARTS = 3


class LocalPool(Engine):
    """An engine that drives each worker process with a thread. `work` raises EnvironmentUnfit if worker processes cannot start."""

    def __init__(self, blender: str | None = None) -> None:
        self._blender = blender
        self._jobs: Iterator[Job] = iter(())
        self._changed = threading.Condition()
        self._waiting: deque[Job] = deque()
        self._running = 0
        self._feeding = False
        self._stopping = False
        self._lanes: set[LaneProcess] = set()
        self._errors: list[EnvironmentUnfit] = []

    def submit(self, jobs: Iterable[Job]) -> None:
        self._jobs = chain(self._jobs, jobs)

    def work(self, lanes: LaneSettings, count: int, report: OnReport) -> None:
        self._feeding = True
        feeder = threading.Thread(target=self._feed, name="blendwright-jobs", daemon=True)
        feeder.start()
        threads = [
            threading.Thread(target=self._drive, args=(lanes, report), name=f"blendwright-lane-{number}")
            for number in range(count)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        feeder.join()
        if self._errors:
            raise self._errors[0]

    def stop(self, *, at_once: bool = False) -> None:
        self._stop_lanes()
        if at_once:
            for lane in tuple(self._lanes):
                lane.stop_at_once()

    def _drive(self, settings: LaneSettings, report: OnReport) -> None:
        lane: LaneProcess | None = None
        failed_starts = 0
        last: Job | None = None
        try:
            while (job := self._next(last)) is not None:
                if lane is None:
                    lane = self._start(settings)
                answer = lane.do(job)
                if answer is None or "error" in answer:
                    self._end(lane)
                    lane, last = None, None
                    if answer is not None:
                        failed_starts += 1
                        if failed_starts >= MAX_FAILED_STARTS:
                            raise EnvironmentUnfit(answer["error"], cure=answer["cure"])
                    self._return(job)
                    report(JobReport(job, "lost"))
                    continue
                failed_starts, last = 0, job
                self._finish()
                report(JobReport(job, answer["end"], answer["row"], answer["retire"]))
                if answer["end"] == "given_back":
                    break
                if answer["retire"]:
                    self._end(lane)
                    lane = None
        except EnvironmentUnfit as error:
            self._errors.append(error)
            self._stop_lanes()
        except BaseException:
            # Other threads wait for this one's job. Wake them, so that they end too.
            self._stop_lanes()
            raise
        finally:
            if lane is not None:
                self._end(lane)

    def _start(self, settings: LaneSettings) -> LaneProcess:
        lane = LaneProcess(settings, self._blender)
        self._lanes.add(lane)
        return lane

    def _end(self, lane: LaneProcess) -> None:
        lane.end()
        self._lanes.discard(lane)

    def _next(self, last: Job | None) -> Job | None:
        """Return the next job, or None if no further job can come.

        Prefer the job in the window that shares the longest prefix with the last job of this worker process."""
        with self._changed:
            # Wait while jobs are running, because a job comes back if its worker process dies.
            while not self._waiting and (self._feeding or self._running) and not self._stopping:
                self._changed.wait()
            if not self._waiting or self._stopping:
                return None
            best = 0
            if last is not None and last.prefixes:
                last_prefixes = set(last.prefixes)
                shared_counts = [len(last_prefixes.intersection(job.prefixes)) for job in self._waiting]
                best = shared_counts.index(max(shared_counts))
            job = self._waiting[best]
            del self._waiting[best]
            self._running += 1
            self._changed.notify_all()
            return job

    def _return(self, job: Job) -> None:
        with self._changed:
            self._waiting.appendleft(job)
            self._running -= 1
            self._changed.notify_all()

    def _finish(self) -> None:
        with self._changed:
            self._running -= 1
            self._changed.notify_all()

    def _stop_lanes(self) -> None:
        with self._changed:
            self._stopping = True
            self._changed.notify_all()

    def _feed(self) -> None:
        """Read jobs ahead in a separate thread, because finding their shared prefixes takes time."""
        try:
            for job in self._jobs:
                with self._changed:
                    while len(self._waiting) >= WINDOW and not self._stopping:
                        self._changed.wait()
                    if self._stopping:
                        return
                    self._waiting.append(job)
                    self._changed.notify_all()
        except BlendwrightError as error:
            self._errors.append(EnvironmentUnfit(error.message, cure=error.cure))
            self._stop_lanes()
        finally:
            with self._changed:
                self._feeding = False
                self._changed.notify_all()
