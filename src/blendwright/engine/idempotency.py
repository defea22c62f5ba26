"""A comparison of a plan with the journal: operations with a known answer, conflicts, and operations to run."""

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

# Operations of a plan whose answers are worth caching: a look-up of fewer takes no time worth saving, and the
# answers of more take too much memory.
MIN_CACHED_OPERATIONS, MOST_KEPT = 100, 20_000

# A program has no operation ids to change. With another text or other parameters it is another request.
_NEW_ID_FIX = "give it a new operation id, or give the whole plan or program a new request id: `blendwright run --request-id NEW`."


@dataclass(slots=True)
class Classification:
    """The operations of a plan in three lists, each in schedule order."""

    cached: list[tuple[Invocation, Mapping[str, Any], int | None]] = field(
        default_factory=list[tuple[Invocation, Mapping[str, Any], int | None]]
    )
    conflicts: list[tuple[Invocation, Finding]] = field(default_factory=list[tuple[Invocation, Finding]])
    to_run: list[Invocation] = field(default_factory=list[Invocation])


class LastPlan:
    """The cached answers of the plan that ran last, because the same plan often runs again. Valid while HEAD has
    not moved.

    The cache holds only plans in which every operation has a commit. A reading is valid for one scene only, and
    the journal decides which.
    """

    def __init__(self) -> None:
        self.plan: Plan | None = None
        self._head: int | None = None
        self._answers: Mapping[str, tuple[Mapping[str, Any], int]] = {}

    def store(self, journal: JournalView, plan: Plan, reports: Sequence[OperationReport]) -> None:
        self.plan = None
        self._answers = {}
        if len(reports) > MOST_KEPT:
            return
        answers = {
            report.operation_id: (report.receipt, report.commit)
            for report in reports
            if report.done and report.receipt is not None and report.commit is not None
        }
        head = journal.head
        if len(answers) == len(reports) and head is not None:
            self.plan = plan
            self._head = head.number
            self._answers = answers

    def lookup(self, journal: JournalView, calls: Sequence[Invocation]) -> Classification | None:
        """Return all calls of that plan as answered, or None when the caller must query the journal."""
        if len(calls) != len(self._answers):
            return None
        head = journal.head
        if head is None or head.number != self._head:
            return None
        return Classification(cached=[(call, *self._answers[call.operation_id]) for call in calls])


def classify(journal: JournalView, calls: Sequence[Invocation], *, strict: bool = False) -> Classification:
    """Sort the calls of a plan by the journal's knowledge of them, with one look-up for all.

    A reading is an answer only if no operation before it may change the scene. A reading inside a macro stays
    valid after the changes of the macro are committed. If a later commit reverted the effect of a commit, its
    receipt names the later one in `superseded_by`. With `strict`, that case is a conflict.
    """
    request_ids = {call.request_id for call in calls}
    if not any(journal.knows_request(request_id) for request_id in request_ids):
        return Classification(to_run=[*calls])  # saves computing the keys

    queries = [
        OperationQuery(call.key, call.request_id, call.operation_id, call.tool.name, call.tool.version)
        for call in calls
    ]
    result = Classification()
    unchanged = True
    matches = journal.find_many(queries)
    if any(match.clash is not None for match in matches):
        triples = zip(calls, queries, matches, strict=True)
        matches = [_match_former_args(journal, call, query, match) for call, query, match in triples]

    pairs = list(zip(calls, matches, strict=True))
    answers = [match.commit for _, match in pairs if match.where == "ancestor" and match.commit is not None]
    if answers:
        superseded = journal.superseded_by(calls[0].request_id, answers)
    else:
        superseded = {}
    if any(call.macro_operation is not None for call in calls):
        valid = _valid_readings(pairs)
    else:
        valid = {}

    for call, match in pairs:
        later = None
        if match.commit is not None:
            later = superseded.get(match.commit.number)
        if strict:
            conflict = _conflict(call, match, later)
        else:
            conflict = _conflict(call, match, None)
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


