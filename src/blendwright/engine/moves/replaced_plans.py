"""Replacement of an earlier plan: where that plan began, which plans followed it, and which plan replaced which.

An audit record stores each replacement, so that `undo --plan` can restore the replaced plan. The moves of HEAD
alone do not show it, because a manual checkout followed by another plan makes the same moves.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from blendwright.engine.invocation import new_id
from blendwright.journal import Journal, JournalView
from blendwright.records.audit import REPLACE, AuditDetails
from blendwright.records.changes import CommitChanges
from blendwright.records.commits import Commit, NewAudit
from blendwright.tool_api.tool import AnyTool
from blendwright.values.errors import JournalError, Refusal
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding
from blendwright.values.plan import Operation, Plan, ProgramSource

# True means the last plan that changed the scene. A string is the request id of an earlier plan; the plans after
# it run again.
Instead = bool | str
# Number of plans to search back from HEAD.
MAX_PLANS_BACK = 100
NUMBERED = re.compile(r"(.+)\.\d+")


class LaterPlan(NamedTuple):
    """A plan that ran after the replaced plan, with its commits that changed the scene."""

    request_id: str
    commits: tuple[CommitChanges, ...]
    program: ProgramSource | None = None

    def again(self, request_id: str) -> Plan:
        """Return a plan with the same operations in the same order, which succeed or roll back together."""
        operations = operations_of(self.commits, [commit.operation_id for commit in self.commits])
        return Plan(
            "operations",
            request_id,
            operations,
            "position",
            "stop",
            "plan",
            on_nondeterministic="accept",
            program=self.program,
        )


@dataclass(frozen=True, slots=True)
class ReplacedPlan:
    """The plan to replace: the commit where it began, and the plans after it, oldest first."""

    base: int
    later: tuple[LaterPlan, ...] = field(default=())


def last_plan(journal: JournalView) -> tuple[Commit, int]:
    """Return the first commit of HEAD's plan and the number of its operations. Requires a HEAD.

    The plan consists of the consecutive commits with the same request id.
    """
    [span] = journal.plan_spans(limit=1)
    return journal.show(span.first), span.operations


def before_last_plan(journal: JournalView) -> int | None:
    """Return the commit before the last plan that changed the scene, or None when no plan did."""
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
    """Return the newest ancestor of HEAD that changed the scene. Later pictures and written files do not count."""
    before = None
    while page := journal.log(before=before):
        for commit in page:
            if commit.hash_before != commit.hash_after or commit.kind != "operation":
                return commit
        before = page[-1].number
    return None


def replaced_plan(journal: JournalView, instead: Instead, tools: Mapping[str, AnyTool]) -> ReplacedPlan | None:
    """Return the plan to replace, or None when no plan has changed the scene yet.

    Raises Refusal when no such plan precedes HEAD, or when a later operation cannot run again.
    """
    if not isinstance(instead, str):
        base = before_last_plan(journal)
        if base is None:
            return None
        return ReplacedPlan(base)
    spans = [span for span in journal.plan_spans(limit=MAX_PLANS_BACK) if span.request_id == instead]
    if spans:
        base = journal.show(spans[-1].first).parent
    else:
        base = None
    if base is None or journal.head_number is None:
        message = f"no plan '{instead[:100]}' led to this scene"
        raise Refusal.of(Fault.TARGET_NOT_FOUND, message, "List the plans with their request ids: blendwright log")

    changes = journal.changes_to(journal.head_number, since=base)
    commits = [commit for commit in changes if commit.touches and commit.request_id != instead]
    findings = list(_not_repeatable(commits, tools))
    if findings:
        raise Refusal(findings)

    by_request = groupby(commits, key=attrgetter("request_id"))
    later_plans = [_later_plan(journal, request_id, list(group)) for request_id, group in by_request]
    return ReplacedPlan(base, tuple(later_plans))


def replaced_request(journal: JournalView, instead: Instead) -> str | None:
    """Return the request id of the plan to replace, or None when there is none."""
    if isinstance(instead, str) or not instead:
        return instead or None
    last = last_change(journal)
    if last is None or last.kind != "operation":
        return None
    return last.request_id


def _later_plan(journal: JournalView, request_id: str, commits: Sequence[CommitChanges]) -> LaterPlan:
    stored = journal.programs.of_request(request_id)
    if not stored:
        return LaterPlan(request_id, tuple(commits))
    last = stored[-1]
    return LaterPlan(request_id, tuple(commits), ProgramSource(last.program, last.params, last.libraries, last.hash))


def _not_repeatable(commits: Sequence[CommitChanges], tools: Mapping[str, AnyTool]) -> Iterator[Finding]:
    cure = "Check out the commit before it, run the plan with --instead there, and repeat the rest yourself."
    for commit in commits:
        tool = tools.get(commit.tool)
        if commit.kind != "operation":
            why = "adopted a whole scene"
        elif tool is None or tool.version != commit.tool_version:
            why = "used another version of the tool"
        else:
            continue
        subject = f"the later commit {commit.number} ({commit.tool} of request {commit.request_id})"
        message = f"{subject} cannot run again: it {why}"
        yield Finding(Fault.SCENE_CONFLICT, message, "", cure)


def operations_of(
    commits: Sequence[CommitChanges], ids: Sequence[str], after: Sequence[str] = (), start: int = 0
) -> tuple[Operation, ...]:
    """Return the calls of `commits` as operations with the ids `ids`, each depending on the previous one.

    The first depends on the operations `after`. `start` is the position of the first operation.
    """
    operations: list[Operation] = []
    for position, (commit, id) in enumerate(zip(commits, ids, strict=True), start):
        if operations:
            depends_on = (operations[-1].id,)
        else:
            depends_on = tuple(after)
        operations.append(
            Operation(id, commit.tool, dict(commit.args), depends_on, None, position, f"/operations/{position}")
        )
    return tuple(operations)


def last_from_program(journal: JournalView, text: str | None = None) -> str | None:
    """Return the request id of the last plan of HEAD's history that changed the scene and came from a program.

    With `text`, only plans of this program count. None if the last 100 plans contain no such plan.
    """
    for span in journal.plan_spans(limit=MAX_PLANS_BACK):
        stored = journal.programs.of_request(span.request_id)
        if not stored or text not in (None, stored[-1].program):
            continue
        commits = journal.commits_of(span.request_id)
        if any(commit.hash_before != commit.hash_after for commit in commits):
            return span.request_id
    return None


def new_request_id(journal: JournalView, request_id: str) -> str:
    """Return the id if the journal has no commits for it. Otherwise append the next free number, such as `.2`."""
    stem = NUMBERED.fullmatch(request_id)
    if stem is not None and journal.commits_of(stem[1]):
        request_id = stem[1]

    if not journal.commits_of(request_id):
        return request_id
    number = 2
    while journal.commits_of(f"{request_id}.{number}"):
        number += 1
    return f"{request_id}.{number}"


def record_replacement(journal: Journal, request_id: str, replaced: Commit, base: Commit) -> None:
    """Record that the plan of this request is about to run at `base` and to replace the plan that ended at
    `replaced`.
    """
    details = AuditDetails(new_id(), "safe_write")
    number = str(replaced.number)
    journal.commit([NewAudit(request_id, number, REPLACE, "succeeded", replaced.hash_after, base.hash_after, details)])


def replaced_commit(journal: JournalView, first: Commit) -> Commit | None:
    """Return the commit of HEAD before the plan that begins with `first` replaced another plan.

    None if it replaced no plan, or if garbage collection removed the scene of that commit.
    """
    if first.parent is None:
        return None
    base = journal.show(first.parent)
    records = journal.audit.records(
        after=base.audit_sequence,
        tool_name=REPLACE,
        request_id=first.request_id,
        scene_hash_after=first.hash_before,
    )
    operation_ids = [str(entry.record["operation_id"]) for entry in records if entry.sequence < first.audit_sequence]
    if not operation_ids or not operation_ids[-1].isdecimal():
        return None
    number = int(operation_ids[-1])
    try:
        journal.checkpoints.route(number)
    except JournalError:
        return None  # `gc --drop-other-lines` removed it
    return journal.show(number)
