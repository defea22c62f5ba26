"""Approval of operations by a person: the requests, the sources of answers, and their records in the journal.

An answer counts once, for one operation. If no person can answer, Blendwright refuses the operation and explains
how to approve it.
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

# Characters of approval ids, which people type: no characters that look alike.
ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"
BY_GRANT = "command line"
IN_SESSION = "allowed for the session"
# Seconds after which a permission for a session expires.
SESSION_SECONDS = 12 * 3600.0
# Operations and characters in one combined question, so that a person can read it.
MAX_REQUESTS_TOGETHER = 100
MAX_CHARACTERS_TOGETHER = 12_000
YES = (ApprovalAnswer.APPROVED, ApprovalAnswer.SESSION)


class CallPromises(Protocol):
    """The promises of a tool for the arguments of a call."""

    @property
    def capabilities(self) -> tuple[str, ...]: ...
    @property
    def with_files(self) -> bool: ...


class AskedCall(Protocol):
    """A call that may need an approval. The engine's `Invocation` is one."""

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
    """The engine's knowledge about the files of a call: paths without links, the rules of roots, and hidden
    inputs.
    """

    def normalised(self, tool: AnyTool, args: dict[str, Any]) -> tuple[dict[str, Any], tuple[Finding, ...]]: ...
    def rules_for(self, tool: AnyTool, args: Mapping[str, Any]) -> tuple[tuple[str, Verdict], ...]: ...
    def hidden_inputs(self, tool: AnyTool, args: Mapping[str, Any]) -> tuple[str, ...]: ...


@dataclass(frozen=True, slots=True)
class ApprovalOutcome:
    """The outcome of a request. `finding` is None exactly when the rules or a person allow the operation.
    `approval` is the person's answer, if any.
    """

    approval: Approval | None
    finding: Finding | None = None
    head_moved: bool = False
    """True when another client moved HEAD during the question."""


