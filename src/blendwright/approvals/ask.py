"""Whether a person allows an operation: which ones are asked about, where an answer comes from, and what is kept of it.

An answer counts for the operation it was given for, once. Nobody to ask is a refusal that says how to allow it.
"""

from __future__ import annotations

import hashlib
import secrets
import shlex
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol
from uuid import uuid4

import orjson

from blendwright.approvals.text import question
from blendwright.journal import Journal
from blendwright.journal.approvals import SESSION
from blendwright.policy.objections import approval_ruling, approval_ruling_for
from blendwright.policy.policy import Ruling, Verdict
from blendwright.policy.refusals import outdated_approval, refusal
from blendwright.policy.session_contract import ContractTerms
from blendwright.tool_api.tool import AnyTool
from blendwright.util.cancel import CancelToken
from blendwright.util.canonical import digest
from blendwright.util.invisible_text import escape_invisible
from blendwright.values.approval import (
    Approval,
    ApprovalAnswer,
    ApprovalRequest,
    Approver,
    SessionPrompt,
    operation_hash,
)
from blendwright.values.findings import Finding

# Typed by people: without letters that look like others.
ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"
BY_GRANT = "command line"
IN_SESSION = "allowed for the session"
# What is allowed for a session is over at the latest then.
SESSION_SECONDS = 12 * 3600.0
# As many operations a person can be shown in one question.
MOST_TOGETHER = 100
MOST_CHARACTERS_TOGETHER = 12_000
YES = (ApprovalAnswer.APPROVED, ApprovalAnswer.SESSION)


class CallPromises(Protocol):
    """What the tool of a call promises for its arguments."""

    @property
    def capabilities(self) -> tuple[str, ...]: ...
    @property
    def with_files(self) -> bool: ...


class AskedCall(Protocol):
    """A call that a person may be asked about. The engine's `Invocation` is one."""

    @property
    def request_id(self) -> str: ...
    @property
    def operation_id(self) -> str: ...
    @property
    def tool(self) -> AnyTool: ...
    @property
    def args(self) -> Mapping[str, Any]: ...
    @property
    def model(self) -> Any: ...
    @property
    def safety_level(self) -> str: ...
    @property
    def key(self) -> str: ...
    @property
    def single_call(self) -> bool: ...
    @cached_property
    def promises(self) -> CallPromises: ...


class FilePaths(Protocol):
    """The engine's knowledge about the files of a call: paths without links, the rule of each root, and hidden inputs."""

    def normalised(self, tool: AnyTool, args: dict[str, Any]) -> tuple[dict[str, Any], tuple[Finding, ...]]: ...
    def rules_for(self, tool: AnyTool, args: Mapping[str, Any]) -> tuple[tuple[str, Verdict], ...]: ...
    def hidden_inputs(self, tool: AnyTool, args: Mapping[str, Any]) -> tuple[str, ...]: ...


@dataclass(frozen=True, slots=True)
class ApprovalOutcome:
    """`finding` is None exactly when the operation is allowed; what a person said is there in either case."""

    approval: Approval | None
    finding: Finding | None = None
    head_moved: bool = False
    """Whether others moved HEAD during the question."""


