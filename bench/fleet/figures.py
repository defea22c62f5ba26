"""What one PostgreSQL here spends on each thing that a fleet asks of it: processor time of the server, bytes of its log, bytes on disk.

Seconds on the clock would say how busy this machine is; processor time and bytes do not.
"""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import LiteralString, cast

from procrastinate import App, PsycopgConnector
from procrastinate.jobs import Status

from blendwright.batch.definition import Batch, BatchSource, Output
from blendwright.batch.definition_checks import batch_queue
from blendwright.batch.engines.engine import Job
from blendwright.batch.results.table import ResultRow
from blendwright.fleet.address import Address
from blendwright.fleet.database import Database, connection_settings
from blendwright.fleet.job_queue import TASK, JobQueue
from blendwright.fleet.results import PostgresResults

TICKS = os.sysconf("SC_CLK_TCK")
OUTPUTS = "s3://bucket/batch"
ROW = ResultRow(
    number=0,
    key="c" * 64,
    params={"seed": 1, "width": 1.5, "colour": "red"},
    status="done",
    scene_hash="a" * 64,
    location=f"{OUTPUTS}/cases/0000001",
    outputs={name: {"sha256": "b" * 64, "bytes": 123_456} for name in ("scene.blend", "picture.png")},
    times={"evaluate": 0.01, "open": 0.1, "run": 0.4, "outputs": 1.1, "close": 0.01, "total": 1.7},
    operations=40,
    worker="machine-0001:12345",
    finished="2026-11-17T16:00:00.000Z",
)


@dataclass(frozen=True, slots=True)
class Cost:
    """Of one operation: milliseconds of a processor of the server, and bytes of its log."""

    cpu_ms: float
    log_bytes: float


@dataclass(frozen=True, slots=True)
class Figures:
    """`case_bytes` are those of a finished case with its indexes, `job_bytes` those of a job that waits; counting is per case."""

    add: Cost
    claim: Cost
    publish: Cost
    put: Cost
    fetch: Cost
    finish: Cost
    heartbeat: Cost
    look_after: Cost
    count_ms: float
    case_bytes: float
    job_bytes: float
    connection_mb: float


class Meter:
    """What the server has spent since `begin`."""

    def __init__(self, server: int, database: Database) -> None:
        self._server = server
        self._database = database
        self._before = (0.0, 0)

    def begin(self) -> None:
        self._before = (server_seconds(self._server), self._log_position())

    def each(self, count: int) -> Cost:
        seconds, position = self._before
        log = (self._log_position() - position) / count
        return Cost(1000 * (server_seconds(self._server) - seconds) / count, log)

    def _log_position(self) -> int:
        sql = "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint"
        return _number(self._database, sql)


def measure_figures(url: str, server: int, cases: int = 4_000, cases_per_job: int = 10) -> Figures:
    """`server` is the process of a PostgreSQL that does nothing else; what is measured is left in it."""
    database = Database(Address("bench", url)).open()
    results, queue, meter = PostgresResults(database, OUTPUTS), JobQueue(database), Meter(server, database)
    batch = Batch(BatchSource("prop.star", "x = 1"), (Output("blend", "scene.blend"),), "f" * 64, "5.2.3")
    results.begin(batch)
    meter.begin()
    results.add(batch, (({"seed": seed, "width": seed / 2, "colour": "red"}, "") for seed in range(cases)))
    add = meter.each(cases)
    open_cases, jobs = list(results.open_cases(batch.id)), cases // cases_per_job
    meter.begin()
    queue.put(batch_queue(batch), OUTPUTS, (Job(batch.id, case.key) for case in open_cases), cases_per_job)
    put = meter.each(jobs)
    job_bytes = _size(database, "procrastinate_jobs", "procrastinate_events") / jobs
    meter.begin()
    for case in open_cases:
        results.claim(case.key, ROW.worker)
    claim = meter.each(cases)
    meter.begin()
    for case in open_cases:
        assert results.publish(replace(ROW, number=case.number, key=case.key, params=case.params), 1)
    publish = meter.each(cases)
    meter.begin()
    for _ in range(50):
        results.counts(batch.id)
    counting = meter.each(50)
    case_bytes = _size(database, "cases", "members") / cases
    fetch, look_after, finish, heartbeat = asyncio.run(_queue_costs(url, batch_queue(batch), jobs, meter))
    connection_mb = _connection_mb(database)
    database.close()
    return Figures(
        add, claim, publish, put, fetch, finish, heartbeat, look_after,
        counting.cpu_ms / cases, case_bytes, job_bytes, connection_mb,
    )  # fmt: skip


async def _queue_costs(url: str, queue: str, count: int, meter: Meter) -> tuple[Cost, Cost, Cost, Cost]:
    """Fetching, looking after others, ending, and a heartbeat."""
    app = App(connector=PsycopgConnector(conninfo=url, kwargs=connection_settings(), min_size=1, max_size=2))
    async with app.open_async():
        manager = app.job_manager
        worker = await manager.register_worker()
        meter.begin()
        fetched = [await manager.fetch_job([queue], worker) for _ in range(count)]
        fetch = meter.each(count)
        meter.begin()
        for _ in range(count):
            await manager.get_stalled_jobs(task_name=TASK, seconds_since_heartbeat=60)
        look_after = meter.each(count)
        meter.begin()
        for job in fetched:
            assert job is not None and job.id is not None
            await manager.finish_job_by_id_async(job.id, status=Status.SUCCEEDED, delete_job=True)
        finish = meter.each(count)
        meter.begin()
        for _ in range(count):
            await manager.update_heartbeat(worker)
        return fetch, look_after, finish, meter.each(count)


def server_seconds(server: int) -> float:
    """Processor time of a server and of all its processes, those that have ended too."""
    own = _times(server)
    children = [int(pid) for pid in Path(f"/proc/{server}/task/{server}/children").read_text().split()]
    return (sum(own) + sum(sum(_times(pid)[:2]) for pid in children)) / TICKS


def _times(pid: int) -> tuple[int, ...]:
    """Of user and system, then of children that were waited for."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except FileNotFoundError:
        return (0, 0, 0, 0)
    return tuple(int(field) for field in fields[11:15])


def _size(database: Database, *tables: str) -> float:
    return sum(_number(database, f"SELECT pg_total_relation_size('{table}')") for table in tables)


def _connection_mb(database: Database) -> float:
    """Private memory of the server's process behind a connection that has worked."""
    pid = _number(database, "SELECT pg_backend_pid()")
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith(("Private_Clean:", "Private_Dirty:"))) / 1024


def _number(database: Database, sql: str) -> int:
    rows = database.run(lambda connection: connection.execute(cast("LiteralString", sql)).fetchall())
    return int(rows[0][0])
