"""`blendwright worker` as a user has it: told to stop, stopped, thought dead, with the wrong Blender, and with a password to keep."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest
from PIL import Image

from blendwright.batch.results.table import Counts
from blendwright.fleet.database import Database
from blendwright.fleet.results import PostgresResults
from fleet.cluster import Cluster
from fleet.machines import Machines, tree, wait_until

LONG = """\
seed = param("seed", 0)
for number in range(1500):
    mesh.create_primitive(kind = "cube", name = "Cube %d" % number, location = [number * 2.0, seed, 0])
"""


def counts(results: PostgresResults) -> Counts:
    batch = results.batch()
    return Counts() if batch is None else results.counts(batch.id)


def test_a_worker_does_what_waits_and_once_ends_then(machines: Machines, database: Database) -> None:
    submitted = machines.run(*machines.batch(3), "--engine", "env", "--detach")
    assert json.loads(submitted.stdout)["waiting"] == 3
    worker = machines.worker("--once")
    assert worker.wait(300) == 0, machines.log(worker)
    assert [event["event"] for event in machines.events(worker)] == ["began", "case", "case", "case", "ended"]
    assert counts(PostgresResults(database, machines.outputs)) == Counts(done=3)
    again = machines.run(*machines.batch(3), "--engine", "env")
    assert (again.returncode, json.loads(again.stdout.splitlines()[-1])["done"]) == (0, 3)


def test_a_worker_that_is_told_to_stop_gives_back_what_it_cannot_finish(machines: Machines, database: Database) -> None:
    machines.program.write_text(LONG)
    assert machines.run(*machines.batch(2), "--engine", "env", "--detach").returncode == 0
    results = PostgresResults(database, machines.outputs)
    worker = machines.worker("--grace", "0")
    wait_until(lambda: counts(results).running == 1, 300, "a case is under way")
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(60) == 0, machines.log(worker)
    assert counts(results) == Counts(waiting=2)
    standing = results.standing(0)
    assert standing is not None
    assert standing.attempts == 0
    assert machines.processes_left() == {}
    waiting = database.run(
        lambda connection: connection.execute(
            "SELECT jsonb_array_length(args->'jobs') FROM procrastinate_jobs WHERE status = 'todo'"
        ).fetchall()
    )
    assert sum(cases for (cases,) in waiting) == 2


def test_a_worker_that_was_thought_dead_publishes_nothing(machines: Machines, database: Database) -> None:
    machines.program.write_text(LONG)
    assert machines.run(*machines.batch(1), "--engine", "env", "--detach").returncode == 0
    results = PostgresResults(database, machines.outputs)
    stopped = machines.worker()
    wait_until(lambda: counts(results).running == 1, 300, "a case is under way")
    asleep = tree(stopped.pid)
    for pid in asleep:
        os.kill(pid, signal.SIGSTOP)
    assert counts(results).running == 1
    other = machines.worker()
    wait_until(lambda: counts(results).done == 1, 600, "another worker has done it")
    row = next(results.rows())
    for pid in asleep:
        os.kill(pid, signal.SIGCONT)
    wait_until(lambda: _ended_its_case(machines, stopped), 300, "the stopped worker has gone on")
    assert [event["status"] for event in machines.events(stopped) if event["event"] == "case"] == ["done_before"]
    assert list(results.rows()) == [row]
    assert (row.attempts, row.worker) != (1, "")
    published = sorted(path.name for path in (machines.place / "outputs" / "cases").iterdir())
    assert published == ["000000-2"]
    for worker in (stopped, other):
        worker.send_signal(signal.SIGTERM)
    assert [worker.wait(60) for worker in (stopped, other)] == [0, 0]


def test_a_worker_that_starts_while_the_database_restarts_waits_for_it(
    machines: Machines, database: Database, cluster: Cluster
) -> None:
    assert machines.run(*machines.batch(1), "--engine", "env", "--detach").returncode == 0
    cluster.stop("QUIT")
    worker = machines.worker("--once")
    wait_until(lambda: "trying again for" in machines.log(worker), 60, "it says what it waits for")
    cluster.start()
    assert worker.wait(300) == 0, machines.log(worker)
    assert counts(PostgresResults(database, machines.outputs)) == Counts(done=1)


def _ended_its_case(machines: Machines, worker: object) -> bool:
    return any(event["event"] == "case" for event in machines.events(worker))  # pyright: ignore[reportArgumentType]


def test_a_worker_with_another_blender_takes_nothing_and_says_why(machines: Machines, database: Database) -> None:
    assert machines.run(*machines.batch(2), "--engine", "env", "--detach").returncode == 0
    database.run(
        lambda connection: connection.execute("UPDATE procrastinate_jobs SET queue_name = 'cases-4.2.23-0123'")
    )
    worker = machines.worker()
    wait_until(lambda: "cases-4.2.23-0123" in machines.log(worker), 120, "it says what it cannot take")
    assert counts(PostgresResults(database, machines.outputs)) == Counts(waiting=2)
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(60) == 0


def test_the_password_is_nowhere_but_in_the_environment(
    machines: Machines, cluster: Cluster, database: Database, tmp_path: Path
) -> None:
    coordinator = machines.coordinator(2)
    worker = machines.worker()
    wait_until(lambda: counts(PostgresResults(database, machines.outputs)).done == 2, 300, "both are done")
    titles = "".join(
        Path(f"/proc/{pid}/cmdline").read_bytes().decode() for pid in (*tree(worker.pid), *tree(coordinator.pid))
    )
    assert coordinator.wait(60) == 0
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(60) == 0
    assert cluster.password not in titles
    written = [path for path in tmp_path.rglob("*") if path.is_file() and not path.is_symlink()]
    assert len(written) > 10
    assert [path for path in written if cluster.password.encode() in path.read_bytes()] == []
    kept = database.run(lambda connection: connection.execute("SELECT definition::text, queue FROM batches").fetchall())
    assert cluster.password not in str(kept)


def test_a_password_on_the_command_line_is_refused(machines: Machines, database_url: str) -> None:
    refused = machines.run("worker", "--engine", database_url, "--once")
    assert refused.returncode == 2
    assert b"BLENDWRIGHT_ENGINE" in refused.stderr
    assert database_url.encode() not in refused.stdout + refused.stderr


@pytest.mark.parametrize("command", [("worker", "--once"), ("batch", "status", "s3://bucket/x", "--engine", "env")])
def test_a_database_that_is_away_is_told_at_once(
    machines: Machines, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    monkeypatch.setenv("BLENDWRIGHT_ENGINE", "postgres://nobody:secret@127.0.0.1:9/nothing")
    told = machines.run(*command)
    assert told.returncode == 3, told.stderr
    assert b"postgres://nobody@127.0.0.1:9/nothing" in told.stderr
    assert b"secret" not in told.stderr


SECOND_BLENDER = """\
seed = param("seed", 0)
image.load_(name = "Sky", path = "sky.png")
mesh.create_primitive(kind = "cube", name = "Box", location = [seed, 0, 2])
physics.simulate(objects = ["Box"], ground = 0, frames = [1, 8], keep = "rest")
python.run(code = "import bpy; bpy.data.objects['Box'].location.x += 1")
mesh.create_primitive(kind = "cube", name = "Last", location = [seed, 3, 0])
"""


def test_steps_that_need_a_second_blender_lead_to_the_scenes_of_a_local_batch(
    machines: Machines, database: Database
) -> None:
    Image.new("RGB", (4, 4)).save(machines.place / "sky.png")
    machines.program.write_text(SECOND_BLENDER)
    local = machines.run(*machines.batch(2, str(machines.place / "local")), "--workers", "1")
    assert local.returncode == 0, local.stdout.decode()
    assert machines.run(*machines.batch(2), "--engine", "env", "--detach").returncode == 0
    worker = machines.worker("--once")
    assert worker.wait(300) == 0, machines.log(worker)
    results = PostgresResults(database, machines.outputs)
    assert counts(results) == Counts(done=2)
    lines = (machines.place / "local" / "results.jsonl").read_text().splitlines()
    expected = {row["params"]["seed"]: row["scene_hash"] for row in map(json.loads, lines)}
    assert {row.params["seed"]: row.scene_hash for row in results.rows()} == expected
    assert len(set(expected.values())) == 2
