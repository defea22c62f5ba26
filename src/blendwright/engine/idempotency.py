"""What the journal knows of the operations of a plan: which have their answer already, which must not run, which are to run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from blendwright.engine.invocation import Invocation
from blendwright.journal import JournalView
from blendwright.plan.validate import validate_arguments
from blendwright.records.commits import MatchedCommit, OperationMatch, OperationQuery, Reading
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding, cut
from blendwright.values.plan import Plan
from blendwright.values.report import OperationReport

# Looking up fewer than these takes no time worth saving; the answers of more take memory.
WORTH_KEEPING, MOST_KEPT = 100, 20_000

# A program has no ids of operations to change, and is another request where its text or its parameters are others.
_ANEW = "give it a new operation id, or the whole plan or program a new one: `blendwright run --request-id NEW`."


@dataclass(slots=True)
class Classification:
    """The operations of a plan, each in one of three lists, in schedule order."""

    cached: list[tuple[Invocation, Mapping[str, Any], int | None]] = field(
        default_factory=list[tuple[Invocation, Mapping[str, Any], int | None]]
    )
    conflicts: list[tuple[Invocation, Finding]] = field(default_factory=list[tuple[Invocation, Finding]])
    to_run: list[Invocation] = field(default_factory=list[Invocation])


class LastPlan:
    """The answers of the plan that ran last, true as long as HEAD is where it left it: the very same plan often comes again.

    Only where every operation has its commit: what was read holds for one scene, and the journal alone knows for which.
    """

    def __init__(self) -> None:
        self.plan: Plan | None = None
        self._head: int | None = None
        self._answers: Mapping[str, tuple[Mapping[str, Any], int]] = {}

    def store(self, journal: JournalView, plan: Plan, reports: Sequence[OperationReport]) -> None:
        self.plan, self._answers = None, {}
        if len(reports) > MOST_KEPT:
            return
        answers = {
            report.operation_id: (report.receipt, report.commit)
            for report in reports
            if report.done and report.receipt is not None and report.commit is not None
        }
        head = journal.head
        if len(answers) == len(reports) and head is not None:
            self.plan, self._head, self._answers = plan, head.number, answers

    def lookup(self, journal: JournalView, calls: Sequence[Invocation]) -> Classification | None:
        """All calls of that plan as answered; None when the journal has to be asked."""
        if len(calls) != len(self._answers):
            return None
        head = journal.head
        if head is None or head.number != self._head:
            return None
        return Classification(cached=[(call, *self._answers[call.operation_id]) for call in calls])


def classify(journal: JournalView, calls: Sequence[Invocation], *, strict: bool = False) -> Classification:
    """One look-up for all. A reading is an answer only where nothing that runs before it may change the scene.

    What a macro found out before or after its changes was true then: it is not asked again once these are committed.
    A commit whose effect a later one took back answers with that one's number in its receipt; `strict`: it is a conflict.
    """
    if not any(journal.knows_request(request_id) for request_id in {call.request_id for call in calls}):
        return Classification(to_run=[*calls])  # no key is asked for
    queries = [
        OperationQuery(call.key, call.request_id, call.operation_id, call.tool.name, call.tool.version)
        for call in calls
    ]
    result = Classification()
    unchanged = True
    matches = journal.find_many(queries)
    if any(match.clash is not None for match in matches):
        matches = [_as_of_today(journal, *each) for each in zip(calls, queries, matches, strict=True)]
    everything = list(zip(calls, matches, strict=True))
    answers = [match.commit for _, match in everything if match.where == "ancestor" and match.commit is not None]
    if answers:
        superseded = journal.superseded_by(calls[0].request_id, answers)
    else:
        superseded = {}
    if any(call.macro_operation is not None for call in calls):
        valid = _valid_readings(everything)
    else:
        valid = {}
    for call, match in everything:
        if match.commit is not None:
            later = superseded.get(match.commit.number)
        else:
            later = None
        conflict = _conflict(call, match, later if strict else None)
        if conflict is not None:
            result.conflicts.append((call, conflict))
        elif match.where == "ancestor" and match.commit is not None:
            if later is None:
                receipt = match.commit.receipt
            else:
                receipt = {**match.commit.receipt, "superseded_by": later}
            result.cached.append((call, receipt, match.commit.number))
        elif match.where == "reading" and match.reading is not None and unchanged:
            result.cached.append((call, match.reading.receipt, None))
        elif call.operation_id in valid:
            result.cached.append((call, valid[call.operation_id].receipt, None))
        else:
            result.to_run.append(call)
            unchanged = unchanged and call.promises.reads_only
    return result


def _as_of_today(
    journal: JournalView, call: Invocation, query: OperationQuery, match: OperationMatch
) -> OperationMatch:
    """The match of a call, also where it was run before its tool renamed arguments or took new ones: its key was another then.

    What was run under the same ids is the same call where its arguments, read by the tool of today, are the same."""
    clash = match.clash
    if clash is None or clash.operation_key is None or clash.operation_key == query.operation_key:
        return match
    if (clash.tool, clash.tool_version) != (query.tool, query.tool_version):
        return match
    if validate_arguments(call.tool, journal.arguments_of(clash)).canonical != call.args:
        return match
    (then,) = journal.find_many([query._replace(operation_key=clash.operation_key)])
    return then


def _valid_readings(everything: Sequence[tuple[Invocation, OperationMatch]]) -> dict[str, Reading]:
    """Readings of macros, by operation id, whose answers stand: a later change of the same macro is committed, or all are."""
    chains: dict[str, list[tuple[Invocation, OperationMatch]]] = {}
    for call, match in everything:
        if call.macro_operation is not None:
            chains.setdefault(call.macro_operation, []).append((call, match))
    valid: dict[str, Reading] = {}
    for chain in chains.values():
        done = [
            index
            for index, (call, match) in enumerate(chain)
            if not call.promises.reads_only and match.where == "ancestor"
        ]
        if not done:
            continue
        complete = len(done) == sum(not call.promises.reads_only for call, _ in chain)
        for index, (call, match) in enumerate(chain):
            if call.promises.reads_only and match.earlier is not None and (complete or index < done[-1]):
                valid[call.operation_id] = match.earlier
    return valid


def _conflict(call: Invocation, match: OperationMatch, taken_back_by: int | None) -> Finding | None:
    known = match.clash is None and match.intent is None
    if known and taken_back_by is None and match.where in ("ancestor", "nowhere"):
        return None
    what = f"operation '{cut(call.macro_operation or call.operation_id)}' of request '{cut(call.request_id)}'"
    if match.clash is not None:
        other = match.clash
        same_tool = (other.tool, other.tool_version) == (call.tool.name, call.tool.version)
        if same_tool:
            how = "with other arguments"
        else:
            how = f"as {other.tool} version {other.tool_version}"
        if isinstance(other, MatchedCommit):
            commit = f" (`blendwright show {other.number}`)"
        else:
            commit = ""
        cure = f"Give it exactly as it was run{commit}, or give the changed operation a new operation id."
        return _finding(f"{what} was run already {how}", cure)
    if match.intent is not None:
        return _finding(
            f"nobody knows whether an earlier attempt at {what} left its effect outside the scene",
            f"Look whether it did, then settle intent {match.intent} with `blendwright recover`.",
            "effect_unknown",
        )
    if match.commit is not None:
        number = match.commit.number
    else:
        number = 0
    if taken_back_by is not None:
        return _finding(
            f"{what} was run as commit {number}, and commit {taken_back_by} took its effect back",
            f"Go back with `blendwright checkout {number}`, or run it again: {_ANEW}",
        )
    if match.where == "elsewhere":
        return _finding(
            f"{what} was run as commit {number}, which is not on the line of HEAD",
            f"Go there with `blendwright checkout {number}`, or run it here: {_ANEW}",
        )
    if match.where == "before_adopt":
        return _finding(
            f"{what} was run as commit {number}, and an edited file was adopted since, which may have lost it",
            f"Run it on the scene as it is: {_ANEW}",
        )
    return None


def _finding(message: str, cure: str, rule: str | None = None) -> Finding:
    return Finding(Fault.IDEMPOTENCY_CONFLICT, message, "", cure, rule)
