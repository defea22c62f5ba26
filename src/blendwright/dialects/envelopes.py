"""Renderings of an outcome: the execution model's ToolResult, the matching result for plans, and the core model's
envelope.

`plan_outcome` first turns the report of a plan and its receipts into one outcome. All renderings are strict models, and
every answer of the core passes through one of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, model_validator

from blendwright.policy.host_profile import EnvelopeName
from blendwright.values.faults import RENDERINGS, Fault
from blendwright.values.findings import Finding, sentence
from blendwright.values.outcome import PHASES, DeterminismClass, Outcome, PhaseTrace
from blendwright.values.report import (
    OperationReport,
    OperationStatus,
    ReceiptSummary,
    RunReport,
    summarise_receipts,
)

ToolErrorCode = Literal[
    "invalid_input",
    "capability_missing",
    "policy_refused",
    "not_found",
    "conflict",
    "timeout",
    "nondeterministic_refused",
    "internal_error",
]
CoreErrorCode = Literal[
    "invalid_arguments",
    "contract_violation",
    "capability_missing",
    "unsupported_blender_version",
    "not_found",
    "execution_failed",
    "timeout",
    "internal_error",
]


class Envelope(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, defer_build=True)


class _ResultFields(Envelope):
    """Fields that results of tool calls and of plans share."""

    ok: bool
    error_code: ToolErrorCode | None
    message: str
    details: dict[str, Any]
    result: dict[str, Any] | None
    determinism_class: DeterminismClass | None
    seed: int | None
    tolerance: float | None
    handles: list[dict[str, str]]
    fingerprint_before: str | None
    fingerprint_after: str | None
    snapshot: dict[str, Any] | None = None

    @model_validator(mode="after")
    def _coded(self) -> Self:
        if self.ok != (self.error_code is None):
            raise ValueError("error_code exists exactly when ok is false")
        if self.ok and self.determinism_class is None:
            raise ValueError("a successful result names its determinism class")
        return self


class ToolResult(_ResultFields):
    """The result of a tool call in the execution model."""

    @model_validator(mode="after")
    def _seeded(self) -> Self:
        if self.ok and self.determinism_class == "seeded" and self.seed is None:
            raise ValueError("a seeded result echoes its seed")
        return self


class PlanResult(_ResultFields):
    """The result of a plan: the same fields as for a call, for all operations together.

    `determinism_class` is the weakest of the receipts, `tolerance` the largest. `seeds` holds the seed of every
    operation that has one, and `seed` their common value. `handles` come from all receipts. The fingerprints describe
    the scene before and after the run.
    """

    seeds: dict[str, int]

    @model_validator(mode="after")
    def _seeded(self) -> Self:
        if self.determinism_class == "seeded" and not self.seeds:
            raise ValueError("a seeded plan names the seeds of its operations")
        common_seed = None
        values = set(self.seeds.values())
        if len(values) == 1:
            common_seed = values.pop()
        if self.seed != common_seed:
            raise ValueError("seed is the common value of all seeds")
        return self


class CoreError(Envelope):
    code: CoreErrorCode
    message: str
    details: dict[str, Any]


class CoreEnvelope(Envelope):
    """The answer to a tool call in the core model: a result or an error, never both."""

    ok: bool
    result: dict[str, Any] | None = None
    error: CoreError | None = None

    @model_validator(mode="after")
    def _consistent(self) -> CoreEnvelope:
        if self.ok != (self.error is None) or self.ok != (self.result is not None):
            raise ValueError("a result exists exactly when ok is true, an error exactly when it is false")
        return self


def tool_result(outcome: Outcome) -> ToolResult:
    """Return the outcome of a call as a ToolResult."""
    return ToolResult(**_fields(outcome))


def result_envelope(outcome: Outcome) -> ToolResult | PlanResult:
    """Return a PlanResult for an outcome with seeds, which is a plan's outcome, or else a ToolResult."""
    if outcome.seeds is None:
        return tool_result(outcome)
    return PlanResult(**_fields(outcome), seeds=dict(outcome.seeds))


