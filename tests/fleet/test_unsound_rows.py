"""Jobs, cases and definitions in the database that are not sound: each fails or is left out by itself, and the worker does the others."""

from __future__ import annotations

import json
from typing import Any

from blendwright.batch.results.table import Counts
from blendwright.fleet.database import Database
from blendwright.fleet.job_queue import JobQueue
from blendwright.fleet.results import PostgresResults
from fleet.machines import Machines

JOB = """
INSERT INTO procrastinate_jobs (queue_name, task_name, priority, args)
    SELECT queue_name, task_name, 10, %s::jsonb FROM procrastinate_jobs LIMIT 1
"""


def test_a_worker_outlives_what_is_not_sound(machines: Machines, database: Database) -> None:
    """What is wrong comes first, by its priority: a worker that ended with it would do nothing else."""
    assert machines.run(*machines.batch(4), "--engine", "env", "--detach").returncode == 0
    results = PostgresResults(database, machines.outputs)
    batch = results.batch()
    assert batch is not None

    def do(sql: Any, *bindings: Any) -> None:
        database.run(lambda connection: connection.execute(sql, bindings))

    def case(key: str) -> dict[str, Any]:
        return {"batch": batch.id, "case": key, "prefixes": []}

    keys = [one.key for one in results.open_cases(batch.id)]
    do("INSERT INTO cases (space, number, key, params, source) VALUES (%s, 7, '../..', '{}', '')", results.space)
    do("UPDATE cases SET params = '[5]' WHERE number = 1")
    unsound: tuple[Any, ...] = (
        {}, {"outputs": machines.outputs}, {"outputs": machines.outputs, "jobs": [5]}, {"outputs": 5, "jobs": []},
        {"outputs": machines.outputs, "jobs": [case("../..")]},
        {"outputs": machines.outputs, "jobs": [{**case(keys[2]), "batch": "nobody's"}]},
    )  # fmt: skip
    for args in unsound:
        do(JOB, json.dumps(args))
    worker = machines.worker("--once")
    assert worker.wait(300) == 0, machines.log(worker)
    assert results.counts(batch.id) == Counts(done=2, failed=2)
    found = {row.number: row.findings[0]["message"] for row in results.rows(batch.id) if row.status == "failed"}
    assert "its parameters are not an object" in found[1] and "has no batch nobody's" in found[2]
    skipped = [event for event in machines.events(worker) if event.get("status") == "skipped"]
    assert [event["key"] for event in skipped] == ["../.."] and "'../..'" in skipped[0]["reason"]
    notes = [event["message"] for event in machines.events(worker) if event["event"] == "note"]
    assert len([note for note in notes if "an invalid job in the queue" in note]) == 4
    assert machines.processes_left() == {}


def test_a_job_that_is_not_sound_is_put_into_the_queue_by_nobody(database: Database) -> None:
    """As one of a worker that was lost: whoever looks after others meets it again and again otherwise."""
    sql = "INSERT INTO procrastinate_jobs (queue_name, task_name, args, status) VALUES ('q', 't', '{}', 'doing') RETURNING id"
    ((id,),) = database.run(lambda connection: connection.execute(sql).fetchall())
    assert JobQueue(database).replace(id)
    assert not JobQueue(database).replace(id)
    left = database.run(lambda connection: connection.execute("SELECT count(*) FROM procrastinate_jobs").fetchall())
    assert left == [(0,)]
