"""The renderings of one outcome: the execution model's ToolResult, its sibling for plans, and the core model's envelope.

The report of a plan becomes one outcome first, from the report and its receipts and from nothing else.
All are strict models; what leaves the core has passed through one of them.
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
    """What a tool call and a plan answer with alike."""

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
            raise ValueError("error_code is there exactly when ok is false")
        if self.ok and self.determinism_class is None:
            raise ValueError("a successful result names its determinism class")
        return self


class ToolResult(_ResultFields):
    """The result of a tool call as the execution model has it."""

    @model_validator(mode="after")
    def _seeded(self) -> Self:
        if self.ok and self.determinism_class == "seeded" and self.seed is None:
            raise ValueError("a seeded result echoes its seed")
        return self


class PlanResult(_ResultFields):
    """The result of a plan: the same fields, each true of all operations together.

    `determinism_class` is the weakest of the receipts, `tolerance` the largest. `seeds` has the seed of every operation that has one,
    and `seed` the one that they share. `handles` are those of all receipts. The fingerprints are those of the scene before and after
    the run.
    """

    seeds: dict[str, int]

    @model_validator(mode="after")
    def _seeded(self) -> Self:
        if self.determinism_class == "seeded" and not self.seeds:
            raise ValueError("a seeded plan names the seeds of its operations")
        if self.seed != (next(iter(self.seeds.values())) if len(set(self.seeds.values())) == 1 else None):
            raise ValueError("seed is the one that all seeds share")
        return self


class CoreError(Envelope):
    code: CoreErrorCode
    message: str
    details: dict[str, Any]


class CoreEnvelope(Envelope):
    """The answer to a tool call as the core model has it: a result or an error, never both."""

    ok: bool
    result: dict[str, Any] | None = None
    error: CoreError | None = None

    @model_validator(mode="after")
    def _consistent(self) -> CoreEnvelope:
        if self.ok != (self.error is None) or self.ok != (self.result is not None):
            raise ValueError("a result is there exactly when ok is true, an error exactly when it is false")
        return self


def tool_result(outcome: Outcome) -> ToolResult:
    """The outcome of a call."""
    return ToolResult(**_fields(outcome))


def result_envelope(outcome: Outcome) -> ToolResult | PlanResult:
    """The outcome of a call or of a plan, which is the one that has `seeds`."""
    if outcome.seeds is None:
        return tool_result(outcome)
    return PlanResult(**_fields(outcome), seeds=dict(outcome.seeds))


def _fields(outcome: Outcome) -> dict[str, Any]:
    if outcome.fault is None:
        code = None
    else:
        code = RENDERINGS[outcome.fault].tool_result
    return {
        "ok": outcome.ok,
        "error_code": code,
        "message": outcome.message,
        "details": _details(outcome),
        "result": None if outcome.result is None else dict(outcome.result),
        "determinism_class": outcome.determinism_class,
        "seed": outcome.seed,
        "tolerance": outcome.tolerance,
        "handles": [dict(handle) for handle in outcome.handles],
        "fingerprint_before": outcome.fingerprint_before,
        "fingerprint_after": outcome.fingerprint_after,
        "snapshot": None if outcome.snapshot is None else dict(outcome.snapshot),
    }


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
        # A plan that failed may have done a part: what stands is described as in a success.
        described = PlanResult(**_fields(outcome), seeds=dict(outcome.seeds))
        details |= described.model_dump(
            mode="json", include={"determinism_class", "seed", "seeds", "tolerance", "handles"}
        )
    return CoreEnvelope(ok=False, error=CoreError(code=code, message=outcome.message, details=details))


def render_envelope(outcome: Outcome, envelope: EnvelopeName) -> dict[str, Any]:
    """The document of either contract. In the core model's, what a plan that failed answers with is among the details."""
    if envelope == "tool_result":
        return result_envelope(outcome).model_dump(mode="json")
    document = core_envelope(outcome).model_dump(mode="json", exclude={"error" if outcome.ok else "result"})
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
        own = outcome.recoverable
        if own is None:
            details["recoverable"] = RENDERINGS[outcome.fault].recoverable
        else:
            details["recoverable"] = own
        details["findings"] = [finding.to_json() for finding in outcome.findings]
        details["reverted_by"] = outcome.reverted_by
        if outcome.cancelled:
            details["cancelled"] = True
    if outcome.changes:
        details["changes"] = [dict(change) for change in outcome.changes]
    if outcome.artifacts:
        details["artifacts"] = list(outcome.artifacts)
    if outcome.notes:
        details["notes"] = list(outcome.notes)
    if outcome.partial is not None:
        details["partial_work"] = dict(outcome.partial)
    return details


