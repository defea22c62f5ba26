"""A plan in the place of the last one: where that began, and which plan took the place of which.

The latter is a record of the audit chain, from which `undo --plan` knows what to bring back. The moves of HEAD alone do not say it:
whoever goes back by hand and runs something else leaves the same ones.
"""

from __future__ import annotations

from itertools import chain, count

from blendwright.journal import Journal, JournalView
from blendwright.records.audit import REPLACE, AuditDetails
from blendwright.records.commits import Commit, NewAudit
from blendwright.run.invocation import new_id
from blendwright.values.errors import JournalError


def last_plan(journal: JournalView) -> tuple[Commit, int]:
    """The first commit of HEAD's plan, and how many it has: all in a row that are of the same request. There must be a HEAD."""
    [span] = journal.plan_spans(limit=1)
    return journal.show(span.first), span.operations


def before_last_plan(journal: JournalView) -> int | None:
    """The commit that the last plan which changed the scene began with; None where no plan did."""
    last = last_change(journal)
    if last is None or last.kind != "operation":
        return None
    parents = {
        commit.number: commit.parent for commit in journal.commits_of(last.request_id) if commit.kind == "operation"
    }
    number: int | None = last.number
    while number in parents:
        number = parents[number]
    return number


def last_change(journal: JournalView) -> Commit | None:
    """The newest commit on HEAD's line that changed the scene: a picture or a file that was written since is not what is replaced."""
    before = None
    while page := journal.log(before=before):
        for commit in page:
            if commit.hash_before != commit.hash_after or commit.kind != "operation":
                return commit
        before = page[-1].number
    return None


def new_request_id(journal: JournalView, request_id: str) -> str:
    """The id, with a number where the journal has commits under it."""
    numbered = (f"{request_id}.{number}" for number in count(2))
    return next(id for id in chain([request_id], numbered) if not journal.commits_of(id))


def record_replacement(journal: Journal, request_id: str, replaced: Commit, base: Commit) -> None:
    """The plan of this request is about to run at `base`, in the place of what led from there to `replaced`."""
    details = AuditDetails(new_id(), "safe_write")
    number = str(replaced.number)
    journal.commit([NewAudit(request_id, number, REPLACE, "succeeded", replaced.hash_after, base.hash_after, details)])


def replaced_commit(journal: JournalView, first: Commit) -> Commit | None:
    """Where HEAD was before the plan that `first` is the first commit of took the place of another one; None where it took none's, or
    nothing leads to that scene any more."""
    if first.parent is None:
        return None
    base = journal.show(first.parent)
    records = journal.audit_records(
        after=base.audit_sequence,
        tool_name=REPLACE,
        request_id=first.request_id,
        scene_hash_after=first.hash_before,
    )
    named = [str(one.record["operation_id"]) for one in records if one.sequence < first.audit_sequence]
    if not named or not named[-1].isdecimal():
        return None
    number = int(named[-1])
    try:
        journal.route(number)
    except JournalError:
        return None  # `gc --drop-other-lines` gave it up
    return journal.show(number)
