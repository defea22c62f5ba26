"""Runs that outlive the request that started them: a handle to query and to stop them.

What a job did is in the journal, like any run; only the handle is forgotten when the server ends.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, Literal

from blendwright.run.invocation import new_id
from blendwright.server.responses import ToolResponse
from blendwright.values.cancel import CancelToken
from blendwright.values.errors import BlendwrightError
from blendwright.values.faults import Fault

_log = logging.getLogger(__name__)

# Finished jobs that are still remembered; the journal remembers all.
MOST_FINISHED = 200

JobState = Literal["waiting", "running", "finished", "failed", "cancelled"]


@dataclass
class Job:
    """One run in the background."""

    id: str
    request_id: str
    total: int
    cancel: CancelToken
    started: float = field(default_factory=time.time)
    done: int = 0
    current: str = ""
    response: Future[ToolResponse] | None = None

    @property
    def ended(self) -> bool:
        return self.response is not None and self.response.done()

    @property
    def state(self) -> JobState:
        response = self.response
        if response is None or not response.done():
            return "running" if response is not None and response.running() else "waiting"
        if response.exception() is not None:
            return "failed"
        outcome = response.result().outcome
        if outcome.ok:
            return "finished"
        return "cancelled" if any(finding.fault is Fault.CANCELLED for finding in outcome.findings) else "failed"

    def attach(self, response: Future[ToolResponse]) -> None:
        """The run that this job stands for."""
        self.response = response
        response.add_done_callback(self._log_defect)

    def _log_defect(self, response: Future[ToolResponse]) -> None:
        error = response.exception()
        if error is not None and not isinstance(error, BlendwrightError):
            _log.error("job %s failed", self.id, exc_info=error)

    def to_json(self) -> dict[str, Any]:
        return {
            "job_id": self.id,
            "request_id": self.request_id,
            "state": self.state,
            "operations_done": self.done,
            "operations_total": self.total,
            "current": self.current,
            "started": self.started,
        }


class Jobs:
    """The jobs of a server, oldest first."""

    def __init__(self) -> None:
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._lock = threading.Lock()

    def start(self, request_id: str, total: int, cancel: CancelToken) -> Job:
        job = Job(new_id(), request_id, total, cancel)
        with self._lock:
            self._jobs[job.id] = job
            finished = [key for key, old in self._jobs.items() if old.ended]
            for key in finished[:-MOST_FINISHED]:
                del self._jobs[key]
        return job

    def find(self, job_id: str) -> Job | None:
        with self._lock:
            return self._jobs.get(job_id)

    def all(self) -> list[Job]:
        with self._lock:
            return list(self._jobs.values())
