"""What a person is asked in the course of one run, and whether the answers still hold when they come.

Whoever asks may let others use the workspace until the answer is there. So an answer counts only where HEAD is still what it was when
the question was put; otherwise everything that the run has not done yet is looked up anew, and the person is asked about the scene
as it is now. What is kept whole is asked about before it begins: nobody else may commit between its operations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from time import monotonic

from blendwright.approvals.ask import ApprovalOutcome
from blendwright.engine.invocation import Invocation
from blendwright.engine.options import PhaseClock, RunDeadline, RunOptions
from blendwright.engine.session import Session
from blendwright.policy.refusals import APPROVAL_OUTDATED
from blendwright.values.approval import ApprovalRequest

# So often a person is asked again in one run because others have changed the scene; then what is asked about is refused.
MOST_ASKED_AGAIN = 2


class Questions:
    """`requests` are what a person is asked about, by operation."""

    def __init__(
        self,
        session: Session,
        options: RunOptions,
        deadline: RunDeadline,
        clock: PhaseClock | None,
        requests: dict[str, ApprovalRequest],
    ) -> None:
        self.requests = requests
        self.moved = False
        """Whether others had HEAD moved during a question: nothing more may run before it is looked up again."""
        self._session = session
        self._options = options
        self._deadline = deadline
        self._clock = clock
        self._asked_again = 0
        self._answers: dict[str, ApprovalOutcome] = {}

    def __contains__(self, operation_id: str) -> bool:
        return operation_id in self.requests

    def ask_together(self) -> None:
        """Ask about everything at once, where there is someone who takes such a question."""
        session = self._session
        began, approver = monotonic(), self._options.approver or session.approver
        head = session.journal.head
        self._answers |= session.approvals.ask_together(self.requests, approver, self._deadline.cancel)
        self._deadline.extend(monotonic() - began)
        if self._clock is not None:
            self._clock.leave_out()
        self.moved = session.journal.head != head

    def ask_ahead(self, calls: Sequence[Invocation]) -> None:
        """Ask about these calls before the first of them runs. After one that is not allowed the rest is not either."""
        refused: ApprovalOutcome | None = None
        for id in (call.operation_id for call in calls if call.operation_id in self):
            outcome = refused or self._answers.get(id) or self._ask(self.requests[id])
            if outcome is None:
                return
            self._answers[id] = outcome
            refused = None if outcome.finding is None else outcome

    def answer(self, call: Invocation) -> ApprovalOutcome | None:
        """What was said to the call; None where that holds no longer, and it is to be asked about again."""
        known = self._answers.pop(call.operation_id, None)
        return known or self._ask(self.requests[call.operation_id], call)

    def begin_again(self, requests: dict[str, ApprovalRequest]) -> None:
        """What is still to be done was looked up: these are its questions now. A no stays a no."""
        self.requests, self.moved = requests, False
        self._answers = {id: outcome for id, outcome in self._answers.items() if outcome.finding is not None}

    def _ask(self, request: ApprovalRequest, alone: Invocation | None = None) -> ApprovalOutcome | None:
        """`alone` is the call where everything before it is done: a question that is left open is then for the scene as it is now."""
        session = self._session
        began, approver = monotonic(), self._options.approver or session.approver
        now = request
        if alone is not None:
            terms, scene_hash = session.contract.contract(), session.scene.hash
            now = session.approvals.requests(terms, [alone], scene_hash).get(alone.operation_id, request)
            now = replace(now, why=request.why)
        outcome = session.approvals.ask(request, approver, self._deadline.cancel, now=now)
        self._deadline.extend(monotonic() - began)  # the time of the run is for work, not for thinking it over
        if self._clock is not None:
            self._clock.leave_out()
        self.moved = self.moved or outcome.moved
        if outcome.finding is None or outcome.finding.rule != APPROVAL_OUTDATED:
            return outcome
        self._asked_again += 1
        return None if self._asked_again <= MOST_ASKED_AGAIN else outcome
