"""What a person is asked in the course of one run, and whether the answers still hold when they come.

Other clients may use the workspace until the answer is there. An answer counts only if HEAD has not moved since the question. Otherwise
the operation is refused and the rest of the run is skipped: the caller runs the plan again, and what is done is not done again.
What is kept whole is asked about before it begins: nobody else may commit between its operations.
"""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic

from blendwright.approvals.ask import ApprovalOutcome
from blendwright.engine.invocation import Invocation
from blendwright.engine.options import PhaseClock, RunDeadline, RunOptions
from blendwright.engine.session import Session
from blendwright.policy.refusals import outdated_approval
from blendwright.values.approval import ApprovalRequest
from blendwright.values.findings import Finding


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
        self.head_moved = False
        """Whether others moved HEAD during a question: nothing more of this run may run."""
        self._session = session
        self._options = options
        self._deadline = deadline
        self._clock = clock
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
        self.head_moved = session.journal.head != head

    def ask_ahead(self, calls: Sequence[Invocation]) -> None:
        """Ask about these calls before the first of them runs. After one that is not allowed the rest is not either."""
        refused: ApprovalOutcome | None = None
        for id in (call.operation_id for call in calls if call.operation_id in self):
            outcome = refused or self._answers.get(id) or self._ask(self.requests[id])
            self._answers[id] = outcome
            if outcome.finding is None:
                refused = None
            else:
                refused = outcome

    def answer(self, call: Invocation) -> ApprovalOutcome:
        """Return the answer for this call, asking for it if nobody has answered yet."""
        known = self._answers.pop(call.operation_id, None)
        return known or self._ask(self.requests[call.operation_id], call)

    def refusal_of(self, call: Invocation) -> Finding:
        """Return why this call may not run now that HEAD has moved: a person declined it, or the answer is outdated."""
        outcome = self._answers.get(call.operation_id)
        if outcome is not None and outcome.finding is not None:
            return outcome.finding
        return outdated_approval(call.tool.name)

    def _ask(self, request: ApprovalRequest, alone: Invocation | None = None) -> ApprovalOutcome:
        """`alone` is the call where everything before it is done: a question that is left open is then for the scene as it is now."""
        session = self._session
        began, approver = monotonic(), self._options.approver or session.approver
        now = request
        if alone is not None:
            terms, scene_hash = session.contract.contract(), session.scene.hash
            now = session.approvals.requests(terms, [alone], scene_hash).get(alone.operation_id, request)
        outcome = session.approvals.ask(request, approver, self._deadline.cancel, now=now)
        self._deadline.extend(monotonic() - began)  # the time of the run is for work, not for thinking it over
        if self._clock is not None:
            self._clock.leave_out()
        self.head_moved = self.head_moved or outcome.head_moved
        return outcome
