"""One job from its claim to its row: run the case, publish its outputs, publish its row, clear up. The same in every engine."""

from __future__ import annotations

import logging
import os
import shutil
import socket
import tempfile
from dataclasses import replace
from pathlib import Path
from time import monotonic, perf_counter
from typing import Any

from blendwright.batch.cases.case import Case, is_key
from blendwright.batch.cases.case_runner import CaseRun, CaseRunner
from blendwright.batch.cases.case_workspace import CasePlace
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
    """Does jobs in this process, one after another, on one warm Blender. Close it."""

    def __init__(self, settings: LaneSettings, cancel: CancelToken | None = None) -> None:
        self._settings = settings
        self._cancel = cancel
        self._is_of_others = settings.queue is not None
        self._is_broken = False
        self._results = open_results(settings.results)
        # A place that is not allowed is not even looked at.
        if settings.places is None:
            self._refusal = None
        else:
            self._refusal = outputs_refusal(settings.outputs, settings.places)
        if self._refusal is None:
            self._outputs = open_outputs(settings.outputs)
        else:
            self._outputs = None
        self._work = Path(settings.work).resolve()
        # One directory for this lane alone: the only one that cases may write their outputs to.
        (self._work / STAGING).mkdir(parents=True, exist_ok=True)
        self._staging = Path(tempfile.mkdtemp(prefix=f"lane-{os.getpid()}-", dir=self._work / STAGING))
        # What is published from here is for whoever may read the directory of the batch.
        self._staging.chmod(0o755)
        directory = Path(settings.settings)
        self._case_settings = load_settings(directory, policy=_policy(directory, self._staging))
        self._name = f"{socket.gethostname()}:{os.getpid()}"
        self._named: str | None = None
        self._workers: LaneWorkers | None = None
        self._runners: dict[str, CaseRunner] = {}
        self._started = monotonic()
        self._cases = 0

    def __call__(self, job: Job) -> JobReport:
        """Raises what is not the case's own fault, with the case given back."""
        try:
            if self._is_of_others and not is_key(job.case):
                raise ValueError(f"'{job.case[:70]}' is no key of a case")
            claim = self._results.claim(job.case, self._name)
        except BY_DATA as error:
            if not self._is_of_others:
                raise
            # Nothing can be written for what cannot be read: it stays as it is.
            return JobReport(job, "skipped", reason=f"it is not sound: {str(error)[:300]}")
        if claim is None:
            return JobReport(job, "done_before", retire=self._worn())
        crash_points.reach("batch.claimed")
        started = perf_counter()
        staging = self._staging / attempt_name(claim.case.number, claim.fence)
        place = CasePlace(self._work, claim.case.key)
        try:
            run = self._run(job, claim, place, staging)
            while run.lost_blender and claim.attempts < self._settings.most_attempts:
                # Nothing says yet that it was the case's fault: it goes on from its journal with another Blender.
                claim = replace(claim, attempts=claim.attempts + 1)
                run = self._run(job, claim, place, staging)
            if run.cancelled:
                self._results.give_back(job.case, claim.fence)
                return JobReport(job, "given_back")
            row = self._published(claim, run, staging, self._keep(job), place, started)
        except BaseException:
            self._results.give_back(job.case, claim.fence)
            raise
        self._cases += 1
        if row is None:
            return JobReport(job, "done_before", retire=self._worn())
        return JobReport(job, "published", row.to_json(), self._worn())

    def _run(self, job: Job, claim: Claim, place: CasePlace, staging: Path) -> CaseRun:
        """A case that fails by itself has a result that says so; raises EnvironmentUnfit for what would keep any case from running."""
        if claim.attempts > self._settings.most_attempts:
            message = f"its process ended {claim.attempts - 1} times while it ran"
            cure = "Run it by itself to see why; it may need more memory than there is."
            return CaseRun((Finding(Fault.WORKER_LOST, message, "", cure),))
        if self._refusal is not None:
            return CaseRun((self._refusal,))
        params: Any = claim.case.params
        try:
            if not isinstance(params, dict):
                raise TypeError("its parameters are no object")
            shutil.rmtree(staging, ignore_errors=True)
            staging.mkdir()
            place.prepare()
            return self.runner(job.batch).run(claim.case, place.workspace, staging, self._cancel, job.prefixes)
        except EnvironmentUnfit as error:
            if self._is_of_others and error.details.get(UNSOUND):
                return CaseRun((Finding(Fault.SCHEMA_INVALID, error.message, "", error.cure),))
            if not error.details.get("quarantined"):
                raise
            failure: BlendwrightError = error
        except BY_DATA as error:
            if not self._is_of_others:
                raise
            # Whoever writes rows must not end one worker after another. Its lane is replaced: who knows what this has left there.
            logging.getLogger(__name__).exception("a case failed in a way that nobody foresaw")
            self._is_broken = True
            message, cure = f"{type(error).__name__}: {str(error)[:300]}", "Its row was changed, or this is a defect."
            return CaseRun((Finding(Fault.INTERNAL_ERROR, message, "", cure),))
        except WorkerLost as error:
            return CaseRun((Finding(Fault.WORKER_LOST, error.message, "", error.cure),))
        except BlendwrightError as error:
            failure = error
        return CaseRun((Finding(Fault.INTERNAL_ERROR, failure.message, "", failure.cure),))

    def _published(
        self, claim: Claim, run: CaseRun, staging: Path, keep: Keep, place: CasePlace, started: float
    ) -> ResultRow | None:
        """The row that counts now; None where somebody else's does, and then nothing of this attempt is left."""
        case, name = claim.case, attempt_name(claim.case.number, claim.fence)
        row = _row(case, run, claim, self._name)
        location = None
        if run.ok:
            place.keep_in(staging, keep)
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
            place.remove()
        return row

    def runner(self, id: str) -> CaseRunner:
        """What runs the cases of a batch, by its id. Raises EnvironmentUnfit where there is no such batch."""
        if id not in self._runners:
            batch = read_definition(self._results, id, self._settings.queue)
            workers = self._blender()
            version = ".".join(map(str, workers.worker().profile.version))
            require_equal(batch, version, catalogue_of(self._case_settings))
            if self._settings.prefixes:
                shared = self._work / PREFIXES
            else:
                shared = None
            self._runners[id] = CaseRunner(self._allowed(batch), workers, self._case_settings, shared)
        return self._runners[id]

    def _keep(self, job: Job) -> Keep:
        """What becomes of the workspace; a case of a definition that is not sound has none."""
        try:
            return self.runner(job.batch).batch.keep
        except EnvironmentUnfit as error:
            if self._is_of_others and error.details.get(UNSOUND):
                return "drop"
            raise

    def _allowed(self, batch: Batch) -> Batch:
        """With no grant that this machine does not give."""
        most = self._settings.approve
        if most is None:
            return batch
        return replace(batch, approve=tuple(name for name in batch.approve if name in most))

    def _blender(self) -> LaneWorkers:
        if self._workers is None:
            source = chosen_blender(Path(self._settings.settings), self._named)
            limits = self._case_settings.draft.terms.constraints
            self._workers = LaneWorkers(source, self._work / "scratch", limits.memory_mb, limits.scratch_mb)
        return self._workers

    def warm(self, blender: str | None) -> None:
        """Start Blender ahead of the first job: the one that this machine's user names. What a definition names is not looked at: whoever
        writes it must not choose which program is run here. Raises EnvironmentUnfit."""
        self._named = blender
        self._blender().worker()

    def _worn(self) -> bool:
        """Whether the lane has had its time: then another one takes its place."""
        settings = self._settings
        if (
            self._is_broken
            or self._cases >= settings.most_cases
            or monotonic() - self._started >= settings.most_seconds
        ):
            return True
        return self._memory_mb() >= settings.most_memory_mb

    def blender_pids(self) -> tuple[int, ...]:
        """Of the Blender that this lane has now, where it has one."""
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
    """The settings of the batch, with the lane's own directory for outputs as a further root."""
    policy = load_policy(settings).policy
    rules = policy.policy
    roots = {**rules.roots, str(staging): Verdict.ALLOW}
    return policy.model_copy(update={"policy": rules.model_copy(update={"roots": roots})})


def _row(case: Case, run: CaseRun, claim: Claim, worker: str) -> ResultRow:
    findings: tuple[dict[str, Any], ...] = tuple(finding.to_json() for finding in run.findings)
    return ResultRow(
        case.number, case.key, case.params, "done" if run.ok else "failed", run.scene_hash,
        findings=findings, times=run.times, operations=run.operations, reused=run.reused,
        source=case.source, worker=worker, attempts=claim.attempts, prefix=run.prefix,
    )  # fmt: skip
