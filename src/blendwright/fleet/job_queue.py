"""Cases as jobs in Procrastinate's queue. A job contains several cases, and the jobs of a lost worker are queued again.

A job that is queued again has a new id. Therefore a worker that was thought dead and comes back cannot end another worker's job.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from procrastinate import App, SyncPsycopgConnector
from procrastinate.exceptions import ConnectorException
from procrastinate.jobs import Job as QueuedJob

from blendwright.batch.engines.engine import Job
from blendwright.fleet.database import Database
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault

if TYPE_CHECKING:
    from blendwright.fleet.tables import Connection

TASK = "blendwright.run_cases"
# Jobs that one transaction adds.
PAGE = 200
MAX_CASES_PER_JOB = 50
"""Small enough that all machines end at about the same time, and large enough that workers seldom query the queue."""
TARGET_JOBS = 400
"""A small batch is split into about this many jobs, so that many machines get one."""
_CURRENT = "SELECT FROM procrastinate_jobs WHERE id = %s AND status = 'doing'"


@dataclass(frozen=True, slots=True)
class CaseJob:
    """Some cases of one batch that one worker process runs one after another. `outputs` is their output location."""

    outputs: str
    jobs: tuple[Job, ...]

    def to_json(self) -> dict[str, Any]:
        return {"outputs": self.outputs, "jobs": [job.to_json() for job in self.jobs]}

    @classmethod
    def from_json(cls, data: Any) -> CaseJob:
        """Return a job from JSON. Raise Refusal if it is invalid, because other programs can write to the queue."""
        try:
            if isinstance(data["outputs"], str) and all(map(_is_job, data["jobs"])):
                return cls(data["outputs"], tuple(Job.from_json(job) for job in data["jobs"]))
        except (TypeError, ValueError, LookupError):
            pass
        fix = "Its cases stay unchanged: submit their batch again."
        raise Refusal.of(Fault.SCHEMA_INVALID, "skipping an invalid job in the queue", fix)

    def without(self, done: int) -> CaseJob:
        """Return the job without its first `done` cases."""
        return CaseJob(self.outputs, self.jobs[done:])


def cases_per_job(cases: int) -> int:
    """Return the number of cases in each job of a batch."""
    return max(1, min(MAX_CASES_PER_JOB, cases // TARGET_JOBS))


class JobQueue:
    """The jobs of all batches in a database."""

    def __init__(self, database: Database) -> None:
        self._database = database
        # Never opened: it only formats jobs, which our connections write.
        self._manager = App(connector=SyncPsycopgConnector()).job_manager

    def put(self, queue: str, outputs: str, jobs: Iterable[Job], size: int) -> int:
        """Add jobs for cases that are in no job yet, and return the number of these cases."""
        queued_cases = self._cases_in_jobs(outputs)
        new_jobs = (job for job in jobs if job.case not in queued_cases)
        count = 0
        for page in _chunks(_chunks(new_jobs, size), PAGE):
            case_jobs = [CaseJob(outputs, chunk) for chunk in page]
            self._database.run(lambda connection, case_jobs=case_jobs: self._defer(connection, queue, case_jobs))
            count += sum(len(job.jobs) for job in case_jobs)
        return count

    def put_back(self, id: int, queue: str, remaining: CaseJob) -> None:
        """Queue the unfinished part of a job. Do nothing if the worker no longer has the job, because it is queued already."""

        def put_back(connection: Connection) -> None:
            if connection.execute(f"{_CURRENT} FOR UPDATE", (id,)).rowcount:
                self._defer(connection, queue, [remaining])

        self._database.run(put_back)

    def holds(self, id: int) -> bool:
        """Return whether the worker that fetched a job still has it."""
        return bool(self._database.run(lambda connection: connection.execute(_CURRENT, (id,)).rowcount))

    def replace(self, id: int) -> bool:
        """Take a job away from its worker and queue it again. Return False if it has ended or another worker replaces it now."""

        def replace(connection: Connection) -> bool:
            sql = "SELECT queue_name, args FROM procrastinate_jobs WHERE id = %s AND status = 'doing' FOR UPDATE SKIP LOCKED"
            row = connection.execute(sql, (id,)).fetchone()
            if row is None:
                return False
            connection.execute("SELECT procrastinate_finish_job_v1(%s, 'failed', true)", (id,))
            with contextlib.suppress(Refusal):  # an invalid job is not queued again
                self._defer(connection, row[0], [CaseJob.from_json(row[1])])
            return True

        return self._database.run(replace)

    def waiting_elsewhere(self, queue: str) -> dict[str, int]:
        """Return the number of waiting jobs in other queues, which need another Blender or other tools, by queue."""
        sql = (
            "SELECT queue_name, count(*) FROM procrastinate_jobs WHERE status = 'todo' AND task_name = %s AND queue_name <> %s"
            " GROUP BY queue_name"
        )
        return dict(self._database.run(lambda connection: connection.execute(sql, (TASK, queue)).fetchall()))

    def _cases_in_jobs(self, outputs: str) -> set[str]:
        sql = (
            "SELECT job->>'case' FROM procrastinate_jobs, jsonb_array_elements(args->'jobs') AS job"
            " WHERE status IN ('todo', 'doing') AND task_name = %s AND args->>'outputs' = %s"
        )
        rows = self._database.run(lambda connection: connection.execute(sql, (TASK, outputs)).fetchall())
        return {row[0] for row in rows}

    def _defer(self, connection: Connection, queue: str, jobs: list[CaseJob]) -> None:
        queued = [
            QueuedJob(queue=queue, lock=None, queueing_lock=None, task_name=TASK, task_kwargs=job.to_json())
            for job in jobs
        ]
        try:
            self._manager.batch_defer_jobs(queued, connection=connection)
        except ConnectorException as error:
            raise error.__cause__ or error from None


def _is_job(data: Any) -> bool:
    has_names = isinstance(data["batch"], str) and isinstance(data["case"], str)
    return has_names and all(isinstance(size, int) and isinstance(hash, str) for size, hash in data["prefixes"])


def _chunks(items: Iterable[Any], size: int) -> Iterator[tuple[Any, ...]]:
    remaining_items = iter(items)
    while chunk := tuple(islice(remaining_items, size)):
        yield chunk
