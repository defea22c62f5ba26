"""The run of a batch on this machine: it adds cases to the table, gives jobs to the engine, and writes the result files."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

from blendwright.batch.cases.case import is_key
from blendwright.batch.cases.case_workspace import CaseDirectory
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

# A function that receives the report of every finished job with the batch's progress, and None from time to time when no job finished.
OnProgress = Callable[[JobReport | None, Progress], None]
# The longest time without a call of that function.
TICK_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class RunSummary:
    """The result of one run. `added` cases are new in the table; `finished_before` cases had their row when the run began."""

    batch: str
    counts: Counts
    added: int
    finished_before: int
    stopped: bool = False
    """Whether the user stopped the run before all cases were finished."""

    @property
    def ok(self) -> bool:
        return not self.counts.failed and not self.counts.open


class BatchRun:
    """A run of a batch, which resumes the unfinished cases of earlier runs."""

    def __init__(self, batch: Batch, directory: BatchDirectory, engine: Engine) -> None:
        self._batch = batch
        self._directory = directory
        self._engine = engine
        self._stopped = False

    def stop(self, *, at_once: bool = False) -> None:
        """Stop the run after the running cases, or at once. The next run resumes the cases that this one did not finish."""
        self._stopped = True
        self._engine.stop(at_once=at_once)

    def run(self, rows: Iterable[Row] | None, lanes: int, progress: OnProgress, *, parquet: bool = False) -> RunSummary:
        """Run every unfinished row until all are finished or the user stops the run. Without rows, use the rows of the last run.

        Raise Refusal for unreadable rows and for a directory with foreign cases, and EnvironmentUnfit if the directory or Blender cannot
        be used."""
        settings = self._directory.lane_settings()
        self._directory.require_own_cases()
        with self._directory.locked(), open_results(settings.results) as results:
            outputs = open_outputs(settings.outputs)
            results.begin(self._batch, clear_members=rows is not None)
            added = 0
            if rows is not None:
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
        """Yield the jobs of all open cases, with a separate database connection, because engines read jobs in their own threads."""
        settings, shared = load_settings(Path(lanes.settings)), Path(lanes.work) / PREFIXES
        with open_results(lanes.results) as results:
            cases = results.open_cases(self._batch.id)
            yield from jobs_of(self._batch, settings, cases, lambda: lanes.prefixes and is_of_use(shared))

    def _work(self, lanes: int, progress: Progress, on_progress: OnProgress) -> None:
        """Run the engine in another thread, so that this thread, which receives signals, is never blocked for long."""
        reports: queue.SimpleQueue[JobReport] = queue.SimpleQueue()
        errors: list[BlendwrightError] = []

        def work() -> None:
            try:
                self._engine.work(self._directory.lane_settings(), lanes, reports.put)
            except BlendwrightError as error:
                errors.append(error)

        engine = threading.Thread(target=work, name="blendwright-engine")
        engine.start()
        try:
            while engine.is_alive() or not reports.empty():
                try:
                    report = reports.get(timeout=TICK_SECONDS)
                except queue.Empty:
                    on_progress(None, progress)
                else:
                    progress.add(report)
                    on_progress(report, progress)
        except BaseException:
            self._engine.stop(at_once=True)
            raise
        finally:
            engine.join()
        if errors:
            raise errors[0]


def sweep(results: ResultsTable, outputs: OutputStore, work: Path) -> int:
    """Remove the outputs of attempts that do not count, and return their number. Call it only while no process runs the batch.

    Outputs that no case of this table has published belong to another owner and stay. The function also removes what finished cases
    have left in `work`."""
    counting_names: set[str] = set()
    for row in results.rows():
        if row.location is not None:
            # The location is an absolute path, and a batch directory may move. Therefore only its last part counts.
            counting_names.add(row.location.rpartition("/")[2])
            CaseDirectory(work, row.key).remove()
    stray_names = [
        name for name in outputs.names() if name not in counting_names and _is_published(results, outputs, name)
    ]
    for name in stray_names:
        outputs.remove(name)
    return len(stray_names)


def _is_published(results: ResultsTable, outputs: OutputStore, name: str) -> bool:
    """Return whether a case of this table published outputs under a name. The manifest holds the case's key, and the name its number."""
    manifest = outputs.manifest(name)
    if manifest is None or not is_key(manifest.key):
        return False
    standing = results.standing(manifest.key)
    return standing is not None and name.partition("-")[0] == standing.case.name
