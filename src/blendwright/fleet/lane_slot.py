"""A slot for one worker process in a fleet's worker. It starts a process for the outputs that a job names, and replaces worn processes."""

from __future__ import annotations

from dataclasses import replace

from blendwright.batch.engines.engine import Job, JobReport, LaneSettings, OnReport
from blendwright.batch.engines.lane_process import LaneProcess
from blendwright.batch.outputs.locations import results_in_database
from blendwright.values.errors import EnvironmentUnfit

# After this many failed starts in a row, the slot gives up.
MAX_FAILED_STARTS = 3


class LaneSlot:
    """A slot that one thread uses at a time; `stop` and `close` may come from another thread."""

    def __init__(self, settings: LaneSettings, blender: str | None, report: OnReport) -> None:
        self._settings = settings
        self._blender = blender
        self._report = report
        self._lane: LaneProcess | None = None
        self._outputs: str | None = None
        self._failed_starts = 0
        self._is_cancelled = False

    def do(self, job: Job, outputs: str) -> bool:
        """Run one case. Return False if it was cancelled and given back. Raise EnvironmentUnfit if worker processes cannot start."""
        while True:
            answer = self._lane_for(outputs).do(job)
            if answer is not None and "error" not in answer:
                break
            self._end()
            if self._is_cancelled:
                return False
            self._report(JobReport(job, "lost"))
            self._failed_starts += 1
            if answer is not None and self._failed_starts >= MAX_FAILED_STARTS:
                raise EnvironmentUnfit(answer["error"], cure=answer["cure"])
        self._failed_starts = 0
        self._report(JobReport(job, answer["end"], answer["row"], answer["retire"], answer["reason"]))
        if answer["retire"]:
            self._end()
        return answer["end"] != "given_back"

    def stop(self, *, at_once: bool) -> None:
        lane = self._lane
        if at_once:
            self._is_cancelled = True
            if lane is not None:
                lane.stop_at_once()

    def close(self) -> None:
        self._end()

    def _lane_for(self, outputs: str) -> LaneProcess:
        if self._lane is not None and self._outputs != outputs:
            self._end()
        if self._lane is None:
            settings = replace(self._settings, results=results_in_database(outputs), outputs=outputs)
            self._lane, self._outputs = LaneProcess(settings, self._blender), outputs
        return self._lane

    def _end(self) -> None:
        lane, self._lane = self._lane, None
        if lane is not None:
            lane.end()
