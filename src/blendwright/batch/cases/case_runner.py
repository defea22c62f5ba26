"""Runs one case in one workspace, on the warm Blender of its lane, and makes its outputs. Publishes nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
    """What became of a case in its workspace. With findings it failed; `cancelled` says that it was called off instead."""

    findings: tuple[Finding, ...] = ()
    scene_hash: str | None = None
    operations: int = 0
    reused: int = 0
    times: Mapping[str, float] = field(default_factory=dict[str, float])
    cancelled: bool = False
    prefix: str | None = None
    """The hash of the shared beginning that it started from."""

    @property
    def ok(self) -> bool:
        return not self.findings and not self.cancelled

    @property
    def lost_blender(self) -> bool:
        """Whether it failed because its Blender ended, by whatever hand."""
        return any(finding.fault is Fault.WORKER_LOST for finding in self.findings)


def case_plan(source: BatchSource, params: Mapping[str, Any], request_id: str, names: tuple[str, ...]) -> Plan:
    """The plan of a case: what the program yields for its parameters, kept operation by operation, so that a case that was cut off goes
    on where it was. Raises Refusal."""
    if source.is_program:
        document = {"program": source.text, "params": dict(params), "name": source.name}
        around = Surroundings(names, lambda path: _library(source, path))
        plan = registry.parse_plan(
            document, dialect="program", request_id=request_id, boundary="operation", surroundings=around
        )
    else:
        plan = replace(registry.read_plan(source.text.encode(), boundary="operation"), request_id=request_id)
    if plan.findings:
        raise Refusal(plan.findings)
    return plan


def _library(source: BatchSource, path: str) -> str:
    if path not in source.libraries:
        raise Refusal([Finding(Fault.SCHEMA_INVALID, f"'{path[:200]}' was not loaded when the batch was made")])
    return source.libraries[path]


class CaseRunner:
    """Of one lane and one batch. `shared` is where the lanes keep what cases have in common; None: nothing is shared."""

    def __init__(self, batch: Batch, workers: LaneWorkers, settings: WorkspaceSettings, shared: Path | None) -> None:
        self.batch = batch
        self._workers = workers
        self._settings = settings
        self._approver = Approver(None, parse_grants(batch.approve))
        self._names = (*settings.tools, *settings.macros)
        self._prefixes: PrefixStore | None = None
        # Where heads of audit chains are noted outside, copies of a journal would contradict each other.
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
        """The plan of the case in its workspace, which may hold a part of it already, and its outputs in `staging`, which is empty.
        `prefixes` are the beginnings that it shares with others.

        Raises EnvironmentUnfit and other errors that are not the case's own fault."""
        started = perf_counter()
        try:
            plan = case_plan(self.batch.source, case.params, self.batch.request_id, self._names)
        except Refusal as refusal:
            return CaseRun(refusal.findings, times={"evaluate": _since(started)})
        evaluated = perf_counter()
        prefix: Prefix | None = None
        if prefixes and self._prefixes is not None and not workspace.exists():
            prefix = self._prefixes.begin(plan, prefixes, workspace, cancel)
        begun = perf_counter()
        redone: list[int] = []
        with self.open_workspace(workspace, redone) as opened:
            ready = perf_counter()
            options = RunOptions(timeout=self.batch.case_seconds, cancel=cancel, background=True)
            report = opened.run(plan, options)
            ran = perf_counter()
            if report.ok:
                findings = ()
            else:
                findings = tuple(_findings(report))
            cancelled = report.cancelled
            if report.ok:
                try:
                    make_outputs(opened, staging, self.batch.outputs, cancel)
                except Refusal as refusal:
                    findings = refusal.findings
                    cancelled = any(finding.fault is Fault.CANCELLED for finding in findings)
            made = perf_counter()
            # Nobody goes on from here: what is kept of the workspace is redone where somebody wants to see it.
            opened.close(save=False)
        if prefix is not None and self._prefixes is not None and any(redone):
            # Its checkpoint opens to another scene, so that all of it was done again.
            self._prefixes.reject(prefix)
        times = {
            "evaluate": evaluated - started, "prefix": begun - evaluated, "open": ready - begun, "run": ran - ready,
            "outputs": made - ran,
        }  # fmt: skip
        return CaseRun(
            findings,
            report.scene_hash_after,
            len(report.operations),
            sum(operation.status == "skipped_idempotent" for operation in report.operations),
            {name: round(seconds, 4) for name, seconds in {**times, "close": _since(made)}.items()},
            cancelled,
            None if prefix is None else prefix[1],
        )

    def open_workspace(self, workspace: Path, redone: list[int] | None = None) -> OpenScene:
        """The workspace of a case, on the lane's Blender. `redone` gets how many operations had to be done again, each time the scene was
        built."""

        def observe(event: Event) -> None:
            if isinstance(event, SceneBuilt) and redone is not None:
                redone.append(event.redone)

        return opening.open(
            workspace, settings=self._settings, blender=self._workers, approver=self._approver, spare=False, durable=False,
            observers=(observe,),
        )  # fmt: skip


def _findings(report: RunReport) -> Iterator[Finding]:
    """At least one: a case that failed says why."""
    found = list(report.all_findings())
    for operation in report.operations:
        if operation.fault is not None and not operation.findings:
            found.append(Finding(operation.fault, operation.message or operation.status, f"/{operation.operation_id}"))
    yield from found or [Finding(Fault.EXECUTION_FAILED, f"the plan ended as {report.status}")]


def _since(started: float) -> float:
    return round(perf_counter() - started, 4)
