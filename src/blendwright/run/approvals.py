"""Whether a person allows an operation: which ones are asked about, where an answer comes from, and what is kept of it.

An answer counts for the operation it was given for, once. Nobody to ask is a refusal that says how to allow it.
"""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import orjson

from blendwright.policy.approvals import Answer, Approval, ApprovalRequest, Approver, operation_hash
from blendwright.policy.gate import approval_ruling, approval_ruling_for
from blendwright.policy.policy import Ruling
from blendwright.policy.refusals import refusal
from blendwright.policy.session_contract import Terms
from blendwright.records.journal_port import JournalPort
from blendwright.run.approval_text import line
from blendwright.run.files import FileAccess
from blendwright.run.invocation import Invocation
from blendwright.run.keys import new_id
from blendwright.values.cancel import CancelToken
from blendwright.values.findings import Finding
from blendwright.values.invisible import escape_invisible

# Typed by people: without letters that look like others.
ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"
BY_GRANT = "command line"


@dataclass(frozen=True, slots=True)
class Consent:
    """What the caller brings along: someone to ask, and what is allowed beforehand.

    `grants` are names of safety levels, safety modes, tools and roots. They come from the command line or the program that embeds
    the engine; no plan can hold one.
    """

    approver: Approver | None = None
    grants: frozenset[str] = field(default=frozenset())


NO_CONSENT = Consent()


@dataclass(frozen=True, slots=True)
class Question:
    """What is to be asked about an operation. `asked` are the names that a grant would have to cover."""

    request: ApprovalRequest
    asked: frozenset[str]

    def granted(self, consent: Consent) -> bool:
        return not self.request.in_person and self.asked <= consent.grants

    def options(self) -> str:
        """The options of the command line that would have allowed it."""
        return " ".join(f"--approve {name}" for name in sorted(self.asked))


