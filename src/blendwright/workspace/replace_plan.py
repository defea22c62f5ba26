"""Running a plan in place of an earlier one: that is taken back first, and comes back where the new one does nothing.

What came after the earlier one is kept: it is run again on top of the new one."""

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
    """Run a plan on the scene before the last plan, or before the one of this request. Where there was none, just run it.

    It is another attempt, so ids that the journal knows from an earlier one do not stand in its way: its request id then gets a
    number. What came after the replaced plan is run again behind the new one, with numbers too: all of it, or nothing is replaced.
    All commits stay, so nothing is lost; where nothing of the new plan stands in the end, the scene is that of the last one again,
    and so it is when the new one is undone as a plan.
    Raises Refusal, as `OpenScene.checkout`, and where something that came after cannot be run again.
    """
    if opened.check(plan, determinism=options.determinism) is not None:
        return opened.run(plan, options)  # which says why it is refused
    plan = replace(plan, request_id=new_request_id(opened.journal, plan.request_id))
    replaced = replaced_plan(opened.journal, of, opened.tools)
    if replaced is None:
        return opened.run(plan, options)
    if replaced.later:
        plan = replace(plan, boundary="plan")
    if options.timeout is None:
        ends = None
    else:
        ends = monotonic() + options.timeout
    moved = opened.checkout(replaced.base, options, take_branch=True)
    last, restored = opened.journal.show(moved.origin), False
    stands = not replaced.later  # without later ones, a part of the new plan may stand
    try:
        record_replacement(opened.journal, plan.request_id, last, moved.commit)
        report = opened.run(plan, options)
        if report.ok:
            report = _run_later(opened, replaced.later, report, last, replace(options, progress=None), ends)
        stands = stands or report.ok
    finally:
        if not stands or opened.journal.head_number == replaced.base:
            opened.history.checkout(last.number, take_branch=True)
            restored = True
    if restored:
        return replace(report, scene_hash_after=opened.hash)
    return report


def _run_later(
    opened: OpenScene,
    later: Sequence[LaterPlan],
    report: RunReport,
    last: Commit,
    options: RunOptions,
    ends: float | None,
) -> RunReport:
    """Run again what came after the replaced plan. The report of the new one with what became of that."""
    notes: list[str] = []
    for one in later:
        request_id = new_request_id(opened.journal, one.request_id)
        record_replacement(opened.journal, request_id, last, require_head(opened.journal))
        if ends is None:
            left = None
        else:
            left = max(0.001, ends - monotonic())
        again = opened.run(one.again(request_id), replace(options, timeout=left))
        if not again.ok:
            return _not_kept(report, one, again)
        count = len(one.commits)
        notes.append(f"Run again after it: {one.request_id} ({count} operation{'s' * (count > 1)}), now {request_id}.")
        report = replace(report, scene_hash_after=again.scene_hash_after)
    return replace(report, notes=(*report.notes, *notes))


def _not_kept(report: RunReport, later: LaterPlan, again: RunReport) -> RunReport:
    """Nothing is replaced, because of what came after it."""
    failed = next((one for one in again.operations if one.fault is not None), None)
    found = next(again.all_findings(), None)
    if failed is None:
        tool = ""
    else:
        tool = f"{failed.tool} of "
    if found is not None:
        why = found.message
    elif failed is not None:
        why = failed.message
    else:
        why = again.status
    message = f"{tool}request {later.request_id}, which came after the replaced plan, cannot be run again: {why}"
    cure = "Nothing was replaced. Keep what it uses, or take it back first (history_checkout, undo) and do it anew."
    if failed is None or failed.fault is None:
        fault = Fault.SCENE_CONFLICT
    else:
        fault = failed.fault
    undone = tuple(replace(one, status="rolled_back", commit=None, receipt=None) for one in report.operations)
    return replace(report, status="rolled_back", operations=undone, findings=(Finding(fault, message, "", cure),))


def replaced_by_last(journal: JournalView) -> Commit | None:
    """The last commit of what the last plan took the place of; None where it took none's."""
    if journal.head is None:
        return None
    return replaced_commit(journal, last_plan(journal)[0])


def params_in_force(earlier: Mapping[str, Any], given: Mapping[str, Any] | None) -> dict[str, Any]:
    """Those that a program was given before, with these instead of some of them; given as `{}`, none at all: its own defaults."""
    if given:
        return {**earlier, **given}
    if given is None:
        return dict(earlier)
    return {}


def last_program(workspace: Path, params: Mapping[str, Any] | None) -> tuple[str, dict[str, Any], str]:
    """The program of the last plan that came from one, its parameters in force with these, and its request. Raises Refusal where no plan
    did."""
    with read_journal(workspace) as journal:
        request_id = last_from_program(journal)
        if request_id is None:
            message = "no plan that led to this scene came from a program, so there is none to be run with other params"
            raise Refusal.of(Fault.TARGET_NOT_FOUND, message, "Give the program as well.")
        stored = journal.programs.of_request(request_id)[-1]
    return stored.program, params_in_force(stored.params, params), request_id


def plan_of_program(workspace: Path, text: str) -> str | None:
    """The request of the last plan that led to this scene and came from the program of this text; None where none did."""
    with read_journal(workspace) as journal:
        return last_from_program(journal, text)
