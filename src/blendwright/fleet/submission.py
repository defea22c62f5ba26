"""A batch for a fleet: its cases into the database, jobs for those that are open into the queue. From then on nobody here is needed."""

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

MOST_EVALUATED = 50_000


@dataclass(frozen=True, slots=True)
class Submitted:
    """`added` cases are new to the database; `counts` are those when jobs had been put into the queue."""

    batch: str
    added: int
    counts: Counts


def submit(address: Address, outputs: str, batch: Batch, rows: Iterable[Row], directory: Path) -> Submitted:
    """Safe to be done again, after anything: what is known keeps its row, and what is in the queue is not put there twice. The settings
    of `directory` hold for evaluating programs here."""
    with PostgresResults(Database(address).open(), outputs) as results:
        results.begin(batch)
        added = results.add(batch, rows)
        results.leave_out_others(batch.id)
        put_open_cases(address, outputs, batch, results, directory)
        return Submitted(batch.id, added, results.counts(batch.id))


def put_open_cases(address: Address, outputs: str, batch: Batch, results: ResultsTable, directory: Path) -> None:
    """Neighbours of a table are in one job, and so in one lane: there they find what they share. What that is takes evaluating every
    program here, which is not done for very many."""
    cases = results.counts(batch.id).open
    engine = PostgresEngine(address, EngineSettings(batch_queue(batch), outputs, cases_per_job(cases)))
    few = cases <= MOST_EVALUATED
    engine.submit(jobs_of(batch, load_settings(directory), results.open_cases(batch.id), lambda: few))


def remove_stale_outputs(results: ResultsTable, outputs: OutputStore) -> int:
    """Remove what attempts left that can never count: the case was claimed again since, or has a row with other outputs. What this table
    has given to nobody to make is somebody else's, and stays.

    Unlike whatever runs on one machine alone, nobody has to be at rest for it."""
    stale = list(_stale(results, outputs))
    for name in stale:
        outputs.remove(name)
    return len(stale)


def _stale(results: ResultsTable, outputs: OutputStore) -> Iterator[str]:
    for name in outputs.attempts():
        match = re.fullmatch(NAME, name)
        if match:
            standing = results.standing(int(match[1]))
        else:
            standing = None
        if match is None or standing is None:
            continue
        attempt = int(match[2] or 1)
        is_over = attempt < standing.fence or (attempt == standing.fence and standing.row is not None)
        counts = standing.row is not None and standing.row.location == outputs.location(name)
        if is_over and not counts and _may_be_of(standing.case.key, outputs, name):
            yield name


def _may_be_of(key: str, outputs: OutputStore, name: str) -> bool:
    """Numbers are those of one table: a place may hold cases of another, by the same numbers, whose manifest has another key. An attempt
    that was cut off has none yet."""
    try:
        manifest = outputs.manifest(name)
    except (ValueError, TypeError):  # it is no manifest of ours
        return False
    return manifest is None or manifest.key == key
