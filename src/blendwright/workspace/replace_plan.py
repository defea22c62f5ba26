"""Running a plan in place of an earlier one: undo the earlier plan first, and restore it if the new plan changes
nothing.

The plans after the replaced one stay: they run again on top of the new one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import Any

from blendwright.engine.moves.commit_names import require_head
from blendwright.engine.moves.replaced_plans import (
    Instead,
    LaterPlan,
    last_from_program,
    last_plan,
    new_request_id,
    record_replacement,
    replaced_commit,
    replaced_plan,
)
from blendwright.engine.options import DEFAULT_OPTIONS, RunOptions
from blendwright.journal import JournalView
from blendwright.records.commits import Commit
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding
from blendwright.values.plan import Plan
from blendwright.values.report import RunReport
from blendwright.workspace.open_scene import OpenScene
from blendwright.workspace.reading import read_journal


def run_instead(
    opened: OpenScene, plan: Plan, options: RunOptions = DEFAULT_OPTIONS, *, of: Instead = True
) -> RunReport:
    """Run a plan on the scene before the last plan, or before the plan of request `of`. Without such a plan, just run
    it.

    The run is a new attempt, so known operation ids do not block it: its request id gets a number. The plans after
    the replaced one run again after the new one, also with numbers; if one of them fails, nothing is replaced. All
    commits stay, so nothing is lost. If the new plan leaves no changes, or if it is undone as a plan, the scene is
    the previous one again.

    Raise Refusal like `OpenScene.checkout`, and when a later plan cannot run again.
    """
    if opened.check(plan, determinism=options.determinism) is not None:
        return opened.run(plan, options)  # returns the report that refuses the plan
    plan = replace(plan, request_id=new_request_id(opened.journal, plan.request_id))
    replaced = replaced_plan(opened.journal, of, opened.tools)
    if replaced is None:
        return opened.run(plan, options)
    if replaced.later:
        plan = replace(plan, boundary="plan")
    if options.timeout is None:
        deadline = None
    else:
        deadline = monotonic() + options.timeout
    moved = opened.checkout(replaced.base, options, take_branch=True)
    previous_head, restored = opened.journal.show(moved.origin), False
    is_kept = not replaced.later  # without later plans, a part of the new plan may stay
    try:
        record_replacement(opened.journal, plan.request_id, previous_head, moved.commit)
        report = opened.run(plan, options)
        if report.ok:
            report = _run_later(
                opened, replaced.later, report, previous_head, replace(options, progress=None), deadline
            )
        is_kept = is_kept or report.ok
    finally:
        if not is_kept or opened.journal.head_number == replaced.base:
            opened.history.checkout(previous_head.number, take_branch=True)
            restored = True
    if restored:
        return replace(report, scene_hash_after=opened.hash)
    return report


def _run_later(
    opened: OpenScene,
    later: Sequence[LaterPlan],
    report: RunReport,
    previous_head: Commit,
    options: RunOptions,
    deadline: float | None,
) -> RunReport:
    """Run the later plans again, and return the report of the new plan with notes about them.

    If one fails, return a rolled-back report.
    """
    notes: list[str] = []
    for plan in later:
        request_id = new_request_id(opened.journal, plan.request_id)
        record_replacement(opened.journal, request_id, previous_head, require_head(opened.journal))
        if deadline is None:
            timeout = None
        else:
            timeout = max(0.001, deadline - monotonic())
        again = opened.run(plan.again(request_id), replace(options, timeout=timeout))
        if not again.ok:
            return _not_kept(report, plan, again)
        count = len(plan.commits)
        plural = ""
        if count > 1:
            plural = "s"
        notes.append(f"Run again after it: {plan.request_id} ({count} operation{plural}), now {request_id}.")
        report = replace(report, scene_hash_after=again.scene_hash_after)
    return replace(report, notes=(*report.notes, *notes))


def _not_kept(report: RunReport, later: LaterPlan, again: RunReport) -> RunReport:
    """Return the report of a replacement that was rolled back because a later plan cannot run again."""
    failed = next((operation for operation in again.operations if operation.fault is not None), None)
    finding = next(again.all_findings(), None)
    if failed is None:
        tool = ""
    else:
        tool = f"{failed.tool} of "
    if finding is not None:
        reason = finding.message
    elif failed is not None:
        reason = failed.message
    else:
        reason = again.status
    message = f"{tool}request {later.request_id}, which came after the replaced plan, cannot be run again: {reason}"
    fix = "Nothing was replaced. Keep what that request uses, or undo the request first (history_checkout, undo) and repeat it."
    if failed is None or failed.fault is None:
        fault = Fault.SCENE_CONFLICT
    else:
        fault = failed.fault
    undone = tuple(
        replace(operation, status="rolled_back", commit=None, receipt=None) for operation in report.operations
    )
    return replace(report, status="rolled_back", operations=undone, findings=(Finding(fault, message, "", fix),))


def replaced_by_last(journal: JournalView) -> Commit | None:
    """Return the last commit of the plan that the last plan replaced, or None if it replaced none."""
    if journal.head is None:
        return None
    return replaced_commit(journal, last_plan(journal)[0])


def params_in_force(earlier: Mapping[str, Any], given: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the parameters for a repeated program: the earlier ones with `given` merged over them.

    `{}` resets to the program's defaults.
    """
    if given:
        return {**earlier, **given}
    if given is None:
        return dict(earlier)
    return {}


def last_program(workspace: Path, params: Mapping[str, Any] | None) -> tuple[str, dict[str, Any], str]:
    """Return the last program that led to the current scene, its parameters with `params` merged in, and its request
    id.

    Raise Refusal when no plan came from a program.
    """
    with read_journal(workspace) as journal:
        request_id = last_from_program(journal)
        if request_id is None:
            message = (
                "no plan that led to this scene came from a program, so there is no program to run with other params"
            )
            raise Refusal.of(Fault.TARGET_NOT_FOUND, message, "Give the program as well.")
        stored = journal.programs.of_request(request_id)[-1]
    return stored.program, params_in_force(stored.params, params), request_id


def plan_of_program(workspace: Path, text: str) -> str | None:
    """Return the request of the last plan that led to this scene and came from this program text, or None."""
    with read_journal(workspace) as journal:
        return last_from_program(journal, text)
