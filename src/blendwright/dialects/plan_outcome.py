"""The report of a run as one outcome, which the envelopes render: derived from the report and its receipts, and from nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from blendwright.values.faults import Fault
from blendwright.values.findings import Finding, sentence
from blendwright.values.outcome import PHASES, Outcome, PhaseTrace
from blendwright.values.report import OperationReport, OperationStatus, ReceiptSummary, RunReport, summarise_receipts

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
    findings = () if report.ok else tuple(report.all_findings()) or (_unexplained(report),)
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
        trace=tuple(_trace(report, parse_ms)),
        request_id=report.request_id,
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
    return {**{part: ids[:MOST_LISTED] for part, ids in parts.items() if part != "not_run"}, "totals": totals}


def _trace(report: RunReport, parse_ms: float | None) -> Iterator[PhaseTrace]:
    """The phases of all operations together; the time of the run that no phase accounts for is the way there and back, and the commits."""
    spent: dict[str, float | None] = {
        "parse": parse_ms,
        "validate_input": report.timings.get("validate_ms"),
        "gate": report.timings.get("gate_ms"),
    }
    for phase, part in OPERATION_PHASES.items():
        times = [each.timings[part] for each in report.operations if part in each.timings]
        spent[phase] = round(sum(times), 3) if times else None
    inside = sum(spent[phase] or 0.0 for phase in ("gate", *OPERATION_PHASES))
    spent["return"] = round(max(0.0, report.timings.get("run_ms", 0.0) - inside), 3)
    return (PhaseTrace(phase, spent[phase]) for phase in PHASES)