class Approvals:
    """The approval service of one session. It asks for approvals and stores the answers in the journal."""

    def __init__(self, journal: Journal, files: FilePaths) -> None:
        self._journal = journal
        self._files = files
        self._terms: ContractTerms | None = None
        self._rulings: dict[tuple[Any, ...], Ruling | None] = {}
        self._session = secrets.token_hex(16)

    def requests(self, terms: ContractTerms, calls: Sequence[AskedCall], baseline: str) -> dict[str, ApprovalRequest]:
        """Return the approval requests for the calls that will run, in their order, by operation id."""
        rulings = {call.operation_id: self._ruling(terms, call) for call in calls}
        requests: dict[str, ApprovalRequest] = {}
        before = hashlib.sha256()
        if not any(rulings.values()):
            return requests

        for call in calls:
            ruling = rulings[call.operation_id]
            if ruling is not None:
                requests[call.operation_id] = self._request(terms, call, ruling, baseline, before.hexdigest())
            # The key covers the arguments, but not the tool.
            before.update(f"{call.tool.name} {call.tool.version} {call.key}\n".encode())
        return requests

    def _request(
        self, terms: ContractTerms, call: AskedCall, ruling: Ruling, baseline: str, after: str
    ) -> ApprovalRequest:
        """Return the approval request for this call. `after` is the hash of everything that the run does before
        it.

        A single call is the same operation whenever it runs, so it has neither a key nor earlier operations.
        """
        if call.single_call:
            key = None
            after = ""
        else:
            key = call.key
        # Use and show paths without links, because the actual file counts.
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
        """Return the approval request for an act that is not a tool, or None if the rules do not require one."""
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
        """Return the ruling of the rules, or None. Calls without files share one ruling for each tool and safety
        level.
        """
        if call.promises.with_files:
            roots = self._files.rules_for(call.tool, call.args)
            hidden = self._files.hidden_inputs(call.tool, call.args)
            return approval_ruling(terms, call.tool, call.model, call.safety_level, roots, hidden)
        if terms is not self._terms:
            self._terms = terms
            self._rulings = {}
        key = (call.tool.name, call.safety_level, call.promises.capabilities)
        if key not in self._rulings:
            self._rulings[key] = approval_ruling(terms, call.tool, call.model, call.safety_level)
        return self._rulings[key]

    def grant(self, requests: Sequence[ApprovalRequest]) -> dict[str, Approval]:
        """Record, in one transaction, the requests that grants already allow. Return the approvals by operation
        id.
        """
        answered = [(request, Approval(request.id, ApprovalAnswer.APPROVED, BY_GRANT)) for request in requests]
        if answered:
            self._journal.approvals.record(answered)
        return {request.operation_id: approval for request, approval in answered}

    def may_be_approved(self, request: ApprovalRequest, approver: Approver) -> bool:
        """Return True if an approval exists, or the approver can answer a question. Consumes no approval."""
        if approver.prompt is not None or approver.grants_all(request):
            return True
        current_time = time.time()
        stored = self._journal.approvals.listed(request.operation_hash)
        return any(approval.state == "approved" and approval.request.expires > current_time for approval in stored)

    def leave(self, requests: Sequence[ApprovalRequest]) -> list[Finding]:
        """Store the requests for a later answer, and return a finding for each that explains how to answer."""
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
        """Ask for approval of this operation, unless an earlier answer, a grant or a permission for the session
        covers it.

        `now` is the same request for the present scene, if the run began with another scene. Earlier answers apply
        to `request`, new ones to `now`.
        """
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
        if approver.prompt is None:
            return ApprovalOutcome(None, self.leave([request])[0])

        head_before = self._head_number()
        answer = approver.prompt.ask(request, cancel=cancel)
        head_moved = self._head_number() != head_before
        if answer in YES and time.time() > request.expires:
            answer = ApprovalAnswer.NONE
        if answer in YES and head_moved:
            return ApprovalOutcome(None, outdated_approval(request.tool), head_moved)
        if answer is ApprovalAnswer.SESSION:
            if isinstance(approver.prompt, SessionPrompt):
                self._allow_in_session([request], approver.prompt)
            answer = ApprovalAnswer.APPROVED
        if answer is ApprovalAnswer.NONE:
            return ApprovalOutcome(None, self.leave([request])[0], head_moved)

        approval = Approval(request.id, answer, approver.prompt.name)
        self._journal.approvals.record([(request, approval)])
        if answer is ApprovalAnswer.APPROVED:
            return ApprovalOutcome(approval, None, head_moved)
        return ApprovalOutcome(approval, _declined(request), head_moved)

    def ask_together(
        self, requests: Mapping[str, ApprovalRequest], approver: Approver, cancel: CancelToken | None = None
    ) -> dict[str, ApprovalOutcome]:
        """Ask one question about all open requests, if the approver accepts combined questions. Return the
        refusals by operation id.

        A yes is stored for each operation, as if each had its own question. `ask` consumes it when the operation
        runs.
        """
        prompt = approver.prompt
        open_requests = [request for request in requests.values() if self._must_be_asked(request, approver)]
        if not isinstance(prompt, SessionPrompt) or len(open_requests) < 2:
            return {}

        for group in _question_groups(open_requests):
            refusals = self._ask_group(group, prompt, cancel)
            if refusals is None:
                return {}  # another client changed the scene
            if refusals:
                return refusals
        return {}

    def _ask_group(
        self, requests: Sequence[ApprovalRequest], prompt: SessionPrompt, cancel: CancelToken | None
    ) -> dict[str, ApprovalOutcome] | None:
        """Ask one question about these requests. Return the refusals by operation id, which are empty after a yes.

        None if another client changed the scene meanwhile.
        """
        head_before = self._head_number()
        answer = prompt.ask_together(requests, cancel=cancel)
        if self._head_number() != head_before:
            return None

        if answer in YES and time.time() <= min(request.expires for request in requests):
            self._journal.approvals.give(requests, prompt.name)
            if answer is ApprovalAnswer.SESSION:
                self._allow_in_session(requests, prompt)
            return {}

        outcomes: dict[str, ApprovalOutcome] = {}
        if answer is ApprovalAnswer.DECLINED:
            declined = [(request, Approval(request.id, answer, prompt.name)) for request in requests]
            self._journal.approvals.record(declined)
            for request, approval in declined:
                outcomes[request.operation_id] = ApprovalOutcome(approval, _declined(request))
            return outcomes

        findings = self.leave(requests)
        for request, finding in zip(requests, findings, strict=True):
            outcomes[request.operation_id] = ApprovalOutcome(None, finding)
        return outcomes

    def _must_be_asked(self, request: ApprovalRequest, approver: Approver) -> bool:
        """Return True if a combined question must include this request. A request that a person must see in full
        is never combined.
        """
        current_time = time.time()
        stored = self._journal.approvals.listed(request.operation_hash)
        is_approved = any(
            approval.state == "approved" and approval.request.expires > current_time for approval in stored
        )
        if request.in_person or is_approved or approver.grants_all(request):
            return False
        return not self.is_allowed_in_session(request, approver)

    def is_allowed_in_session(self, request: ApprovalRequest, approver: Approver) -> bool:
        """Return True if the approver has allowed this kind of operation for the session and has not revoked that."""
        prompt = approver.prompt
        if request.in_person or not request.needed_grants or not isinstance(prompt, SessionPrompt):
            return False
        current_time = time.time()
        stored = self._journal.approvals.listed(self._allowance_key(request, prompt.scope))
        return any(approval.state == "approved" and approval.request.expires > current_time for approval in stored)

    def _allow_in_session(self, requests: Sequence[ApprovalRequest], prompt: SessionPrompt) -> None:
        by_kind: dict[frozenset[str], ApprovalRequest] = {}
        for request in requests:
            if request.needed_grants and not request.in_person:
                by_kind[request.needed_grants] = request

        allowances: list[ApprovalRequest] = []
        for grants, request in by_kind.items():
            allowance = replace(
                request,
                id=_new_id(),
                operation_hash=self._allowance_key(request, prompt.scope),
                operation_id="",
                what=f"every operation that is {' and '.join(sorted(grants))}, in this session",
                expires=time.time() + SESSION_SECONDS,
                shown="",
            )
            allowances.append(allowance)
        self._journal.approvals.give(allowances, prompt.name)

    def _allowance_key(self, request: ApprovalRequest, scope: str) -> str:
        """Return the key of the request's kind in this session. It replaces the operation hash of an approval."""
        kind = {"session": self._session, "scope": scope, "kind": sorted(request.needed_grants)}
        return f"{SESSION}{digest(kind)}"

    def _head_number(self) -> int | None:
        head = self._journal.head
        if head is None:
            return None
        return head.number

    def _missing(self, request: ApprovalRequest, id: str) -> Finding:
        reasons = ", ".join(request.why)
        message = f"a person must approve {request.tool} ({reasons}){self._history(request, id)}"
        # The command can be pasted. With --yes it still asks if a person must see the request.
        if request.in_person:
            option = ""
            answer = ""
        else:
            option = f", or pass {request.options}"
            answer = " --yes"
        command = f"blendwright approve {id}{answer} --workspace {shlex.quote(str(self._journal.workspace))}"
        return refusal("approval_missing", message, command=command, or_option=option)

    def _history(self, request: ApprovalRequest, id: str) -> str:
        """Return the end of a message about an earlier answer, on which the caller may rely, or ""."""
        stored = self._journal.approvals.listed(request.operation_hash)
        earlier = [approval for approval in stored if approval.request.id != id]
        if not earlier:
            return ""

        last = earlier[0]
        match last.state:
            case "declined":
                fate = "was declined"
            case "used":
                fate = "was already used"
            case _:
                fate = "has expired"
        return f"; approval {last.request.id} {fate}"


def _new_id() -> str:
    return "".join(secrets.choice(ALPHABET) for _ in range(8))


def _question_groups(requests: Iterable[ApprovalRequest]) -> list[list[ApprovalRequest]]:
    """Return the requests in groups that each fit one question. No group contains a request that is too long for a question."""
    groups: list[list[ApprovalRequest]] = [[]]
    characters = 0
    for request in requests:
        if request.characters > MAX_CHARACTERS_TOGETHER:
            continue
        is_full = len(groups[-1]) == MAX_REQUESTS_TOGETHER
        if is_full or characters + request.characters > MAX_CHARACTERS_TOGETHER:
            groups.append([])
            characters = 0
        groups[-1].append(request)
        characters += request.characters
    return [group for group in groups if group]


def _declined(request: ApprovalRequest) -> Finding:
    return refusal("approval_declined", f"a person declined {request.tool}")
