"""The processing of one job in every engine: claim the case, run it, publish its outputs, publish its row, and clean up."""

from __future__ import annotations

import logging
import os
import shutil
import socket
import tempfile
from dataclasses import replace
from pathlib import Path
from time import monotonic, perf_counter
from typing import Any, Literal

from blendwright.batch.cases.case import Case, is_key
from blendwright.batch.cases.case_runner import CaseRun, CaseRunner
from blendwright.batch.cases.case_workspace import CaseDirectory
from blendwright.batch.cases.lane_workers import LaneWorkers
from blendwright.batch.cases.prefix_store import PREFIXES
from blendwright.batch.definition import Batch, Keep
from blendwright.batch.definition_checks import BY_DATA, UNSOUND, read_definition, require_equal
from blendwright.batch.engines.engine import Job, JobReport, LaneSettings
from blendwright.batch.input.prepare import catalogue_of
from blendwright.batch.outputs.allowed_locations import outputs_refusal
from blendwright.batch.outputs.locations import open_outputs, open_results
from blendwright.batch.outputs.store import attempt_name
from blendwright.batch.results.table import Claim, ResultRow
from blendwright.engine.code.resource_guard import usage
from blendwright.journal.store import utc_now
from blendwright.policy.policy import Policy, Verdict
from blendwright.util import crash_points
from blendwright.util.cancel import CancelToken
from blendwright.util.directory_removal import remove_directory
from blendwright.values.errors import BlendwrightError, EnvironmentUnfit, WorkerLost
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding
from blendwright.workspace.blender_choice import chosen_blender
from blendwright.workspace.policy_files import load_policy
from blendwright.workspace.settings import load_settings

STAGING = "staging"


