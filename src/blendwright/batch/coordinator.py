"""One run of a batch on this machine: cases into the table, jobs to the engine, and what came of it into files that anybody can read."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

from blendwright.batch.cases.case import is_key
from blendwright.batch.cases.case_workspace import CasePlace
from blendwright.batch.cases.jobs import jobs_of
from blendwright.batch.cases.prefix_store import PREFIXES, is_of_use
from blendwright.batch.definition import Batch
from blendwright.batch.directory import BatchDirectory
from blendwright.batch.engines.engine import Engine, Job, JobReport, LaneSettings
from blendwright.batch.input.tables import Row
from blendwright.batch.outputs.locations import open_outputs, open_results
from blendwright.batch.outputs.store import OutputStore
from blendwright.batch.progress import Progress
from blendwright.batch.results.files import write_result_files
from blendwright.batch.results.table import Counts, ResultsTable
from blendwright.values.errors import BlendwrightError
from blendwright.workspace.settings import load_settings

# Is told of every job that ended, and None now and then when nothing did, with how far the batch has come.
OnProgress = Callable[[JobReport | None, Progress], None]
TICK_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class RunSummary:
    """`added` cases are new to the table; `finished_before` had their row when the run began."""

    batch: str
    counts: Counts
    added: int
    finished_before: int
    stopped: bool = False
    """Before all cases were finished, because somebody asked."""

    @property
    def ok(self) -> bool:
        return not self.counts.failed and not self.counts.open


class BatchRun:
    """One run, from whatever an earlier one left."""

    def __init__(self, batch: Batch, directory: BatchDirectory, engine: Engine) -> None:
        self._batch = batch
        self._directory = directory
        self._engine = engine
        self._stopped = False

    def stop(self, *, at_once: bool = False) -> None:
        """End the run after the cases that are under way, or at once: these are given back, and gone on with next time."""
        self._stopped = True
        self._engine.stop(at_once=at_once)

    def run(self, rows: Iterable[Row] | None, lanes: int, progress: OnProgress, *, parquet: bool = False) -> RunSummary:
        """Every row that is not finished yet, until all are, or until the engine is stopped; without rows, those of the last run.

        Raises Refusal for rows that cannot be read and for a directory with cases of others, EnvironmentUnfit where the directory or
        Blender cannot be used."""
        settings = self._directory.lane_settings()
        self._directory.require_own_cases()
        with self._directory.locked(), open_results(settings.results) as results:
            outputs = open_outputs(settings.outputs)
            results.begin(self._batch, anew=rows is not None)
            if rows is None:
                added = 0
            else:
                added = results.add(self._batch, takewhile(lambda _: not self._stopped, rows))
            counts = results.counts(self._batch.id)
            finished_before = counts.total - counts.open
            self._directory.clear_work()
            if counts.open and not self._stopped:
                self._engine.submit(self._jobs(settings))
                self._work(lanes, Progress(counts), progress)
            sweep(results, outputs, Path(settings.work))
            write_result_files(results, self._directory.root, self._batch.id, parquet=parquet)
            counts = results.counts(self._batch.id)
        return RunSummary(self._batch.id, counts, added, finished_before, self._stopped and counts.open > 0)

    def _jobs(self, lanes: LaneSettings) -> Iterator[Job]:
        """With a connection of its own: engines read jobs in their threads."""
        settings, shared = load_settings(Path(lanes.settings)), Path(lanes.work) / PREFIXES
        with open_results(lanes.results) as results:
            cases = results.open_cases(self._batch.id)
            yield from jobs_of(self._batch, settings, cases, lambda: lanes.prefixes and is_of_use(shared))

    def _work(self, lanes: int, progress: Progress, tell: OnProgress) -> None:
        """The engine in a thread, so that this one, which signals come to, is never kept waiting for long."""
        reports: queue.SimpleQueue[JobReport] = queue.SimpleQueue()
        failed: list[BlendwrightError] = []

        def work() -> None:
            try:
                self._engine.work(self._directory.lane_settings(), lanes, reports.put)
            except BlendwrightError as error:
                failed.append(error)

        engine = threading.Thread(target=work, name="blendwright-engine")
        engine.start()
        try:
            while engine.is_alive() or not reports.empty():
                try:
                    report = reports.get(timeout=TICK_SECONDS)
                except queue.Empty:
                    tell(None, progress)
                else:
                    progress.add(report)
                    tell(report, progress)
        except BaseException:
            self._engine.stop(at_once=True)
            raise
        finally:
            engine.join()
        if failed:
            raise failed[0]


def sweep(results: ResultsTable, outputs: OutputStore, work: Path) -> int:
    """Remove the outputs of attempts that do not count: whoever made them ended before their row was taken. Returns how many. What no
    case of this table has published is its owner's, and stays. Remove also what cases that are done have left in `work`: whoever
    published them ended before that.

    Only while nobody works on the batch."""
    counted: set[str] = set()
    for row in results.rows():
        if row.location is not None:
            # By name, because the location is an absolute path, and a batch directory may be moved or copied.
            counted.add(row.location.rpartition("/")[2])
            CasePlace(work, row.key).remove()
    stray = [name for name in outputs.names() if name not in counted and _is_published(results, outputs, name)]
    for name in stray:
        outputs.remove(name)
    return len(stray)


def _is_published(results: ResultsTable, outputs: OutputStore, name: str) -> bool:
    """Whether a case of this table was published under a name: its manifest has the key, and the name its number."""
    manifest = outputs.manifest(name)
    if manifest is None or not is_key(manifest.key):
        return False
    standing = results.standing(manifest.key)
    return standing is not None and name.partition("-")[0] == standing.case.name