# What became of an operation, as a summary of partial work has it.
PARTS: dict[OperationStatus, str] = {
    "succeeded": "kept",
    "skipped_idempotent": "kept",
    "rolled_back": "taken_back",
    "failed": "failed",
    "refused": "not_run",
    "skipped": "not_run",
}
# A plan that failed is described in few words: what its lists leave out is counted in their totals.
MOST_LISTED = 200
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
    """`name` is the tool that was asked to run the plan, `result` what it answers with. `receipts`: instead of the report's own.
    `beside`: calls for what was asked for beside the plan; one that failed makes a failure of all."""
    receipts = receipts or summarise_receipts(report.operations)
    if report.ok and (failed := next((each for each in beside if not each.ok), None)) is not None:
        done = plan_outcome(name, report, result, parse_ms=parse_ms, receipts=receipts)
        stands = _partial_work(report.operations, receipts)
        return done.with_(fault=failed.fault, message=failed.message, findings=failed.findings, partial=stands)
    if report.ok:
        findings = ()
    else:
        findings = tuple(report.all_findings()) or (_unexplained(report),)
    return Outcome(
        name,
        1,
        fault=None if report.ok else _fault(report, findings),
        message=sentence(findings),
        findings=findings,
        result=result,
        handles=receipts.handles if report.ok else receipts.handles[:MOST_LISTED],
        determinism_class=receipts.determinism_class or ("deterministic" if report.ok else None),
        seed=receipts.seed,
        seeds=receipts.seeds,
        tolerance=receipts.tolerance,
        fingerprint_before=report.scene_hash_before,
        fingerprint_after=report.scene_hash_after,
        reverted_by="rebuild" if any(each.status == "rolled_back" for each in report.operations) else None,
        partial=None if report.status in ("succeeded", "refused") else _partial_work(report.operations, receipts),
        recoverable=report.recoverable,
        trace=tuple(_trace(report, parse_ms)),
        request_id=report.request_id,
        notes=(*report.notes, *receipts.notes),
    )


def _fault(report: RunReport, findings: tuple[Finding, ...]) -> Fault:
    """The first, but for what outweighs whatever went wrong before it: no way back to the scene, and the end by a caller's wish."""
    faults = [each.fault for each in report.operations if each.fault is not None] or [findings[0].fault]
    return next((each for each in (Fault.ROLLBACK_FAILED, Fault.CANCELLED) if each in faults), faults[0])


def _unexplained(report: RunReport) -> Finding:
    """A run that did not succeed and has no finding says at least which operations were not done."""
    undone = ", ".join(each.operation_id for each in report.operations if not each.done)
    return Finding(Fault.EXECUTION_FAILED, f"the run is {report.status}; not done: {undone[:500]}")


def _partial_work(operations: tuple[OperationReport, ...], receipts: ReceiptSummary) -> dict[str, Any]:
    """Which operations stand and which do not, by id, as far as a model can afford to read; and how many there are of each."""
    parts: dict[str, list[str]] = {part: [] for part in PARTS.values()}
    for operation in operations:
        parts[PARTS[operation.status]].append(operation.operation_id)
    totals = {part: len(ids) for part, ids in parts.items()} | {"handles": len(receipts.handles)}
    begun = {each.operation_id: work for each in operations if (work := each.partial_work) is not None}
    return {
        **{part: ids[:MOST_LISTED] for part, ids in parts.items() if part != "not_run"},
        "begun": begun,
        "totals": totals,
    }


def _trace(report: RunReport, parse_ms: float | None) -> Iterator[PhaseTrace]:
    """The phases of all operations together; the time of the run that no phase accounts for is the way there and back, and the commits."""
    spent: dict[str, float | None] = {
        "parse": parse_ms,
        "validate_input": report.timings.get("validate_ms"),
        "gate": report.timings.get("gate_ms"),
    }
    for phase, part in OPERATION_PHASES.items():
        times = [each.timings[part] for each in report.operations if part in each.timings]
        if times:
            spent[phase] = round(sum(times), 3)
        else:
            spent[phase] = None
    inside = sum(spent[phase] or 0.0 for phase in ("gate", *OPERATION_PHASES))
    spent["return"] = round(max(0.0, report.timings.get("run_ms", 0.0) - inside), 3)
    return (PhaseTrace(phase, spent[phase]) for phase in PHASES)