class Approvals:
    """Asks, and keeps the answers in the journal."""

    def __init__(self, journal: Journal, files: FilePaths) -> None:
        self._journal = journal
        self._files = files
        self._terms: ContractTerms | None = None
        self._rulings: dict[tuple[Any, ...], Ruling | None] = {}
        self._session = secrets.token_hex(16)

    def requests(self, terms: ContractTerms, calls: Sequence[AskedCall], baseline: str) -> dict[str, ApprovalRequest]:
        """What a person has to be asked about the calls that are to run, in their order, by operation."""
        rulings = {call.operation_id: self._ruling(terms, call) for call in calls}
        requests: dict[str, ApprovalRequest] = {}
        before = hashlib.sha256()
        for call in calls if any(rulings.values()) else ():
            ruling = rulings[call.operation_id]
            if ruling is not None:
                requests[call.operation_id] = self._request(terms, call, ruling, baseline, before.hexdigest())
            # The key has the arguments, and not what they are given to.
            before.update(f"{call.tool.name} {call.tool.version} {call.key}\n".encode())
        return requests

    def _request(
        self, terms: ContractTerms, call: AskedCall, ruling: Ruling, baseline: str, after: str
    ) -> ApprovalRequest:
        """What a person is asked about this call. `after` stands for everything that the run does before it.

        A single call is the same operation whenever it is made: it has neither a key nor anything before it."""
        key, after = (None, "") if call.single_call else (call.key, after)
        # Where a path leads is what counts, and what is shown.
        if call.promises.with_files:
            args = self._files.normalised(call.tool, dict(call.args))[0]
        else:
            args = call.args
        shown = escape_invisible(call.tool.shown_for(call.model))
        return ApprovalRequest(
            id=_new_id(),
            operation_hash=operation_hash(
                call.tool.name, call.tool.version, args, key=key, baseline=baseline, after=after
            ),
            request_id=call.request_id,
            operation_id=call.operation_id,
            tool=call.tool.name,
            safety_level=call.safety_level,
            what=question(call.tool, args, terms.audit.redact, shown),
            why=tuple(escape_invisible(reason) for reason in (*ruling.reasons, *ruling.notes)),
            expires=time.time() + terms.constraints.rules.approval_seconds,
            shown=shown,
            in_person=ruling.in_person,
            needed_grants=frozenset(ruling.grants),
        )

    def request_about(
        self, terms: ContractTerms, act: str, level: str, args: Mapping[str, int], *, baseline: str
    ) -> ApprovalRequest | None:
        """The same for an act that is no tool."""
        ruling = approval_ruling_for(terms, act, level)
        if ruling is None:
            return None
        return ApprovalRequest(
            id=_new_id(),
            operation_hash=operation_hash(act, 1, args, key=None, baseline=baseline),
            request_id=uuid4().hex,
            operation_id=act,
            tool=act,
            safety_level=level,
            what=escape_invisible(f"{act} {orjson.dumps(args).decode()}"),
            why=ruling.reasons,
            expires=time.time() + terms.constraints.rules.approval_seconds,
            needed_grants=frozenset(ruling.grants),
        )

    def _ruling(self, terms: ContractTerms, call: AskedCall) -> Ruling | None:
        """What the rules say; without files, that is one answer for every call of the tool at its level."""
        if call.promises.with_files:
            roots, hidden = self._files.rules_for(call.tool, call.args), self._files.hidden_inputs(call.tool, call.args)
            return approval_ruling(terms, call.tool, call.model, call.safety_level, roots, hidden)
        if terms is not self._terms:
            self._terms, self._rulings = terms, {}
        key = (call.tool.name, call.safety_level, call.promises.capabilities)
        if key not in self._rulings:
            self._rulings[key] = approval_ruling(terms, call.tool, call.model, call.safety_level)
        return self._rulings[key]

    def grant(self, requests: Sequence[ApprovalRequest]) -> dict[str, Approval]:
        """Keep what was allowed beforehand, by operation id. One transaction."""
        answered = [(request, Approval(request.id, ApprovalAnswer.APPROVED, BY_GRANT)) for request in requests]
        if answered:
            self._journal.approvals.record(answered)
        return {request.operation_id: approval for request, approval in answered}

    def may_be_approved(self, request: ApprovalRequest, approver: Approver) -> bool:
        """Whether there is, or may be, a yes to this. Spends nothing."""
        if approver.prompt is not None or approver.grants_all(request):
            return True
        now = time.time()
        stored = self._journal.approvals.listed(request.operation_hash)
        return any(one.state == "approved" and one.request.expires > now for one in stored)

    def leave(self, requests: Sequence[ApprovalRequest]) -> list[Finding]:
        """Nobody can be asked now: keep the requests for whoever answers later, and say how."""
        if requests:
            ids = self._journal.approvals.ask(requests)
        else:
            ids = ()
        return [self._missing(request, id) for request, id in zip(requests, ids, strict=True)]

    def ask(
        self,
        request: ApprovalRequest,
        approver: Approver,
        cancel: CancelToken | None = None,
        *,
        now: ApprovalRequest | None = None,
    ) -> ApprovalOutcome:
        """Ask for this operation. `now` is the same question about the scene as it is, where the run began with another one: answers
        from before are for `request`, new ones for `now`."""
        if approver.grants_all(request):
            return ApprovalOutcome(self.grant([request])[request.operation_id])
        earlier = self._journal.approvals.use(request.operation_hash)
        if earlier is not None:
            return ApprovalOutcome(earlier)
        if self.is_allowed_in_session(request, approver):
            approval = Approval(request.id, ApprovalAnswer.APPROVED, IN_SESSION)
            self._journal.approvals.record([(request, approval)])
            return ApprovalOutcome(approval)
        request = now or request
        moved = False
        if approver.prompt is not None:
            before = self._head_number()
            answer = approver.prompt.ask(request, cancel=cancel)
            moved = self._head_number() != before
            if answer in YES and time.time() > request.expires:
                answer = ApprovalAnswer.NONE
            if answer in YES and moved:
                return ApprovalOutcome(None, outdated_approval(request.tool), moved)
            if answer is ApprovalAnswer.SESSION:
                if isinstance(approver.prompt, SessionPrompt):
                    self._allow_in_session([request], approver.prompt)
                answer = ApprovalAnswer.APPROVED
            if answer is not ApprovalAnswer.NONE:
                approval = Approval(request.id, answer, approver.prompt.name)
                self._journal.approvals.record([(request, approval)])
                return ApprovalOutcome(
                    approval, None if answer is ApprovalAnswer.APPROVED else _declined(request), moved
                )
        return ApprovalOutcome(None, self.leave([request])[0], moved)

    def ask_together(
        self, requests: Mapping[str, ApprovalRequest], approver: Approver, cancel: CancelToken | None = None
    ) -> dict[str, ApprovalOutcome]:
        """One question about all of these, by operation, where the one to be asked takes such questions. A yes is kept for each operation
        as if each had been asked about: it is bound to it, and spent when it runs. What is said already, here, is returned."""
        prompt = approver.prompt
        open_ones = {id: one for id, one in requests.items() if self._must_be_asked(one, approver)}
        if not isinstance(prompt, SessionPrompt) or len(open_ones) < 2:
            return {}
        for together in _in_parts(open_ones.values()):
            answers = self._ask_these(together, prompt, cancel)
            if answers is None or answers:
                return answers or {}  # others changed the scene, or it was no yes
        return {}

    def _ask_these(
        self, asked: Sequence[ApprovalRequest], prompt: SessionPrompt, cancel: CancelToken | None
    ) -> dict[str, ApprovalOutcome] | None:
        """What was said to these, where it was no yes; a yes is kept for each. None where others changed the scene meanwhile."""
        before = self._head_number()
        answer = prompt.ask_together(asked, cancel=cancel)
        if self._head_number() != before:
            return None
        if answer in YES and time.time() <= min(one.expires for one in asked):
            self._journal.approvals.give(asked, prompt.name)
            if answer is ApprovalAnswer.SESSION:
                self._allow_in_session(asked, prompt)
            return {}
        if answer is ApprovalAnswer.DECLINED:
            declined = [(one, Approval(one.id, answer, prompt.name)) for one in asked]
            self._journal.approvals.record(declined)
            return {one.operation_id: ApprovalOutcome(approval, _declined(one)) for one, approval in declined}
        left = self.leave(asked)
        return {one.operation_id: ApprovalOutcome(None, finding) for one, finding in zip(asked, left, strict=True)}

    def _must_be_asked(self, request: ApprovalRequest, approver: Approver) -> bool:
        """Whether it has to be asked about; what a person must see whole is asked about by itself."""
        now = time.time()
        stored = self._journal.approvals.listed(request.operation_hash)
        given = any(one.state == "approved" and one.request.expires > now for one in stored)
        return not (
            request.in_person or given or approver.grants_all(request) or self.is_allowed_in_session(request, approver)
        )

    def is_allowed_in_session(self, request: ApprovalRequest, approver: Approver) -> bool:
        """Whether whoever would be asked allowed everything of its kind in this session, and did not take it back."""
        prompt = approver.prompt
        if request.in_person or not request.needed_grants or not isinstance(prompt, SessionPrompt):
            return False
        now = time.time()
        return any(
            one.state == "approved" and one.request.expires > now
            for one in self._journal.approvals.listed(self._allowance(request, prompt.scope))
        )

    def _allow_in_session(self, requests: Sequence[ApprovalRequest], prompt: SessionPrompt) -> None:
        kinds = {one.needed_grants: one for one in requests if one.needed_grants and not one.in_person}
        allowed = [
            replace(
                one,
                id=_new_id(),
                operation_hash=self._allowance(one, prompt.scope),
                operation_id="",
                what=f"every operation that is {' and '.join(sorted(grants))}, in this session",
                expires=time.time() + SESSION_SECONDS,
                shown="",
            )
            for grants, one in kinds.items()
        ]
        self._journal.approvals.give(allowed, prompt.name)

    def _allowance(self, request: ApprovalRequest, scope: str) -> str:
        """What stands for its kind in this session, where an approval has the hash of its operation."""
        kind = {"session": self._session, "scope": scope, "kind": sorted(request.needed_grants)}
        return f"{SESSION}{digest(kind)}"

    def _head_number(self) -> int | None:
        head = self._journal.head
        if head is None:
            return None
        return head.number

    def _missing(self, request: ApprovalRequest, id: str) -> Finding:
        why = ", ".join(request.why)
        message = f"{request.tool} must be allowed by a person ({why}){self._history(request, id)}"
        if request.in_person:
            option = ""
        else:
            option = f", or give {request.options}"
        # It can be pasted as it is; what must be seen by a person is asked about all the same.
        if request.in_person:
            answer = ""
        else:
            answer = " --yes"
        command = f"blendwright approve {id}{answer} --workspace {shlex.quote(str(self._journal.workspace))}"
        return refusal("approval_missing", message, command=command, or_option=option)

    def _history(self, request: ApprovalRequest, id: str) -> str:
        """What became of an earlier answer, which the caller may be counting on."""
        earlier = [
            stored for stored in self._journal.approvals.listed(request.operation_hash) if stored.request.id != id
        ]
        if not earlier:
            return ""
        last = earlier[0]
        if last.state == "used":
            word = "was used already"
        else:
            word = "has expired"
        return f"; approval {last.request.id} {'was declined' if last.state == 'declined' else word}"


def _new_id() -> str:
    return "".join(secrets.choice(ALPHABET) for _ in range(8))


def _in_parts(requests: Iterable[ApprovalRequest]) -> list[list[ApprovalRequest]]:
    """Return the requests in groups that each fit one question. A request that is too long by itself is in none of them."""
    parts: list[list[ApprovalRequest]] = [[]]
    characters = 0
    for request in requests:
        if request.characters > MOST_CHARACTERS_TOGETHER:
            continue
        if len(parts[-1]) == MOST_TOGETHER or characters + request.characters > MOST_CHARACTERS_TOGETHER:
            parts.append([])
            characters = 0
        parts[-1].append(request)
        characters += request.characters
    return [part for part in parts if part]


def _declined(request: ApprovalRequest) -> Finding:
    return refusal("approval_declined", f"{request.tool} was declined")
