"""The engine of one machine: N lanes, each a process with one warm Blender. A lane that dies is replaced, and its job goes to another.

Jobs are read as they are needed, and kept nowhere: what is not done is found again in the table of results.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable, Iterator

from blendwright.batch.engines.engine import Engine, Job, JobReport, LaneSettings, OnReport
from blendwright.batch.engines.lane_process import LaneProcess
from blendwright.values.errors import BlendwrightError, EnvironmentUnfit

# Jobs that are looked through for one that shares a prefix with the last one of a lane.
WINDOW = 256
# A lane that ends so often without having done a job is not going to do one.
MOST_FALSE_STARTS = 3


class LocalPool(Engine):
    """Each lane is driven by a thread here. Raises EnvironmentUnfit from `work` where lanes cannot be started."""

    def __init__(self, blender: str | None = None) -> None:
        self._blender = blender
        self._jobs: Iterator[Job] = iter(())
        self._changed = threading.Condition()
        self._waiting: deque[Job] = deque()
        self._running = 0
        self._feeding = False
        self._stopping = False
        self._lanes: set[LaneProcess] = set()
        self._trouble: list[EnvironmentUnfit] = []

    def submit(self, jobs: Iterable[Job]) -> None:
        before = self._jobs
        self._jobs = _chained(before, iter(jobs))

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
        if self._trouble:
            raise self._trouble[0]

    def stop(self, *, at_once: bool = False) -> None:
        self._stop_lanes()
        if at_once:
            for lane in tuple(self._lanes):
                lane.stop_at_once()

    def _drive(self, settings: LaneSettings, report: OnReport) -> None:
        lane: LaneProcess | None = None
        false_starts = 0
        last: Job | None = None
        try:
            while (job := self._next(last)) is not None:
                if lane is None:
                    lane = self._start(settings)
                answer = lane.do(job)
                if answer is None or "error" in answer:
                    self._end(lane)
                    lane, last = None, None
                    false_starts += answer is not None
                    if answer is not None and false_starts >= MOST_FALSE_STARTS:
                        raise EnvironmentUnfit(answer["error"], cure=answer["cure"])
                    self._return(job)
                    report(JobReport(job, "lost"))
                    continue
                false_starts, last = 0, job
                self._finish()
                report(JobReport(job, answer["end"], answer["row"], answer["retire"]))
                if answer["end"] == "given_back":
                    break
                if answer["retire"]:
                    self._end(lane)
                    lane = None
        except EnvironmentUnfit as error:
            self._trouble.append(error)
            self._stop_lanes()
        except BaseException:
            # Nobody must wait for a thread that is gone.
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
        """The next job; among the nearest, one that shares the longest prefix with the last one of this lane. None where there is none,
        and none can come any more."""
        with self._changed:
            # A job that is under way may come back, with a lane that dies.
            while not self._waiting and (self._feeding or self._running) and not self._stopping:
                self._changed.wait()
            if not self._waiting or self._stopping:
                return None
            best = 0
            if last is not None and last.prefixes:
                held = set(last.prefixes)
                shared = [sum(prefix in held for prefix in job.prefixes) for job in self._waiting]
                best = shared.index(max(shared))
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
        """Read jobs ahead, in a thread of its own: finding out what they share takes its time."""
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
            self._trouble.append(EnvironmentUnfit(error.message, cure=error.cure))
            self._stop_lanes()
        finally:
            with self._changed:
                self._feeding = False
                self._changed.notify_all()


def _chained(first: Iterator[Job], second: Iterator[Job]) -> Iterator[Job]:
    yield from first
    yield from second
