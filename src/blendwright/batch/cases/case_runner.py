"""The execution of one case in one workspace, on the warm Blender of its worker process. It makes outputs and publishes nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter
from typing import Any

from blendwright.approvals.pending import parse_grants
from blendwright.batch.cases.case import Case
from blendwright.batch.cases.lane_workers import LaneWorkers
from blendwright.batch.cases.prefix_store import PrefixStore
from blendwright.batch.cases.prefixes import Prefix, Sharing
from blendwright.batch.definition import Batch, BatchSource
from blendwright.batch.outputs.makers import make_outputs
from blendwright.dialects import registry
from blendwright.dialects.dialect import Surroundings
from blendwright.util.cancel import CancelToken
from blendwright.values.approval import Approver
from blendwright.values.errors import Refusal
from blendwright.values.events import Event, SceneBuilt
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding
from blendwright.values.plan import Plan
from blendwright.values.report import RunReport
from blendwright.workspace import OpenScene, RunOptions, opening
from blendwright.workspace.settings import WorkspaceSettings


@dataclass(frozen=True, slots=True)
class CaseRun:
    """The result of a case in its workspace. It failed if it has findings; `cancelled` is true if the run was cancelled instead.

    `times` are seconds by phase. `reused` counts operations that an earlier attempt or a shared prefix had already done."""

    findings: tuple[Finding, ...] = ()
    scene_hash: str | None = None
    operations: int = 0
    reused: int = 0
    times: Mapping[str, float] = field(default_factory=dict[str, float])
    cancelled: bool = False
    prefix: str | None = None
    """The hash of the shared prefix that the workspace started from, or None."""

    @property
    def ok(self) -> bool:
        return not self.findings and not self.cancelled

    @property
    def lost_blender(self) -> bool:
        """Return whether the case failed because its Blender ended, for whatever reason."""
        return any(finding.fault is Fault.WORKER_LOST for finding in self.findings)


def case_plan(source: BatchSource, params: Mapping[str, Any], request_id: str, names: tuple[str, ...]) -> Plan:
    """Return the plan of a case: the operations that the program yields for the parameters. Raise Refusal if that fails.

    The plan commits after every operation, so a later attempt resumes an interrupted case."""
    if source.is_program:
        document = {"program": source.text, "params": dict(params), "name": source.name}
        surroundings = Surroundings(names, lambda path: _library(source, path))
        plan = registry.parse_plan(
            document, dialect="program", request_id=request_id, boundary="operation", surroundings=surroundings
        )
    else:
        plan = replace(registry.read_plan(source.text.encode(), boundary="operation"), request_id=request_id)
    if plan.findings:
        raise Refusal(plan.findings)
    return plan


def _library(source: BatchSource, path: str) -> str:
    if path not in source.libraries:
        raise Refusal(
            [Finding(Fault.SCHEMA_INVALID, f"the program did not load '{path[:200]}' when the batch was made")]
        )
    return source.libraries[path]


class CaseRunner:
    """The runner of one batch in one worker process.

    `shared` is the directory in which the worker processes keep shared prefixes, or None to share nothing."""

    def __init__(self, batch: Batch, workers: LaneWorkers, settings: WorkspaceSettings, shared: Path | None) -> None:
        self.batch = batch
        self._workers = workers
        self._settings = settings
        self._approver = Approver(None, parse_grants(batch.approve))
        self._names = (*settings.tools, *settings.macros)
        self._prefixes: PrefixStore | None = None
        # If the settings note the heads of audit chains outside the workspace, copies of a journal would contradict each other.
        if shared is not None and settings.heads_outside is None:
            sharing = Sharing(settings.tools, settings.macros)
            self._prefixes = PrefixStore(shared, self.open_workspace, sharing)

    def run(
        self,
        case: Case,
        workspace: Path,
        staging: Path,
        cancel: CancelToken | None = None,
        prefixes: Sequence[Prefix] = (),
    ) -> CaseRun:
        """Run the plan of a case in its workspace and make its outputs in `staging`, which must be empty.

        The workspace may contain an interrupted attempt, which the run resumes. `prefixes` are the prefixes that the case shares with
        other cases. Raises EnvironmentUnfit and other errors that the case itself did not cause."""
        started = perf_counter()
        try:
            plan = case_plan(self.batch.source, case.params, self.batch.request_id, self._names)
        except Refusal as refusal:
            return CaseRun(refusal.findings, times={"evaluate": _since(started)})
        evaluated_at = perf_counter()
        prefix: Prefix | None = None
        if prefixes and self._prefixes is not None and not workspace.exists():
            prefix = self._prefixes.begin(plan, prefixes, workspace, cancel)
        prefix_at = perf_counter()
        redone_counts: list[int] = []
        with self.open_workspace(workspace, redone_counts) as opened:
            opened_at = perf_counter()
            options = RunOptions(timeout=self.batch.case_seconds, cancel=cancel, background=True)
            report = opened.run(plan, options)
            ran_at = perf_counter()
            findings: tuple[Finding, ...] = ()
            if not report.ok:
                findings = _findings(report)
            cancelled = report.cancelled
            if report.ok:
                try:
                    make_outputs(opened, staging, self.batch.outputs, cancel)
                except Refusal as refusal:
                    findings = refusal.findings
                    cancelled = any(finding.fault is Fault.CANCELLED for finding in findings)
            outputs_at = perf_counter()
            # No run continues from this state, so a checkpoint would be useless. A viewer rebuilds the scene.
            opened.close(save=False)
        if prefix is not None and self._prefixes is not None and any(redone_counts):
            # The checkpoint of the prefix opens to a different scene, so Blendwright had to run all operations again.
            self._prefixes.reject(prefix)
        times = {
            "evaluate": evaluated_at - started,
            "prefix": prefix_at - evaluated_at,
            "open": opened_at - prefix_at,
            "run": ran_at - opened_at,
            "outputs": outputs_at - ran_at,
            "close": perf_counter() - outputs_at,
        }
        prefix_hash: str | None = None
        if prefix is not None:
            prefix_hash = prefix[1]
        return CaseRun(
            findings,
            report.scene_hash_after,
            len(report.operations),
            sum(operation.status == "skipped_idempotent" for operation in report.operations),
            {name: round(seconds, 4) for name, seconds in times.items()},
            cancelled,
            prefix_hash,
        )

    def open_workspace(self, workspace: Path, redone: list[int] | None = None) -> OpenScene:
        """Open the workspace of a case on the warm Blender of this worker process.

        Each time Blendwright builds the scene, it appends to `redone` the number of operations that it had to run again."""

        def observe(event: Event) -> None:
            if isinstance(event, SceneBuilt) and redone is not None:
                redone.append(event.redone)

        return opening.open(
            workspace, settings=self._settings, blender=self._workers, approver=self._approver, spare=False, durable=False,
            observers=(observe,),
        )  # fmt: skip


def _findings(report: RunReport) -> tuple[Finding, ...]:
    """Return the findings of a failed run, at least one."""
    findings = list(report.all_findings())
    for operation in report.operations:
        if operation.fault is not None and not operation.findings:
            message = operation.message or operation.status
            findings.append(Finding(operation.fault, message, f"/{operation.operation_id}"))
    if not findings:
        findings.append(Finding(Fault.EXECUTION_FAILED, f"the plan ended with status {report.status}"))
    return tuple(findings)


def _since(started: float) -> float:
    """Return the rounded seconds since a point in time."""
    return round(perf_counter() - started, 4)
