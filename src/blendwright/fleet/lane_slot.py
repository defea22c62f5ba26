"""Room for one lane in a worker of a fleet: one is started for the outputs that a job names, and replaced when it is worn."""

from __future__ import annotations

from dataclasses import replace

from blendwright.batch.engines.engine import Job, JobReport, LaneSettings, OnReport
from blendwright.batch.engines.lane_process import LaneProcess
from blendwright.batch.outputs.locations import results_in_database
from blendwright.values.errors import EnvironmentUnfit

# A lane that ends so often in a row without having done a job is not going to do one.
MOST_FALSE_STARTS = 3


class LaneSlot:
    """Used by one thread at a time; `stop` and `close` come from another."""

    def __init__(self, settings: LaneSettings, blender: str | None, report: OnReport) -> None:
        self._settings = settings
        self._blender = blender
        self._report = report
        self._lane: LaneProcess | None = None
        self._outputs: str | None = None
        self._false_starts = 0
        self._called_off = False

    def do(self, job: Job, outputs: str) -> bool:
        """Do one case; False where it was called off, and somebody else has to. Raises EnvironmentUnfit where no lane can."""
        while True:
            answer = self._lane_for(outputs).do(job)
            if answer is not None and "error" not in answer:
                break
            self._end()
            if self._called_off:
                return False
            self._report(JobReport(job, "lost"))
            self._false_starts += 1
            if answer is not None and self._false_starts >= MOST_FALSE_STARTS:
                raise EnvironmentUnfit(answer["error"], cure=answer["cure"])
        self._false_starts = 0
        self._report(JobReport(job, answer["end"], answer["row"], answer["retire"], answer["reason"]))
        if answer["retire"]:
            self._end()
        return answer["end"] != "given_back"

    def stop(self, *, at_once: bool) -> None:
        lane = self._lane
        if at_once:
            self._called_off = True
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
