"""Running a plan in place of the last one: that is taken back first, and comes back where the new one does nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from blendwright.app.open_scene import OpenScene
from blendwright.app.read_workspace import read_journal
from blendwright.journal import JournalView
from blendwright.records.commits import Commit
from blendwright.run.options import DEFAULT_OPTIONS, RunOptions
from blendwright.run.replaced_plans import (
    before_last_plan,
    last_change,
    last_plan,
    new_request_id,
    record_replacement,
    replaced_commit,
)
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from blendwright.values.plan import Plan
from blendwright.values.report import RunReport

# How many plans back one that came from a program is looked for.
MOST_PLANS_BACK = 100


def run_instead(opened: OpenScene, plan: Plan, options: RunOptions = DEFAULT_OPTIONS) -> RunReport:
    """Run a plan on the scene before the last plan. Where there was none, just run it.

    It is another attempt, so ids that the journal knows from an earlier one do not stand in its way: its request id then gets a
    number. All commits stay, so nothing is lost; where nothing of the new plan stands in the end, the scene is that of the last one again,
    and so it is when the new one is undone as a plan.
    Raises Refusal, as `OpenScene.checkout`.
    """
    if opened.check(plan, determinism=options.determinism) is not None:
        return opened.run(plan, options)  # which says why it is refused
    plan = replace(plan, request_id=new_request_id(opened.journal, plan.request_id))
    before = before_last_plan(opened.journal)
    if before is None:
        return opened.run(plan, options)
    moved = opened.checkout(before, options, take_branch=True)
    last, restored = moved.origin, False
    try:
        record_replacement(opened.journal, plan.request_id, opened.journal.show(last), moved.commit)
        report = opened.run(plan, options)
    finally:
        head = opened.journal.head
        if head is not None and head.number == before:
            opened.history.checkout(last, take_branch=True)
            restored = True
    return replace(report, scene_hash_after=opened.hash) if restored else report


def replaced_by_last(journal: JournalView) -> Commit | None:
    """The last commit of what the last plan took the place of; None where it took none's."""
    return None if journal.head is None else replaced_commit(journal, last_plan(journal)[0])


def last_program(workspace: Path, params: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The program that the last plan came from, and its parameters with these instead. Raises Refusal where that was none."""
    with read_journal(workspace) as journal:
        last = last_change(journal)
        stored = () if last is None else journal.programs(last.request_id)
        earlier = None if stored else _last_from_program(journal)
    if not stored:
        message = "the last plan came from no program, so there is none to be run with other params"
        cure = "Give the program as well."
        if earlier is not None:
            cure += f" Or go back to commit {earlier}, whose plan came from one (checkout), run it with them, and do the rest again."
        raise Refusal.of(Fault.TARGET_NOT_FOUND, message, cure)
    return stored[-1].program, {**stored[-1].params, **params}


def _last_from_program(journal: JournalView) -> int | None:
    """The commit of the last plan that came from a program, as far as anybody would go back."""
    plans = journal.plan_spans(limit=MOST_PLANS_BACK)
    return next((span.last for span in plans if journal.programs(span.request_id)), None)
