"""The geonodes dialect's results: what became of each step, the gate envelope, and whether done is accepted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from blendwright.dialects.dialect import Tone, proven
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding
from blendwright.values.report import OperationReport, RunReport

PROTOCOL = "1.0"
# The operation that judges the trees at the end; no step may be called so.
GATES = "__gates__"

UNJUDGED = (
    "The gates were not judged: no step names a tree. Name each tree of this work once more in a NODE_TREE step, which may be"
    " without operations, or set meta.requires_gate_verification to false."
)

Document = dict[str, Any]


def render(report: RunReport) -> Document | None:
    """The result in the order of the steps. None for a document that is too broken to speak about: it has findings."""
    remarks = report.remarks
    if remarks is None:
        return None
    listed = sorted(report.operations, key=lambda operation: operation.position)
    count = len(remarks["types"])
    steps, closing = listed[:count], (listed[count] if len(listed) > count else None)
    unjudged = closing is None and remarks["done"] and remarks["gates_required"]
    done = remarks["done"] and not unjudged
    result: Document = {
        "version": PROTOCOL,
        "request_id": report.request_id,
        "status": _status(report, done),
        "done": done and report.ok,
        "steps": [_step(step, kind) for step, kind in zip(steps, remarks["types"], strict=True)],
        "gates_required": remarks["gates_required"],
        "gates": _envelope(report, steps, closing, unjudged=unjudged),
        "error": _error(report, steps, closing),
        "final_message": remarks["final_message"],
    }
    proven("geonodes_result.v1", result)
    proven("geonodes_gates.v1", result["gates"])
    return result


def conclusion(result: Document) -> Iterator[tuple[Tone, str, str]]:
    """The gates, whether done was accepted, and the plan's own last words."""
    gates = result["gates"]
    if gates["success"]:
        yield "good", "gates passed", ""
    elif gates["failed_gates"]:
        for gate, message in zip(gates["failed_gates"], gates["messages"], strict=True):
            yield "bad" if result["gates_required"] else "warning", gate, message
    else:
        yield "warning", "", " ".join(gates["messages"])
    if result["status"] == "done":
        yield "good", "done:", result["final_message"]
    elif result["status"] == "continue":
        yield "warning", "asks for another round:", result["final_message"]
    else:
        yield "bad", "done is not accepted", ""


def _status(report: RunReport, done: bool) -> Literal["done", "continue", "failed", "rolled_back", "refused"]:
    if report.ok:
        return "done" if done else "continue"
    if report.status in ("rolled_back", "refused"):
        return report.status
    return "failed"


def _step(step: OperationReport, kind: str) -> Document:
    status = "failed"
    if step.done:
        status = "ok"
    elif step.fault is None:
        status = "rolled_back" if step.status == "rolled_back" else "skipped"
    return {
        "id": step.operation_id,
        "type": kind,
        "status": status,
        "message": step.message,
        "output": None if step.result is None else dict(step.result),
    }


def _envelope(
    report: RunReport, steps: list[OperationReport], closing: OperationReport | None, *, unjudged: bool
) -> Document:
    """`unjudged`: done depends on gates, and no step names a tree that could be judged."""
    if unjudged and report.ok:
        return {"success": False, "failed_gates": [], "messages": [UNJUDGED]}
    if closing is None and report.ok:
        return {"success": True, "failed_gates": [], "messages": []}
    if closing is not None and closing.done and closing.result is not None:
        return {field: closing.result[field] for field in ("success", "failed_gates", "messages")}
    failed = _failed_gates(closing)
    if failed:
        return {
            "success": False,
            "failed_gates": [finding.rule for finding in failed],
            "messages": [finding.message for finding in failed],
        }
    culprit = next((step for step in steps if step.fault is not None), closing)
    why = "nothing ran" if report.status == "refused" else "the run did not come to its end"
    if culprit is not None and culprit.fault is not None and report.status != "refused":
        why = culprit.message if culprit is closing else f"step '{culprit.operation_id}' failed"
    return {"success": False, "failed_gates": [], "messages": [f"The gates were not judged: {why}."]}


def _failed_gates(closing: OperationReport | None) -> list[Finding]:
    findings = () if closing is None else closing.findings
    return [finding for finding in findings if finding.fault is Fault.VERIFICATION_FAILED and finding.rule is not None]


def _error(report: RunReport, steps: list[OperationReport], closing: OperationReport | None) -> Document | None:
    """The first step that failed; else what is wrong with the plan, or with the judging."""
    if report.ok or (_failed_gates(closing) and all(step.fault is None for step in steps)):
        return None
    culprit = next((step for step in steps if step.fault is not None), None)
    if culprit is not None and culprit.fault is not None:
        return _summary(culprit.operation_id, culprit.fault, culprit.message, culprit.findings)
    findings = tuple(report.all_findings())
    if findings:
        return _summary(None, findings[0].fault, findings[0].message, findings)
    undone = ", ".join(step.operation_id for step in steps if not step.done)
    return _summary(None, Fault.EXECUTION_FAILED, f"the run is {report.status}; not done: {undone[:500]}", ())


def _summary(step: str | None, fault: Fault, message: str, findings: tuple[Finding, ...]) -> Document:
    problems = [{"pointer": one.pointer, "message": one.message, "cure": one.cure} for one in findings]
    return {"step_id": step, "code": fault.value, "message": message or fault.value, "problems": problems}
