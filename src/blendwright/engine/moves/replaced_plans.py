"""A plan in the place of an earlier one: where that began, what came after it, and which plan took the place of which.

The latter is a record of the audit chain, from which `undo --plan` knows what to bring back. The moves of HEAD alone do not say it:
whoever goes back by hand and runs something else leaves the same ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, count, groupby
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

# True is the last plan that changed the scene; a text is the request id of an earlier one, and what came after it is run again.
Instead = bool | str
# How many plans back one is looked for.
MOST_PLANS_BACK = 100
NUMBERED = re.compile(r"(.+)\.\d+")


class LaterPlan(NamedTuple):
    """A plan that came after the one that is replaced: its request, and what of it changed the scene."""

    request_id: str
    commits: tuple[CommitChanges, ...]
    program: ProgramSource | None = None

    def again(self, request_id: str) -> Plan:
        """The same operations in the same order, all of them or none."""
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
    """What a plan is to take the place of: the commit that it began with, and the plans that came after it, oldest first."""

    base: int
    later: tuple[LaterPlan, ...] = field(default=())


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


def replaced_plan(journal: JournalView, instead: Instead, tools: Mapping[str, AnyTool]) -> ReplacedPlan | None:
    """What is replaced; None where no plan changed the scene yet. Raises Refusal where there is no such plan before HEAD, or something
    that came after it cannot be run again."""
    if not isinstance(instead, str):
        base = before_last_plan(journal)
        if base is None:
            return None
        return ReplacedPlan(base)
    spans = [span for span in journal.plan_spans(limit=MOST_PLANS_BACK) if span.request_id == instead]
    if spans:
        base = journal.show(spans[-1].first).parent
    else:
        base = None
    if base is None or journal.head_number is None:
        message = f"no plan '{instead[:100]}' led to this scene"
        raise Refusal.of(Fault.TARGET_NOT_FOUND, message, "See which did, and their request ids: blendwright log")
    since = journal.changes_to(journal.head_number, since=base)
    commits = [commit for commit in since if commit.touches and commit.request_id != instead]
    if findings := [*_not_again(commits, tools)]:
        raise Refusal(findings)
    by_request = groupby(commits, key=attrgetter("request_id"))
    return ReplacedPlan(base, tuple(_later(journal, request, [*made]) for request, made in by_request))


def replaced_request(journal: JournalView, instead: Instead) -> str | None:
    """The request of the plan that is replaced; None where none is."""
    if isinstance(instead, str) or not instead:
        return instead or None
    last = last_change(journal)
    if last is None or last.kind != "operation":
        return None
    return last.request_id


def _later(journal: JournalView, request_id: str, commits: Sequence[CommitChanges]) -> LaterPlan:
    stored = journal.programs.of_request(request_id)
    if not stored:
        return LaterPlan(request_id, tuple(commits))
    last = stored[-1]
    return LaterPlan(request_id, tuple(commits), ProgramSource(last.program, last.params, last.libraries, last.hash))


def _not_again(commits: Sequence[CommitChanges], tools: Mapping[str, AnyTool]) -> Iterator[Finding]:
    cure = "Go back to before it (checkout), run the plan with --instead there, and do the rest by hand."
    for commit in commits:
        tool = tools.get(commit.tool)
        if commit.kind != "operation":
            why = "took a whole scene in"
        elif tool is None or tool.version != commit.tool_version:
            why = "was made by another version of the tool"
        else:
            continue
        message = f"commit {commit.number} ({commit.tool} of request {commit.request_id}) came after it and cannot be run again: it {why}"
        yield Finding(Fault.SCENE_CONFLICT, message, "", cure)


def operations_of(
    commits: Sequence[CommitChanges], ids: Sequence[str], after: Sequence[str] = (), start: int = 0
) -> tuple[Operation, ...]:
    """The calls of commits as operations of these ids, one after the other, all of them after the operations `after`."""
    made: list[Operation] = []
    for position, (commit, id) in enumerate(zip(commits, ids, strict=True), start):
        if made:
            before = (made[-1].id,)
        else:
            before = tuple(after)
        made.append(Operation(id, commit.tool, dict(commit.args), before, None, position, f"/operations/{position}"))
    return tuple(made)


def last_from_program(journal: JournalView, text: str | None = None) -> str | None:
    """The request of the last plan on HEAD's line that changed the scene and came from a program, or from this one; None where there is
    none, as far back as anybody would look."""
    for span in journal.plan_spans(limit=MOST_PLANS_BACK):
        stored = journal.programs.of_request(span.request_id)
        if not stored or text not in (None, stored[-1].program):
            continue
        if any(commit.hash_before != commit.hash_after for commit in journal.commits_of(span.request_id)):
            return span.request_id
    return None


def new_request_id(journal: JournalView, request_id: str) -> str:
    """The id, with a number where the journal has commits under it; one that has a number already gets the next."""
    stem = NUMBERED.fullmatch(request_id)
    if stem is not None and journal.commits_of(stem[1]):
        request_id = stem[1]
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
    records = journal.audit.records(
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
        journal.checkpoints.route(number)
    except JournalError:
        return None  # `gc --drop-other-lines` gave it up
    return journal.show(number)
