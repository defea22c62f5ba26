"""The status of every operation of a running plan. The runner makes its report from it; it does not decide what
runs.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from blendwright.engine.invocation import Invocation
from blendwright.engine.options import Progress
from blendwright.values.findings import Finding, cut, sentence
from blendwright.values.plan import Operation, Schedule
from blendwright.values.report import OperationReport, OperationStatus, RunStatus, StepDetails
from blendwright.wire.methods import StepAnswer


class RunState:
    """The reports of one run so far.

    The pipeline calls `record` only for durable results, because `record` acknowledges an operation to the
    observer of the run.
    """

    def __init__(self, schedule: Schedule, progress: Progress | None, *, hold: bool) -> None:
        self._whole = schedule.plan.boundary == "plan"
        self._order = schedule.order
        self._operations = {operation.id: operation for operation in schedule.order}
        self._reports: dict[str, OperationReport] = {}
        self._progress = progress
        self._buffered: list[OperationReport] | None = [] if hold else None

    def caller_id(self, id: str) -> str:
        """Return the caller's id of an operation, shortened for messages. For a step of a macro this is the id of
        the macro call.
        """
        return cut(self._operations[id].caller_id)

    def is_open(self, id: str) -> bool:
        return id not in self._reports

    def record(self, report: OperationReport) -> None:
        self._reports[report.operation_id] = report
        if self._buffered is not None:
            self._buffered.append(report)
        elif self._progress is not None:
            self._progress(report)

    def revise(self, report: OperationReport) -> None:
        """Replace the report of an operation with a worse one. The observer keeps the first report."""
        if self.is_open(report.operation_id):
            self.record(report)
        else:
            self._reports[report.operation_id] = report

    def hold(self) -> None:
        """Buffer all reports until `release`, because a rollback may revert them together."""
        if self._buffered is None:
            self._buffered = []

    def release(self) -> None:
        buffered, self._buffered = self._buffered or [], None
        if self._progress is not None:
            for report in buffered:
                self._progress(self._reports[report.operation_id])

    def block_dependents(self, id: str, why: str = "failed") -> None:
        """Record every open operation that depends on this one, directly or indirectly, as blocked."""
        waiting = deque([id])
        while waiting:
            for dependent in self._dependents.get(waiting.popleft(), ()):
                if self.is_open(dependent):
                    message = f"waits for '{self.caller_id(id)}', which {why}"
                    self.record(self.skipped(dependent, message, blocked=True))
                    waiting.append(dependent)

    @cached_property
    def _dependents(self) -> Mapping[str, Sequence[str]]:
        """Return the direct dependents of each operation.

        Computed once, at the first failure, because thousands of steps of a plan may fail.
        """
        dependents: dict[str, list[str]] = {}
        for operation in self._order:
            for dependency in dict.fromkeys(operation.depends_on):
                dependents.setdefault(dependency, []).append(operation.id)
        return dependents

    def skip_rest(self, message: str) -> None:
        for operation in self._order:
            if self.is_open(operation.id):
                self.record(self.skipped(operation.id, message))

    def take_back(self, message: str, ids: Collection[str]) -> None:
        """Mark these operations as rolled back where they had succeeded."""
        for id in ids:
            if self._reports[id].status == "succeeded":
                self._reports[id] = replace(
                    self._reports[id], status="rolled_back", message=message, result=None, receipt=None
                )

    # ------------------------------------------------------------------ reports

    def skipped(self, id: str, message: str, *, blocked: bool = False) -> OperationReport:
        return replace(_new_report(self._operations[id], "skipped"), message=message, blocked=blocked)

    def failed(self, id: str, findings: tuple[Finding, ...], **fields: Any) -> OperationReport:
        """Return a failed report for an operation.

        `findings` point into the arguments of the operation; the findings of the report point into the plan.
        """
        operation = self._operations[id]
        located = tuple(_located(finding, operation) for finding in findings)
        return replace(
            _new_report(operation, "failed"),
            fault=findings[0].fault,
            message=sentence(located),
            findings=located,
            **fields,
        )

    def interrupted(self, call: Invocation, findings: tuple[Finding, ...], details: StepDetails) -> OperationReport:
        """Return a "skipped" report for a call that was stopped. It did not fail, and the scene keeps nothing of
        it.
        """
        ids: dict[str, Any] = {"mcp_call_id": call.call_id, "operation_key": call.key, "details": details}
        return replace(self.failed(call.operation_id, findings, **ids), status="skipped")

    def succeeded(
        self,
        call: Invocation,
        answer: StepAnswer,
        commit: int | None,
        receipt: Mapping[str, Any] | None,
        details: StepDetails | None,
    ) -> OperationReport:
        """Return the report of a successful call. `receipt` is None for a rehearsal, which leaves the scene
        unchanged.
        """
        operation = self._operations[call.operation_id]
        if receipt is None:
            scene_hash_after = answer["before"]
            mutation_id = None
        else:
            scene_hash_after = answer["after"]
            mutation_id = receipt["blender_mutation_id"]
        # Direct construction instead of dataclasses.replace: this function and `cached` run for every operation of
        # a plan.
        return OperationReport(
            operation.id,
            operation.tool,
            "succeeded",
            operation.position,
            safety_level=operation.safety_level,
            result=answer["result"],
            scene_hash_before=answer["before"],
            scene_hash_after=scene_hash_after,
            mcp_call_id=call.call_id,
            blender_mutation_id=mutation_id,
            operation_key=call.key,
            commit=commit,
            receipt=receipt,
            timings={part: answer[part] or 0.0 for part in ("plan_ms", "execute_ms", "verify_ms")},
            origin=operation.origin,
            details=details,
        )

    def cached(self, id: str, receipt: Mapping[str, Any], commit: int | None) -> OperationReport:
        """Return the report of an operation that an earlier run already did."""
        operation = self._operations[id]
        return OperationReport(
            operation.id,
            operation.tool,
            "skipped_idempotent",
            operation.position,
            safety_level=operation.safety_level,
            message="done before",
            result=receipt["result"],
            scene_hash_before=receipt["scene_hash_before"],
            scene_hash_after=receipt["scene_hash_after"],
            mcp_call_id=receipt["mcp_call_id"],
            blender_mutation_id=receipt["blender_mutation_id"],
            operation_key=receipt["operation_key"],
            commit=commit,
            receipt=receipt,
            origin=operation.origin,
        )

    def report(self, id: str) -> OperationReport:
        return self._reports[id]

    def reports(self) -> tuple[OperationReport, ...]:
        return tuple(self._reports[operation.id] for operation in self._order)

    def status(self) -> RunStatus:
        reports = self._reports.values()
        if all(report.done for report in reports):
            return "succeeded"
        if self._whole and any(report.status == "rolled_back" for report in reports):
            return "rolled_back"
        if any(report.status in ("failed", "rolled_back") for report in reports):
            return "failed"
        return "partial"


def _new_report(operation: Operation, status: OperationStatus) -> OperationReport:
    return OperationReport(
        operation.id,
        operation.tool,
        status,
        operation.position,
        safety_level=operation.safety_level,
        origin=operation.origin,
    )


def _located(finding: Finding, operation: Operation) -> Finding:
    if finding.pointer:
        return operation.in_arguments(finding)
    return operation.as_a_whole(finding)
