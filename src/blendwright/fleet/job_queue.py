"""Cases as jobs in Procrastinate's queue: several cases in one job, put there in one transaction, and put there anew when a worker is lost.

A job is never run again under its old id. Whoever was thought dead and comes back finds that its job is gone, and ends nobody else's.
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
# Jobs that are put there in one transaction.
PAGE = 200
MOST_CASES = 50
"""In one job: few enough that the machines end at about the same time, many enough that the queue is seldom asked."""
JOBS_FOR_ALL = 400
"""A small batch is cut into so many jobs, so that many machines find one."""
_OWN = "SELECT FROM procrastinate_jobs WHERE id = %s AND status = 'doing'"


@dataclass(frozen=True, slots=True)
class CaseJob:
    """Cases of one batch that one lane does one after another. `outputs` says where they go, and with that which results they have."""

    outputs: str
    jobs: tuple[Job, ...]

    def to_json(self) -> dict[str, Any]:
        return {"outputs": self.outputs, "jobs": [job.to_json() for job in self.jobs]}

    @classmethod
    def from_json(cls, data: Any) -> CaseJob:
        """Raises Refusal for what nobody could do: rows of the queue are written by others too."""
        try:
            if isinstance(data["outputs"], str) and all(map(_is_job, data["jobs"])):
                return cls(data["outputs"], tuple(Job.from_json(job) for job in data["jobs"]))
        except (TypeError, ValueError, LookupError):
            pass
        cure = "Its cases stay as they are: submit their batch again."
        raise Refusal.of(Fault.SCHEMA_INVALID, "a job in the queue is not sound, and is left out", cure)

    def without(self, done: int) -> CaseJob:
        return CaseJob(self.outputs, self.jobs[done:])


def cases_per_job(cases: int) -> int:
    return max(1, min(MOST_CASES, cases // JOBS_FOR_ALL))


class JobQueue:
    """The jobs of all batches in a database."""

    def __init__(self, database: Database) -> None:
        self._database = database
        # Never opened: it writes what Procrastinate calls a job on connections of ours.
        self._manager = App(connector=SyncPsycopgConnector()).job_manager

    def put(self, queue: str, outputs: str, jobs: Iterable[Job], size: int) -> int:
        """Returns how many cases were put there. Those that are in a job already are left out: it is being done, or waits."""
        known = self._cases_in_jobs(outputs)
        new = (job for job in jobs if job.case not in known)
        put = 0
        for page in _chunks(_chunks(new, size), PAGE):
            case_jobs = [CaseJob(outputs, chunk) for chunk in page]
            self._database.run(lambda connection, case_jobs=case_jobs: self._defer(connection, queue, case_jobs))
            put += sum(len(job.jobs) for job in case_jobs)
        return put

    def put_back(self, id: int, queue: str, rest: CaseJob) -> None:
        """What a worker that stops has not done of its job; nothing where the job was taken away, since it is in the queue by then."""

        def put_back(connection: Connection) -> None:
            if connection.execute(f"{_OWN} FOR UPDATE", (id,)).rowcount:
                self._defer(connection, queue, [rest])

        self._database.run(put_back)

    def holds(self, id: int) -> bool:
        """Whether a job is still that of the worker that fetched it."""
        return bool(self._database.run(lambda connection: connection.execute(_OWN, (id,)).rowcount))

    def replace(self, id: int) -> bool:
        """Take a job away from whoever had it, and put what it says there anew; False where it has ended, or somebody does so now."""

        def replace(connection: Connection) -> bool:
            sql = "SELECT queue_name, args FROM procrastinate_jobs WHERE id = %s AND status = 'doing' FOR UPDATE SKIP LOCKED"
            found = connection.execute(sql, (id,)).fetchone()
            if found is None:
                return False
            connection.execute("SELECT procrastinate_finish_job_v1(%s, 'failed', true)", (id,))
            with contextlib.suppress(Refusal):  # then it has ended: nobody could do it
                self._defer(connection, found[0], [CaseJob.from_json(found[1])])
            return True

        return self._database.run(replace)

    def waiting_elsewhere(self, queue: str) -> dict[str, int]:
        """Jobs that wait in other queues, by queue: for workers with another Blender or other tools."""
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
    texts = isinstance(data["batch"], str) and isinstance(data["case"], str)
    return texts and all(isinstance(size, int) and isinstance(hash, str) for size, hash in data["prefixes"])


def _chunks(items: Iterable[Any], size: int) -> Iterator[tuple[Any, ...]]:
    reading = iter(items)
    while chunk := tuple(islice(reading, size)):
        yield chunk