def _match_former_args(
    journal: JournalView, call: Invocation, query: OperationQuery, match: OperationMatch
) -> OperationMatch:
    """Return the match of a call, also if the call ran before its tool renamed arguments or added new ones.

    Its key was different then. A call under the same ids is the same if today's tool reads the same arguments from
    it.
    """
    clash = match.clash
    if clash is None or clash.operation_key is None or clash.operation_key == query.operation_key:
        return match
    if (clash.tool, clash.tool_version) != (query.tool, query.tool_version):
        return match
    if validate_arguments(call.tool, journal.arguments_of(clash)).canonical != call.args:
        return match
    (former_match,) = journal.find_many([query._replace(operation_key=clash.operation_key)])
    return former_match


def _valid_readings(pairs: Sequence[tuple[Invocation, OperationMatch]]) -> dict[str, Reading]:
    """Return the valid readings inside macros by operation id.

    A reading is valid if a later change of the same macro is committed, or if all changes of the macro are.
    """
    chains: dict[str, list[tuple[Invocation, OperationMatch]]] = {}
    for call, match in pairs:
        if call.macro_operation is not None:
            chains.setdefault(call.macro_operation, []).append((call, match))
    valid: dict[str, Reading] = {}
    for chain in chains.values():
        changes = 0
        change_indexes: list[int] = []
        for index, (call, match) in enumerate(chain):
            if not call.promises.reads_only:
                changes += 1
                if match.where == "ancestor":
                    change_indexes.append(index)
        if not change_indexes:
            continue

        complete = len(change_indexes) == changes
        for index, (call, match) in enumerate(chain):
            if call.promises.reads_only and match.earlier is not None and (complete or index < change_indexes[-1]):
                valid[call.operation_id] = match.earlier
    return valid


def _conflict(call: Invocation, match: OperationMatch, reverted_by: int | None) -> Finding | None:
    unambiguous = match.clash is None and match.intent is None
    if unambiguous and reverted_by is None and match.where in ("ancestor", "nowhere"):
        return None
    subject = f"operation '{cut(call.macro_operation or call.operation_id)}' of request '{cut(call.request_id)}'"
    if match.clash is not None:
        earlier = match.clash
        same_tool = (earlier.tool, earlier.tool_version) == (call.tool.name, call.tool.version)
        if same_tool:
            difference = "with different arguments"
        else:
            difference = f"as {earlier.tool} version {earlier.tool_version}"
        if isinstance(earlier, MatchedCommit):
            commit = f" (`blendwright show {earlier.number}`)"
        else:
            commit = ""
        cure = f"Repeat it exactly as it ran{commit}, or give the changed operation a new operation id."
        return _finding(f"{subject} already ran {difference}", cure)
    if match.intent is not None:
        return _finding(
            f"an earlier attempt at {subject} may or may not have written its files outside the scene",
            f"Check whether it did, then settle intent {match.intent} with `blendwright recover`.",
            "effect_unknown",
        )
    if match.commit is not None:
        number = match.commit.number
    else:
        number = 0
    if reverted_by is not None:
        return _finding(
            f"{subject} ran as commit {number}, and commit {reverted_by} reverted its effect",
            f"Go back with `blendwright checkout {number}`, or run it again: {_NEW_ID_FIX}",
        )
    if match.where == "elsewhere":
        return _finding(
            f"{subject} ran as commit {number}, which is not an ancestor of HEAD",
            f"Go there with `blendwright checkout {number}`, or run it here: {_NEW_ID_FIX}",
        )
    if match.where == "before_adopt":
        return _finding(
            f"{subject} ran as commit {number}, but an edited file adopted since then may not contain its result",
            f"Run it on the current scene: {_NEW_ID_FIX}",
        )
    return None


def _finding(message: str, cure: str, rule: str | None = None) -> Finding:
    return Finding(Fault.IDEMPOTENCY_CONFLICT, message, "", cure, rule)
