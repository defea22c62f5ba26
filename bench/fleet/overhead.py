"""What a case costs on the PostgreSQL engine beside being done: its share of a job, its claim, the look at its fence, and its row."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any, cast

from procrastinate import App, PsycopgConnector
from procrastinate.jobs import Status

from bench.fleet.figures import OUTPUTS, ROW
from bench.table import row
from blendwright.batch.definition import Batch, BatchSource, Output
from blendwright.batch.definition_checks import batch_queue
from blendwright.batch.engines.engine import Job
from blendwright.fleet.address import Address
from blendwright.fleet.database import Database, connection_settings
from blendwright.fleet.job_queue import CaseJob, JobQueue
from blendwright.fleet.results import PostgresResults

CASES = 400
CASES_PER_JOB = 10


def measure() -> Iterator[dict[str, Any]]:
    """Rows of the table; none where no PostgreSQL can be had."""
    sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
    from fleet.cluster import running_cluster

    try:
        with running_cluster() as cluster:
            yield row("one case on the postgres engine, beside its work", _milliseconds(cluster.url()), "ms", None)
    except subprocess.CalledProcessError:
        return


def _milliseconds(url: str) -> float:
    database = Database(Address("bench", url)).open()
    results, queue = PostgresResults(database, OUTPUTS), JobQueue(database)
    batch = Batch(BatchSource("prop.star", "x = 1"), (Output("blend", "scene.blend"),), "f" * 64, "5.2.3")
    results.begin(batch)
    results.add(batch, (({"seed": seed}, "") for seed in range(CASES)))
    queue.put(
        batch_queue(batch), OUTPUTS, (Job(batch.id, case.key) for case in results.open_cases(batch.id)), CASES_PER_JOB
    )
    seconds = asyncio.run(_work(url, batch_queue(batch), results))
    assert results.counts(batch.id).done == CASES
    database.close()
    return 1000 * seconds / CASES


async def _work(url: str, queue: str, results: PostgresResults) -> float:
    app = App(connector=PsycopgConnector(conninfo=url, kwargs=connection_settings(), min_size=1, max_size=2))
    async with app.open_async():
        worker = await app.job_manager.register_worker()
        started = perf_counter()
        while (job := await app.job_manager.fetch_job([queue], worker)) is not None:
            for each in CaseJob.from_json(cast("dict[str, Any]", job.task_kwargs)).jobs:
                claim = results.claim(each.case, ROW.worker)
                assert claim is not None
                assert results.holds(claim.case.key, claim.fence)
                published = replace(ROW, number=claim.case.number, key=claim.case.key, params=claim.case.params)
                assert results.publish(published, claim.fence)
            assert job.id is not None
            await app.job_manager.finish_job_by_id_async(job.id, status=Status.SUCCEEDED, delete_job=True)
        return perf_counter() - started
