"""Runs that outlive the request that began them: a handle to ask after them and to stop them.

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

from blendwright.run.keys import new_id
from blendwright.server.answers import Answer
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
    answer: Future[Answer] | None = None

    @property
    def state(self) -> JobState:
        answer = self.answer
        if answer is None or not answer.done():
            return "running" if answer is not None and answer.running() else "waiting"
        if answer.exception() is not None:
            return "failed"
        outcome = answer.result().outcome
        if outcome.ok:
            return "finished"
        return "cancelled" if any(found.fault is Fault.CANCELLED for found in outcome.findings) else "failed"

    def follow(self, answer: Future[Answer]) -> None:
        """What there will be to tell, once it is done."""
        self.answer = answer
        answer.add_done_callback(self._log_defect)

    def _log_defect(self, answer: Future[Answer]) -> None:
        error = answer.exception()
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

    def begin(self, request_id: str, total: int, cancel: CancelToken) -> Job:
        job = Job(new_id(), request_id, total, cancel)
        with self._lock:
            self._jobs[job.id] = job
            finished = [key for key, old in self._jobs.items() if old.answer is not None and old.answer.done()]
            for key in finished[:-MOST_FINISHED]:
                del self._jobs[key]
        return job

    def find(self, job_id: str) -> Job | None:
        with self._lock:
            return self._jobs.get(job_id)

    def all(self) -> list[Job]:
        with self._lock:
            return list(self._jobs.values())
