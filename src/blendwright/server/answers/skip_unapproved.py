"""Skipping operations that need an approval, so that the other operations of a plan can run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from blendwright.server.answers.plan_report import runs
from blendwright.values.macro_report import reports_by_caller
from blendwright.values.plan import Plan
from blendwright.values.report import RunReport

RULE = "approval_missing"


def waiting_for_approval(report: RunReport) -> list[str]:
    """Return the ids of the caller's operations that lack an approval, if the plan was refused."""
    if report.status != "refused":
        return []
    operations = reports_by_caller(report.operations)
    waiting: list[str] = []
    for operation in operations:
        if any(finding.rule == RULE for finding in operation.findings):
            waiting.append(operation.operation_id)
    return waiting


def run_the_rest(plan: Plan, run: Callable[[Plan], RunReport]) -> tuple[RunReport, dict[str, Any]]:
    """Run a plan without its unapproved operations and without the operations that depend on them.

    Return the report and the answer's field about skipped operations. The same plan can run again after the approval
    and then runs only the skipped operations.
    """
    unapproved: list[str] = []
    dependent: list[str] = []
    report = run(plan)
    while waiting := waiting_for_approval(report):
        blocked = [operation.operation_id for operation in reports_by_caller(report.operations) if operation.blocked]
        skipped = {*waiting, *blocked}
        runnable = tuple(operation for operation in plan.operations if operation.id not in skipped)
        if not runnable or len(runnable) == len(plan.operations):
            break  # no operation can run without an approval
        unapproved += waiting
        dependent += blocked
        plan = replace(plan, operations=runnable)
        report = run(plan)
    if not unapproved:
        return report, {}

    left_out = {"unapproved": runs(unapproved)}
    if dependent:
        left_out["waiting_for_them"] = runs(dependent)
    left_out["next"] = "After the approval, repeat the same call: it runs only these operations."
    return report, {"left_out": left_out}


def approval_note(report: RunReport) -> dict[str, Any]:
    """Return the operations of a refused plan that need an approval, and how to run the other operations."""
    waiting = waiting_for_approval(report)
    if not waiting:
        return {}

    runnable = sum(not operation.blocked for operation in report.operations) - len(waiting)
    note: dict[str, Any] = {"operations": runs(waiting)}
    if runnable > 0:
        if report.dialect == "program":
            repeated = "program_edit: {}"
        else:
            repeated = "the same plan"
        note["rest"] = f"{repeated} with skip_unapproved: true runs the other {runnable}"
    return {"needs_approval": note}