class CaseHandler:
    """A handler that processes jobs one after another in this process, on one warm Blender. The caller must close it."""

    def __init__(self, settings: LaneSettings, cancel: CancelToken | None = None) -> None:
        self._settings = settings
        self._cancel = cancel
        self._is_foreign = settings.queue is not None
        self._is_broken = False
        self._results = open_results(settings.results)
        # If the policy forbids the location, the handler does not even look at it.
        self._refusal: Finding | None = None
        if settings.places is not None:
            self._refusal = outputs_refusal(settings.outputs, settings.places)
        self._outputs = None
        if self._refusal is None:
            self._outputs = open_outputs(settings.outputs)
        self._work = Path(settings.work).resolve()
        # A directory for this worker process alone. Its cases may write outputs nowhere else.
        (self._work / STAGING).mkdir(parents=True, exist_ok=True)
        self._staging = Path(tempfile.mkdtemp(prefix=f"lane-{os.getpid()}-", dir=self._work / STAGING))
        # Published directories keep this mode, so every reader of the batch directory can read them.
        self._staging.chmod(0o755)
        directory = Path(settings.settings)
        self._case_settings = load_settings(directory, policy=_policy(directory, self._staging))
        self._name = f"{socket.gethostname()}:{os.getpid()}"
        self._blender_name: str | None = None
        self._workers: LaneWorkers | None = None
        self._runners: dict[str, CaseRunner] = {}
        self._started = monotonic()
        self._cases = 0

    def __call__(self, job: Job) -> JobReport:
        """Process a job and return its report. Give the case back and raise if the failure is not the case's own fault."""
        try:
            if self._is_foreign and not is_key(job.case):
                raise ValueError(f"'{job.case[:70]}' is not the key of a case")
            claim = self._results.claim(job.case, self._name)
        except BY_DATA as error:
            if not self._is_foreign:
                raise
            # The row cannot be read, so no result can be written for it. It stays unchanged.
            return JobReport(job, "skipped", reason=f"its row is invalid: {str(error)[:300]}")
        if claim is None:
            return JobReport(job, "done_before", retire=self._worn())
        crash_points.reach("batch.claimed")
        started = perf_counter()
        staging = self._staging / attempt_name(claim.case.number, claim.fence)
        case_directory = CaseDirectory(self._work, claim.case.key)
        try:
            run = self._run(job, claim, case_directory, staging)
            while run.lost_blender and claim.attempts < self._settings.most_attempts:
                # The case may not be at fault yet. Resume it from its journal with another Blender.
                claim = replace(claim, attempts=claim.attempts + 1)
                run = self._run(job, claim, case_directory, staging)
            if run.cancelled:
                self._results.give_back(job.case, claim.fence)
                return JobReport(job, "given_back")
            row = self._published(claim, run, staging, self._keep(job), case_directory, started)
        except BaseException:
            self._results.give_back(job.case, claim.fence)
            raise
        self._cases += 1
        if row is None:
            return JobReport(job, "done_before", retire=self._worn())
        return JobReport(job, "published", row.to_json(), self._worn())

    def _run(self, job: Job, claim: Claim, case_directory: CaseDirectory, staging: Path) -> CaseRun:
        """Run a claimed case and return its result, also for a failed case. Raise EnvironmentUnfit if no case could run here."""
        if claim.attempts > self._settings.most_attempts:
            message = f"its process ended {claim.attempts - 1} times while the case ran"
            fix = "Run this case alone to see the reason; it may need more memory than this machine has."
            return CaseRun((Finding(Fault.WORKER_LOST, message, "", fix),))
        if self._refusal is not None:
            return CaseRun((self._refusal,))
        params: Any = claim.case.params
        try:
            if not isinstance(params, dict):
                raise TypeError("its parameters are not an object")
            shutil.rmtree(staging, ignore_errors=True)
            staging.mkdir()
            case_directory.prepare()
            return self.runner(job.batch).run(claim.case, case_directory.workspace, staging, self._cancel, job.prefixes)
        except EnvironmentUnfit as error:
            if self._is_foreign and error.details.get(UNSOUND):
                return CaseRun((Finding(Fault.SCHEMA_INVALID, error.message, "", error.cure),))
            if not error.details.get("quarantined"):
                raise
            failure: BlendwrightError = error
        except BY_DATA as error:
            if not self._is_foreign:
                raise
            # An invalid row must not end one worker after another. This process may be damaged, so the engine replaces it.
            logging.getLogger(__name__).exception("a case failed with an unexpected error")
            self._is_broken = True
            message = f"{type(error).__name__}: {str(error)[:300]}"
            fix = "Submit the batch again. If its row was not changed by hand, this is a defect: report it."
            return CaseRun((Finding(Fault.INTERNAL_ERROR, message, "", fix),))
        except WorkerLost as error:
            return CaseRun((Finding(Fault.WORKER_LOST, error.message, "", error.cure),))
        except BlendwrightError as error:
            failure = error
        return CaseRun((Finding(Fault.INTERNAL_ERROR, failure.message, "", failure.cure),))

    def _published(
        self, claim: Claim, run: CaseRun, staging: Path, keep: Keep, case_directory: CaseDirectory, started: float
    ) -> ResultRow | None:
        """Publish this attempt's outputs and row, and return the row. If another attempt counts instead, delete this attempt's files and
        return None."""
        case, name = claim.case, attempt_name(claim.case.number, claim.fence)
        row = _row(case, run, claim, self._name)
        location = None
        if run.ok:
            case_directory.keep_in(staging, keep)
            if not self._results.holds(case.key, claim.fence):
                remove_directory(staging)
                return None
            assert run.scene_hash is not None and self._outputs is not None
            manifest = self._outputs.publish(staging, name, case.key, run.scene_hash)
            location = self._outputs.location(name)
            row = replace(row, location=location, outputs=manifest.files)
        times = {**row.times, "total": round(perf_counter() - started, 4)}
        row = replace(row, times=times, finished=utc_now(), memory_mb=self._memory_mb())
        if not self._results.publish(row, claim.fence):
            if location is not None and self._outputs is not None:
                self._outputs.remove(name)
            return None
        remove_directory(staging)
        if run.ok or keep == "drop":
            case_directory.remove()
        return row

    def runner(self, id: str) -> CaseRunner:
        """Return the runner of a batch's cases. Raise EnvironmentUnfit if the batch is unknown, invalid or made for other tools."""
        if id not in self._runners:
            batch = read_definition(self._results, id, self._settings.queue)
            workers = self._blender()
            version = ".".join(map(str, workers.worker().profile.version))
            require_equal(batch, version, catalogue_of(self._case_settings))
            shared = None
            if self._settings.prefixes:
                shared = self._work / PREFIXES
            self._runners[id] = CaseRunner(self._allowed(batch), workers, self._case_settings, shared)
        return self._runners[id]

    def _keep(self, job: Job) -> Keep:
        """Return how much of the workspace to keep; "drop" if the batch's definition is invalid."""
        try:
            return self.runner(job.batch).batch.keep
        except EnvironmentUnfit as error:
            if self._is_foreign and error.details.get(UNSOUND):
                return "drop"
            raise

    def _allowed(self, batch: Batch) -> Batch:
        """Return the batch with only the grants that this machine allows."""
        allowed = self._settings.approve
        if allowed is None:
            return batch
        return replace(batch, approve=tuple(name for name in batch.approve if name in allowed))

    def _blender(self) -> LaneWorkers:
        if self._workers is None:
            source = chosen_blender(Path(self._settings.settings), self._blender_name)
            limits = self._case_settings.draft.terms.constraints
            self._workers = LaneWorkers(source, self._work / "scratch", limits.memory_mb, limits.scratch_mb)
        return self._workers

    def warm(self, blender: str | None) -> None:
        """Start Blender before the first job. `blender` is the choice of this machine's user.

        The definition of a batch does not influence the choice: its author must not choose a program that runs here. Raises
        EnvironmentUnfit."""
        self._blender_name = blender
        self._blender().worker()

    def _worn(self) -> bool:
        """Return whether the engine must replace this worker process: it is broken, too old or too large, or did enough cases."""
        settings = self._settings
        if self._is_broken or self._cases >= settings.most_cases:
            return True
        if monotonic() - self._started >= settings.most_seconds:
            return True
        return self._memory_mb() >= settings.most_memory_mb

    def blender_pids(self) -> tuple[int, ...]:
        """Return the process ids of the Blenders that this worker process runs."""
        if self._workers is None:
            return ()
        return self._workers.pids()

    def _memory_mb(self) -> int:
        return sum(usage(pid)[0] for pid in (os.getpid(), *self.blender_pids())) >> 20

    def close(self) -> None:
        if self._workers is not None:
            self._workers.close()
        remove_directory(self._staging)
        self._results.close()


def _policy(settings: Path, staging: Path) -> Policy:
    """Return the batch's policy with the staging directory of this worker process as an additional allowed root."""
    policy = load_policy(settings).policy
    rules = policy.policy
    roots = {**rules.roots, str(staging): Verdict.ALLOW}
    return policy.model_copy(update={"policy": rules.model_copy(update={"roots": roots})})


def _row(case: Case, run: CaseRun, claim: Claim, worker: str) -> ResultRow:
    findings: tuple[dict[str, Any], ...] = tuple(finding.to_json() for finding in run.findings)
    status: Literal["done", "failed"] = "failed"
    if run.ok:
        status = "done"
    return ResultRow(
        case.number, case.key, case.params, status, run.scene_hash,
        findings=findings, times=run.times, operations=run.operations, reused=run.reused,
        source=case.source, worker=worker, attempts=claim.attempts, prefix=run.prefix,
    )  # fmt: skip
