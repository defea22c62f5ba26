"""Which plan took the place of which: a record of the audit chain, from which `undo --plan` knows what to bring back.

The moves of HEAD alone do not say it: whoever goes back by hand and runs something else leaves the same ones.
"""

from __future__ import annotations

from itertools import takewhile

from blendwright.journal import Journal, JournalView
from blendwright.records.audit import REPLACE, AuditDetails
from blendwright.records.commits import Commit, NewAudit
from blendwright.run.invocation import new_id
from blendwright.values.errors import JournalError

# So many commits are read at once where the beginning of a plan is looked for.
PLAN_PAGE = 500


def last_plan(journal: JournalView) -> tuple[Commit, int]:
    """The first commit of HEAD's plan, and how many it has: all in a row that are of the same request. There must be a HEAD."""
    first, count = journal.log(limit=1)[0], 0
    request = first.request_id
    while page := journal.log_from(offset=count, limit=PLAN_PAGE):
        same = list(takewhile(lambda commit: commit.request_id == request, page))
        count, first = count + len(same), same[-1] if same else first
        if len(same) < len(page):
            break
    return first, count


def record_replacement(journal: Journal, request_id: str, replaced: Commit, base: Commit) -> None:
    """The plan of this request is about to run at `base`, in the place of what led from there to `replaced`."""
    details = AuditDetails(new_id(), "safe_write")
    number = str(replaced.number)
    journal.commit(
        [NewAudit(request_id, number, REPLACE, "succeeded", replaced.hash_after, base.hash_after, details)]
    )


def replaced_commit(journal: JournalView, first: Commit) -> Commit | None:
    """Where HEAD was before the plan that `first` is the first commit of took the place of another one; None where it took none's, or
    nothing leads to that scene any more."""
    if first.parent is None:
        return None
    base = journal.show(first.parent)
    fields = {"tool_name": REPLACE, "request_id": first.request_id, "scene_hash_after": first.hash_before}
    records = journal.audit_records(after=base.audit_sequence, **fields)
    numbers = [int(one.record["operation_id"]) for one in records if one.sequence < first.audit_sequence]
    if not numbers:
        return None
    try:
        journal.route(numbers[-1])
    except JournalError:
        return None  # `gc --drop-other-lines` gave it up
    return journal.show(numbers[-1])