class Approvals:
    """Asks, and keeps the answers in the journal."""

    def __init__(self, journal: JournalPort, files: FileAccess) -> None:
        self._journal = journal
        self._files = files
        self._terms: Terms | None = None
        self._rulings: dict[tuple[str, str, tuple[str, ...]], Ruling | None] = {}

    def questions(
        self, terms: Terms, calls: Sequence[Invocation], run: Sequence[Invocation], baseline: str
    ) -> dict[str, Question]:
        """What a person has to be asked in a plan, by operation. `run` are those of its calls that are to run; all are in order."""
        asked = {call.operation_id for call in run if self._asks(terms, call) is not None}
        found: dict[str, Question] = {}
        before = hashlib.sha256()
        for call in calls if asked else ():
            if call.operation_id in asked:
                question = self.question(terms, call, key=call.key, baseline=baseline, after=before.hexdigest())
                found |= {} if question is None else {call.operation_id: question}
            # The key has the arguments, and not what they are given to.
            before.update(f"{call.tool.name} {call.tool.version} {call.key}\n".encode())
        return found

    def question(
        self, terms: Terms, call: Invocation, *, key: str | None, baseline: str, after: str = ""
    ) -> Question | None:
        """What a person has to say to this call, or None. `key` is None for a call that belongs to no plan; `after` stands for
        everything that the plan does before it."""
        found = self._asks(terms, call)
        if found is None:
            return None
        # Where a path leads is what counts, and what is shown.
        args = self._files.normalised(call.tool, dict(call.args))[0] if call.with_files else call.args
        request = ApprovalRequest(
            id=_new_id(),
            operation_hash=operation_hash(
                call.tool.name, call.tool.version, args, key=key, baseline=baseline, after=after
            ),
            request_id=call.request_id,
            operation_id=call.operation_id,
            tool=call.tool.name,
            safety_level=call.safety_level,
            what=line(call.tool, args, terms.audit.redact),
            why=found.reasons,
            expires=time.time() + terms.constraints.rules.approval_seconds,
            shown=escape_invisible(call.tool.shown_for(call.model)),
            in_person=found.in_person,
        )
        return Question(request, frozenset(found.asked))

    def question_about(
        self, terms: Terms, act: str, level: str, args: Mapping[str, int], *, baseline: str
    ) -> Question | None:
        """The same for an act that is no tool."""
        found = approval_ruling_for(terms, act, level)
        if found is None:
            return None
        request = ApprovalRequest(
            id=_new_id(),
            operation_hash=operation_hash(act, 1, args, key=None, baseline=baseline),
            request_id=new_id(),
            operation_id=act,
            tool=act,
            safety_level=level,
            what=escape_invisible(f"{act} {orjson.dumps(args).decode()}"),
            why=found.reasons,
            expires=time.time() + terms.constraints.rules.approval_seconds,
        )
        return Question(request, frozenset(found.asked))

    def _asks(self, terms: Terms, call: Invocation) -> Ruling | None:
        """What the rules say; without files, that is one answer for every call of the tool at its level."""
        if call.with_files:
            return approval_ruling(
                terms, call.tool, call.model, call.safety_level, self._files.rules_for(call.tool, call.args)
            )
        if terms is not self._terms:
            self._terms, self._rulings = terms, {}
        known = (call.tool.name, call.safety_level, call.tool.capabilities_for(call.model))
        if known not in self._rulings:
            self._rulings[known] = approval_ruling(terms, call.tool, call.model, call.safety_level)
        return self._rulings[known]

    def grant(self, questions: Sequence[Question]) -> dict[str, Approval]:
        """Keep what was allowed beforehand, by operation id. One transaction."""
        answered = [(one.request, Approval(one.request.id, Answer.APPROVED, BY_GRANT)) for one in questions]
        if answered:
            self._journal.record_approvals(answered)
        return {request.operation_id: approval for request, approval in answered}

    def can_be_had(self, question: Question, consent: Consent) -> bool:
        """Whether there is, or may be, a yes to this. Spends nothing."""
        if consent.approver is not None or question.granted(consent):
            return True
        now = time.time()
        kept = self._journal.approvals(question.request.operation_hash)
        return any(one.state == "approved" and one.request.expires > now for one in kept)

    def leave(self, questions: Sequence[Question]) -> list[Finding]:
        """Nobody can be asked now: keep the questions for whoever answers later, and say how."""
        ids = self._journal.ask_approval([question.request for question in questions]) if questions else ()
        return [self._missing(question, id) for question, id in zip(questions, ids, strict=True)]

    def settle(
        self, question: Question, consent: Consent, cancel: CancelToken | None = None
    ) -> tuple[Approval | None, Finding | None]:
        """Ask for this operation. The finding is None exactly when it is allowed; what was said is there in either case."""
        request = question.request
        if question.granted(consent):
            return self.grant([question])[request.operation_id], None
        given = self._journal.use_approval(request.operation_hash)
        if given is not None:
            return given, None
        if consent.approver is not None:
            answer = consent.approver.ask(request, cancel=cancel)
            if answer is Answer.APPROVED and time.time() > request.expires:
                answer = Answer.NONE
            if answer is not Answer.NONE:
                said = Approval(request.id, answer, consent.approver.name)
                self._journal.record_approvals([(request, said)])
                return said, None if answer is Answer.APPROVED else _declined(request)
        return None, self.leave([question])[0]

    def _missing(self, question: Question, id: str) -> Finding:
        why = ", ".join(question.request.why)
        message = f"{question.request.tool} must be allowed by a person ({why}){self._history(question.request, id)}"
        option = "" if question.request.in_person else f", or give {question.options()}"
        return refusal("approval_missing", message, id=id, or_option=option)

    def _history(self, request: ApprovalRequest, id: str) -> str:
        """What became of an earlier answer, which the caller may be counting on."""
        earlier = [kept for kept in self._journal.approvals(request.operation_hash) if kept.request.id != id]
        if not earlier:
            return ""
        last = earlier[0]
        word = "was used already" if last.state == "used" else "has expired"
        return f"; approval {last.request.id} {'was declined' if last.state == 'declined' else word}"


@dataclass(frozen=True, slots=True)
class Asking:
    """What a person is asked about in a run, by operation, and how."""

    approvals: Approvals
    consent: Consent
    questions: Mapping[str, Question]

    def settle(self, call: Invocation, cancel: CancelToken | None) -> tuple[Invocation, Finding | None]:
        """The call with what was said to it; the finding is None where it is allowed, or nothing is asked."""
        question = self.questions.get(call.operation_id)
        if question is None:
            return call, None
        approval, finding = self.approvals.settle(question, self.consent, cancel)
        return replace(call, approval=approval), finding


def _new_id() -> str:
    return "".join(secrets.choice(ALPHABET) for _ in range(8))


def _declined(request: ApprovalRequest) -> Finding:
    return refusal("approval_declined", f"{request.tool} was declined")
