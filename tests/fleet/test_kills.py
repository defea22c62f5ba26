"""Whatever is killed, every case is there exactly once: workers, whoever submitted the batch, and the database."""

from __future__ import annotations

import json
import os
import random
import signal
import time

from blendwright.batch.outputs.shared_storage import FsspecOutputs
from blendwright.batch.outputs.store import differing_files
from blendwright.batch.results.sqlite import SqliteResults
from blendwright.batch.results.table import Counts, ResultsTable
from blendwright.fleet.database import Database
from blendwright.fleet.results import PostgresResults
from blendwright.fleet.submission import remove_stale_outputs
from fleet.cluster import Cluster
from fleet.machines import Machines, wait_until

CASES = int(os.environ.get("FLEET_CASES", "60"))
WORKERS = 2
LONGEST = 1800.0 + 20.0 * CASES


class Doomed:
    """A worker that is killed at a random moment: a little after it has done some cases, so that most die at work, however busy this
    machine is; or, one in four, before it has done any."""

    def __init__(self, machines: Machines, chance: random.Random) -> None:
        self.process = machines.worker()
        self._machines = machines
        self._cases = chance.randint(1, 10)
        self._delay = chance.uniform(0, 0.5)
        early = chance.random() < 0.25
        self._dies = time.monotonic() + chance.uniform(1, 15) if early else None

    def is_due(self) -> bool:
        assert self.process.poll() is None, self._machines.log(self.process)
        if self._dies is None and self._done() >= self._cases:
            self._dies = time.monotonic() + self._delay
        return self._dies is not None and time.monotonic() > self._dies

    def _done(self) -> int:
        return sum(event.get("status") == "done" for event in self._machines.events(self.process))


def test_every_case_is_done_exactly_once_whoever_is_killed(
    machines: Machines, cluster: Cluster, database: Database
) -> None:
    chance = random.Random(20)
    serial = machines.run(*machines.batch(CASES, str(machines.place / "serial")), "--workers", "1")
    assert serial.returncode == 0, serial.stderr.decode()

    coordinator = machines.coordinator(CASES)
    results = PostgresResults(database, machines.outputs)
    wait_until(lambda: _total(results) == CASES, 120, "the cases are in the database")
    kills, restarted, begun = 0, False, time.monotonic()
    workers = [Doomed(machines, chance) for _ in range(WORKERS)]
    coordinator_ends = time.monotonic() + 5
    ends = time.monotonic() + LONGEST
    while (counts := _counts(results)).open:
        assert time.monotonic() < ends, counts
        for place, worker in enumerate(workers):
            if worker.is_due():
                worker.process.kill()
                worker.process.wait()
                workers[place] = Doomed(machines, chance)
                kills += 1
        if time.monotonic() > coordinator_ends:
            coordinator.kill()
            coordinator.wait()
            coordinator = machines.coordinator(CASES)
            coordinator_ends += 60
        if not restarted and counts.done >= CASES // 3:
            cluster.stop("QUIT")
            time.sleep(2)
            cluster.start()
            restarted = True
        time.sleep(0.3)
    assert restarted
    seconds = time.monotonic() - begun
    # Of the two what this machine allows: the quicker it is, the more cases are done between two kills.
    assert kills > min(CASES / 20, seconds / 10)

    assert coordinator.wait(120) == 0, machines.log(coordinator)
    for worker in workers:
        worker.process.send_signal(signal.SIGTERM)
    for worker in workers:
        assert worker.process.wait(120) == 0, machines.log(worker.process)
    assert machines.processes_left() == {}
    _check_results(machines, results)
    _check_outputs(machines, results)
    assert database.run(lambda connection: connection.execute("SELECT FROM procrastinate_jobs").rowcount) == 0


def _total(results: ResultsTable) -> int:
    return 0 if results.batch() is None else _counts(results).total


def _counts(results: ResultsTable) -> Counts:
    batch = results.batch()
    assert batch is not None
    return results.counts(batch.id)


def _check_results(machines: Machines, results: ResultsTable) -> None:
    """One row for every case, with the scene and the very files that one Blender makes of it alone."""
    with SqliteResults(machines.place / "serial" / "results.db") as serial:
        expected = {row.key: (row.params, row.scene_hash, row.outputs["scene.glb"]["sha256"]) for row in serial.rows()}
    rows = list(results.rows())
    assert len(rows) == len(expected) == CASES
    assert {row.status for row in rows} == {"done"}, [row.findings for row in rows if row.findings]
    found = {row.key: (row.params, row.scene_hash, row.outputs["scene.glb"]["sha256"]) for row in rows}
    assert found == expected


def _check_outputs(machines: Machines, results: ResultsTable) -> None:
    """What every row names is whole. What attempts that were killed left has no row, and can be removed."""
    outputs = FsspecOutputs(machines.outputs)
    remove_stale_outputs(results, outputs)
    names = set(outputs.attempts())
    assert {outputs.location(name) for name in names} == {row.location for row in results.rows()}
    for name in names:
        manifest = outputs.manifest(name)
        assert manifest is not None
        assert differing_files(outputs, name, manifest) == ()
    status = machines.run("batch", "status", machines.outputs, "--engine", "env", "--json")
    assert json.loads(status.stdout)["done"] == CASES