def _fields(outcome: Outcome) -> dict[str, Any]:
    code = None
    if outcome.fault is not None:
        code = RENDERINGS[outcome.fault].tool_result
    return {
        "ok": outcome.ok,
        "error_code": code,
        "message": outcome.message,
        "details": _details(outcome),
        "result": _copy(outcome.result),
        "determinism_class": outcome.determinism_class,
        "seed": outcome.seed,
        "tolerance": outcome.tolerance,
        "handles": list(map(dict, outcome.handles)),
        "fingerprint_before": outcome.fingerprint_before,
        "fingerprint_after": outcome.fingerprint_after,
        "snapshot": _copy(outcome.snapshot),
    }


def _copy(mapping: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if mapping is None:
        return None
    return dict(mapping)


def core_envelope(outcome: Outcome) -> CoreEnvelope:
    if outcome.fault is None:
        rendered = result_envelope(outcome).model_dump(mode="json", exclude={"ok", "error_code", "message"})
        return CoreEnvelope(ok=True, result=rendered)
    code: Any = RENDERINGS[outcome.fault].core
    details = _details(outcome) | {
        "fingerprint_before": outcome.fingerprint_before,
        "fingerprint_after": outcome.fingerprint_after,
    }
    if outcome.seeds is not None:
        # A failed plan may have kept some operations. The details describe them as a success does.
        described = PlanResult(**_fields(outcome), seeds=dict(outcome.seeds))
        details |= described.model_dump(
            mode="json", include={"determinism_class", "seed", "seeds", "tolerance", "handles"}
        )
    return CoreEnvelope(ok=False, error=CoreError(code=code, message=outcome.message, details=details))


def render_envelope(outcome: Outcome, envelope: EnvelopeName) -> dict[str, Any]:
    """Return the outcome as a document of the given contract.

    The core model has no result next to an error, so the result of a failed plan goes into the error's details.
    """
    if envelope == "tool_result":
        return result_envelope(outcome).model_dump(mode="json")

    unused_field = "result"
    if outcome.ok:
        unused_field = "error"
    document = core_envelope(outcome).model_dump(mode="json", exclude={unused_field})
    if not outcome.ok and outcome.result is not None:
        document["error"]["details"]["result"] = dict(outcome.result)
    return document


def _details(outcome: Outcome) -> dict[str, Any]:
    details: dict[str, Any] = {
        "tool": outcome.tool,
        "tool_version": outcome.version,
        "trace": [phase.to_json() for phase in outcome.trace],
    }
    if outcome.fault is not None:
        details["fault"] = outcome.fault.value
        details["recoverable"] = outcome.recoverable
        if outcome.recoverable is None:
            details["recoverable"] = RENDERINGS[outcome.fault].recoverable
        details["findings"] = [finding.to_json() for finding in outcome.findings]
        details["reverted_by"] = outcome.reverted_by
        if outcome.cancelled:
            details["cancelled"] = True
    if outcome.changes:
        details["changes"] = list(map(dict, outcome.changes))
    if outcome.artifacts:
        details["artifacts"] = list(outcome.artifacts)
    if outcome.notes:
        details["notes"] = list(outcome.notes)
    if outcome.partial is not None:
        details["partial_work"] = dict(outcome.partial)
    return details


# Name of each operation status in the summary of partial work.
PARTS: dict[OperationStatus, str] = {
    "succeeded": "kept",
    "skipped_idempotent": "kept",
    "rolled_back": "taken_back",
    "failed": "failed",
    "refused": "not_run",
    "skipped": "not_run",
}
# Entries of each list about a failed plan. Totals count the omitted entries too.
MAX_LISTED = 200
OPERATION_PHASES = {"plan": "plan_ms", "execute": "execute_ms", "verify": "verify_ms"}


def plan_outcome(
    name: str,
    report: RunReport,
    result: Mapping[str, Any],
    *,
    parse_ms: float | None = None,
    receipts: ReceiptSummary | None = None,
    beside: Sequence[Outcome] = (),
) -> Outcome:
    """Return the outcome of a plan.

    `name` is the tool that ran the plan, `result` its answer. `receipts` replaces the summary of the report's own receipts.
    `beside` holds outcomes of further calls that the caller requested; a failed one makes the whole outcome a failure.
    """
    receipts = receipts or summarise_receipts(report.operations)
    handles = receipts.handles
    determinism_class = receipts.determinism_class
    findings: tuple[Finding, ...] = ()
    fault = reverted_by = partial = None
    if report.ok:
        determinism_class = determinism_class or "deterministic"
    else:
        findings = tuple(report.all_findings()) or (_unexplained(report),)
        fault = _fault(report, findings)
        handles = handles[:MAX_LISTED]
        if report.status != "refused":
            partial = _partial_work(report.operations, receipts)
    if any(operation.status == "rolled_back" for operation in report.operations):
        reverted_by = "rebuild"

    outcome = Outcome(
        name,
        1,
        fault=fault,
        message=sentence(findings),
        findings=findings,
        result=result,
        handles=handles,
        determinism_class=determinism_class,
        seed=receipts.seed,
        seeds=receipts.seeds,
        tolerance=receipts.tolerance,
        fingerprint_before=report.scene_hash_before,
        fingerprint_after=report.scene_hash_after,
        reverted_by=reverted_by,
        partial=partial,
        recoverable=report.recoverable,
        trace=tuple(_trace(report, parse_ms)),
        request_id=report.request_id,
        notes=(*report.notes, *receipts.notes),
    )
    failed_call = next((call for call in beside if not call.ok), None)
    if not report.ok or failed_call is None:
        return outcome
    return outcome.with_(
        fault=failed_call.fault,
        message=failed_call.message,
        findings=failed_call.findings,
        partial=_partial_work(report.operations, receipts),
    )


def _fault(report: RunReport, findings: tuple[Finding, ...]) -> Fault:
    """Return the fault of a failed plan: a failed rollback, else a cancellation, else the first fault."""
    faults = [operation.fault for operation in report.operations if operation.fault is not None]
    if not faults:
        return findings[0].fault
    for fault in (Fault.ROLLBACK_FAILED, Fault.CANCELLED):
        if fault in faults:
            return fault
    return faults[0]


def _unexplained(report: RunReport) -> Finding:
    """Return a finding that lists the undone operations of a failed run without findings."""
    undone = ", ".join(operation.operation_id for operation in report.operations if not operation.done)
    return Finding(Fault.EXECUTION_FAILED, f"the run is {report.status}; not done: {undone[:500]}")


def _partial_work(operations: tuple[OperationReport, ...], receipts: ReceiptSummary) -> dict[str, Any]:
    """Return the operation ids by outcome, each list cut to MAX_LISTED, with the total of each."""
    parts: dict[str, list[str]] = {part: [] for part in PARTS.values()}
    begun: dict[str, Any] = {}
    for operation in operations:
        parts[PARTS[operation.status]].append(operation.operation_id)
        work = operation.partial_work
        if work is not None:
            begun[operation.operation_id] = work

    totals: dict[str, int] = {}
    summary: dict[str, Any] = {}
    for part, ids in parts.items():
        totals[part] = len(ids)
        if part != "not_run":
            summary[part] = ids[:MAX_LISTED]
    totals["handles"] = len(receipts.handles)
    return {**summary, "begun": begun, "totals": totals}


def _trace(report: RunReport, parse_ms: float | None) -> Iterator[PhaseTrace]:
    """Return the phases of all operations together.

    The phase "return" gets the time of the run that no other phase accounts for: transport and commits.
    """
    spent: dict[str, float | None] = {
        "parse": parse_ms,
        "validate_input": report.timings.get("validate_ms"),
        "gate": report.timings.get("gate_ms"),
    }
    for phase, part in OPERATION_PHASES.items():
        times = [operation.timings[part] for operation in report.operations if part in operation.timings]
        spent[phase] = None
        if times:
            spent[phase] = round(sum(times), 3)
    inside = sum(spent[phase] or 0.0 for phase in ("gate", *OPERATION_PHASES))
    spent["return"] = round(max(0.0, report.timings.get("run_ms", 0.0) - inside), 3)
    return (PhaseTrace(phase, spent[phase]) for phase in PHASES)
