"""The steps of a macro seen as the one operation that the caller asked for: every contract's results know only the caller's ids."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from blendwright.values.report import OperationReport, OperationStatus


def reports_by_caller(reports: Iterable[OperationReport]) -> tuple[OperationReport, ...]:
    """One report for each operation of the caller, in the order of their first steps."""
    joined: dict[str, list[OperationReport]] = {}
    for report in reports:
        if report.origin is None:
            id = report.operation_id
        else:
            id = report.origin.operation_id
        joined.setdefault(id, []).append(report)
    return tuple(steps[0] if steps[0].origin is None else _one(steps) for steps in joined.values())


def _one(steps: Sequence[OperationReport]) -> OperationReport:
    from blendwright.values.report import OperationReport  # the steps are such reports: it is loaded by now

    origin = steps[0].origin
    assert origin is not None
    status = _status(steps)
    done = status in ("succeeded", "skipped_idempotent")
    mutations = [step.blender_mutation_id for step in steps if step.blender_mutation_id is not None]
    return OperationReport(
        origin.operation_id,
        origin.macro,
        status,
        origin.position,
        safety_level=origin.safety_level,
        fault=next((step.fault for step in steps if step.fault is not None), None),
        message=_message(steps, status),
        findings=tuple(finding for step in steps for finding in step.findings),
        blocked=status == "skipped" and steps[0].blocked,
        result=_result(steps) if done else None,
        scene_hash_before=next((step.scene_hash_before for step in steps if step.scene_hash_before), None),
        scene_hash_after=next((step.scene_hash_after for step in reversed(steps) if step.scene_hash_after), None),
        mcp_call_id=next((step.mcp_call_id for step in reversed(steps) if step.mcp_call_id), None),
        blender_mutation_id=mutations[-1] if mutations and done else None,
        commit=max((step.commit for step in steps if step.commit is not None), default=None),
        receipt={"steps": [_receipt(step) for step in steps]} if done else None,
        timings=_timings(steps),
    )


def _status(steps: Sequence[OperationReport]) -> OperationStatus:
    statuses = {step.status for step in steps}
    if statuses <= {"succeeded", "skipped_idempotent"}:
        if statuses == {"skipped_idempotent"}:
            return "skipped_idempotent"
        return "succeeded"
    return next(status for status in ("failed", "rolled_back", "refused", "skipped") if status in statuses)


def _message(steps: Sequence[OperationReport], status: OperationStatus) -> str:
    """What went wrong, and what of the macro stands nevertheless: partial effects are never left unsaid."""
    message = next((step.message for step in steps if step.fault is not None), None)
    if message is None:
        message = next((step.message for step in steps if step.status == status), "")
    if status in ("succeeded", "skipped_idempotent"):
        return message
    kept_ones = kept_steps(steps)
    reverted = [step for step in steps if step.status == "rolled_back"]
    if kept_ones:
        titles = ", ".join(f"{step.origin.step} ({step.origin.title})" for step in kept_ones if step.origin is not None)
        return f"{message}; what these steps did stays: {titles}"
    if reverted and status == "failed":
        return f"{message}; what the steps before it did was taken back"
    return message


def kept_steps(steps: Iterable[OperationReport]) -> list[OperationReport]:
    """The steps whose changes stand."""
    return [step for step in steps if step.done and step.blender_mutation_id is not None]


def _result(steps: Sequence[OperationReport]) -> dict[str, Any]:
    origin = steps[0].origin
    assert origin is not None
    listed = [
        {
            "step": step.origin.step,
            "title": step.origin.title,
            "tool": step.tool,
            "result": None if step.result is None else dict(step.result),
        }
        for step in steps
        if step.origin is not None
    ]
    return {"macro": origin.macro, "version": origin.version, "steps": listed}


def _receipt(step: OperationReport) -> dict[str, Any]:
    assert step.origin is not None
    if step.receipt is None:
        seed = None
    else:
        seed = step.receipt.get("seed")
    return {
        "step": step.origin.step,
        "title": step.origin.title,
        "tool_name": step.tool,
        "status": step.status,
        "mcp_call_id": step.mcp_call_id,
        "blender_mutation_id": step.blender_mutation_id,
        "operation_key": step.operation_key,
        "scene_hash_before": step.scene_hash_before,
        "scene_hash_after": step.scene_hash_after,
        "seed": seed,
    }


def _timings(steps: Sequence[OperationReport]) -> dict[str, float]:
    total: dict[str, float] = {}
    for step in steps:
        for part, spent in step.timings.items():
            total[part] = round(total.get(part, 0.0) + spent, 3)
    return total
