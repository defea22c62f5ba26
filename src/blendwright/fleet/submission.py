"""The submission of a batch to a fleet: its cases go into the database, and jobs for the open cases into the queue."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from blendwright.batch.cases.jobs import jobs_of
from blendwright.batch.definition import Batch
from blendwright.batch.definition_checks import batch_queue
from blendwright.batch.input.tables import Row
from blendwright.batch.outputs.store import NAME, OutputStore
from blendwright.batch.results.table import Counts, ResultsTable
from blendwright.fleet.address import Address
from blendwright.fleet.database import Database
from blendwright.fleet.engine import EngineSettings, PostgresEngine
from blendwright.fleet.job_queue import cases_per_job
from blendwright.fleet.results import PostgresResults
from blendwright.workspace.settings import load_settings

# Larger batches do not share prefixes, because finding them requires evaluating every program on the submitting machine.
MAX_EVALUATED_CASES = 50_000


@dataclass(frozen=True, slots=True)
class Submitted:
    """The result of a submission: the number of cases that are new in the database, and the counts after queueing the jobs."""

    batch: str
    added: int
    counts: Counts


def submit(address: Address, outputs: str, batch: Batch, rows: Iterable[Row], directory: Path) -> Submitted:
    """Submit a batch. A repeated call is safe: finished cases keep their rows, and queued cases are not queued twice.

    `directory` contains the settings for evaluating programs on this machine."""
    with PostgresResults(Database(address).open(), outputs) as results:
        results.begin(batch)
        added = results.add(batch, rows)
        results.leave_out_others(batch.id)
        put_open_cases(address, outputs, batch, results, directory)
        return Submitted(batch.id, added, results.counts(batch.id))


def put_open_cases(address: Address, outputs: str, batch: Batch, results: ResultsTable, directory: Path) -> None:
    """Queue jobs for the open cases. Neighbouring rows go into one job, so that one worker process can use their shared prefixes."""
    cases = results.counts(batch.id).open
    engine = PostgresEngine(address, EngineSettings(batch_queue(batch), outputs, cases_per_job(cases)))
    few = cases <= MAX_EVALUATED_CASES
    engine.submit(jobs_of(batch, load_settings(directory), results.open_cases(batch.id), lambda: few))


def remove_stale_outputs(results: ResultsTable, outputs: OutputStore) -> int:
    """Remove outputs that can no longer count, and return their number.

    An attempt cannot count if the case was claimed again, or if its row names other outputs. Outputs of cases that are not in this table
    belong to another owner and stay. Workers may run in the meantime."""
    stale = list(_stale(results, outputs))
    for name in stale:
        outputs.remove(name)
    return len(stale)


def _stale(results: ResultsTable, outputs: OutputStore) -> Iterator[str]:
    for name in outputs.attempts():
        match = re.fullmatch(NAME, name)
        if match is None:
            continue
        standing = results.standing(int(match[1]))
        if standing is None:
            continue
        attempt = int(match[2] or 1)
        is_over = attempt < standing.fence or (attempt == standing.fence and standing.row is not None)
        counts = standing.row is not None and standing.row.location == outputs.location(name)
        if is_over and not counts and _may_be_of(standing.case.key, outputs, name):
            yield name


def _may_be_of(key: str, outputs: OutputStore, name: str) -> bool:
    """Return whether an attempt may belong to a case. Its manifest has the case's key; an interrupted attempt has no manifest.

    A location may contain cases of another table with the same numbers but with other keys."""
    try:
        manifest = outputs.manifest(name)
    except (ValueError, TypeError):  # not a manifest of Blendwright
        return False
    return manifest is None or manifest.key == key
