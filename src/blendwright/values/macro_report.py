"""Reports about macros: joins the steps of a macro into one operation, because the caller knows only the ids in its
plan.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from blendwright.values.findings import Finding
    from blendwright.values.report import OperationReport, OperationStatus


def reports_by_caller(reports: Iterable[OperationReport]) -> tuple[OperationReport, ...]:
    """Return one report for each operation of the caller, in the order of their first steps."""
    steps_by_id: dict[str, list[OperationReport]] = {}
    for report in reports:
        id = report.operation_id
        if report.origin is not None:
            id = report.origin.operation_id
        steps_by_id.setdefault(id, []).append(report)

    joined: list[OperationReport] = []
    for steps in steps_by_id.values():
        if steps[0].origin is None:
            joined.append(steps[0])
        else:
            joined.append(_joined(steps))
    return tuple(joined)


def _joined(steps: Sequence[OperationReport]) -> OperationReport:
    from blendwright.values.report import OperationReport  # the steps are such reports, so it is loaded already

    origin = steps[0].origin
    assert origin is not None
    status = _status(steps)
    fault = hash_before = hash_after = call_id = mutation_id = commit = None
    findings: list[Finding] = []
    for step in steps:
        findings += step.findings
        fault = fault or step.fault
        hash_before = hash_before or step.scene_hash_before
        hash_after = step.scene_hash_after or hash_after
        call_id = step.mcp_call_id or call_id
        if step.blender_mutation_id is not None:
            mutation_id = step.blender_mutation_id
        if step.commit is not None:
            commit = max(step.commit, commit or step.commit)

    result = receipt = None
    if status in ("succeeded", "skipped_idempotent"):
        result = _result(steps)
        receipt = {"steps": list(map(_receipt, steps))}
    else:
        mutation_id = None
    return OperationReport(
        origin.operation_id,
        origin.macro,
        status,
        origin.position,
        safety_level=origin.safety_level,
        fault=fault,
        message=_message(steps, status),
        findings=tuple(findings),
        blocked=status == "skipped" and steps[0].blocked,
        result=result,
        scene_hash_before=hash_before,
        scene_hash_after=hash_after,
        mcp_call_id=call_id,
        blender_mutation_id=mutation_id,
        commit=commit,
        receipt=receipt,
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
    """Return the problem, and the changes of the macro that remain despite it."""
    message = _first_message(steps, status)
    if status in ("succeeded", "skipped_idempotent"):
        return message
    titles: list[str] = []
    for step in kept_steps(steps):
        if step.origin is not None:
            titles.append(f"{step.origin.step} ({step.origin.title})")
    if titles:
        return f"{message}; the changes of these steps remain: {', '.join(titles)}"
    if status == "failed" and any(step.status == "rolled_back" for step in steps):
        return f"{message}; the changes of the steps before it were undone"
    return message


def _first_message(steps: Sequence[OperationReport], status: OperationStatus) -> str:
    for step in steps:
        if step.fault is not None:
            return step.message
    for step in steps:
        if step.status == status:
            return step.message
    return ""


def kept_steps(steps: Iterable[OperationReport]) -> list[OperationReport]:
    """Return the steps whose changes remain in the scene."""
    return [step for step in steps if step.done and step.blender_mutation_id is not None]


def _result(steps: Sequence[OperationReport]) -> dict[str, Any]:
    origin = steps[0].origin
    assert origin is not None
    results: list[dict[str, Any]] = []
    for step in steps:
        if step.origin is None:
            continue
        result = None
        if step.result is not None:
            result = dict(step.result)
        results.append({"step": step.origin.step, "title": step.origin.title, "tool": step.tool, "result": result})
    return {"macro": origin.macro, "version": origin.version, "steps": results}


def _receipt(step: OperationReport) -> dict[str, Any]:
    assert step.origin is not None
    seed = None
    if step.receipt is not None:
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
