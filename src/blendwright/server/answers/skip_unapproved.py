"""Operations that a person must allow first, left out of a plan, so that the rest can run."""

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
    """The operations of a refused plan, as its caller gave them, that nobody has allowed."""
    if report.status != "refused":
        return []
    listed = reports_by_caller(report.operations)
    return [one.operation_id for one in listed if any(found.rule == RULE for found in one.findings)]


def run_the_rest(plan: Plan, run: Callable[[Plan], RunReport]) -> tuple[RunReport, dict[str, Any]]:
    """Run a plan without what must be allowed and is not, and without what waits for that. The answer says what was left out; the same
    plan again, once it is allowed, does that and nothing twice."""
    left, needing = list[str](), list[str]()
    report = run(plan)
    while waiting := waiting_for_approval(report):
        blocked = [one.operation_id for one in reports_by_caller(report.operations) if one.blocked]
        kept = tuple(one for one in plan.operations if one.id not in {*waiting, *blocked})
        if not kept or len(kept) == len(plan.operations):
            break  # nothing would be left
        left, needing, plan = [*left, *waiting], [*needing, *blocked], replace(plan, operations=kept)
        report = run(plan)
    if not left:
        return report, {}
    note = {"unapproved": runs(left)} | ({"waiting_for_them": runs(needing)} if needing else {})
    return report, {"left_out": {**note, "next": "Once allowed, the same call does them and nothing twice."}}


def approval_note(report: RunReport) -> dict[str, Any]:
    """Of a plan that waits for approvals: what needs them, how many others do not, and how to run those."""
    waiting = waiting_for_approval(report)
    others = sum(not one.blocked for one in report.operations) - len(waiting)
    if not waiting:
        return {}
    note: dict[str, Any] = {"operations": runs(waiting)}
    if others > 0:
        if report.dialect == "program":
            same = "program_edit: {}"
        else:
            same = "the same plan"
        note["rest"] = f"{same} with skip_unapproved: true runs the other {others}"
    return {"needs_approval": note}
