"""The approval questions of one run, and the check that an answer still applies when it arrives.

Other clients may use the workspace until the answer arrives. An answer counts only if HEAD has not moved since the
question. Otherwise Blendwright refuses the operation and skips the rest of the run. The caller can run the plan
again; completed operations do not run twice. For a list that must succeed as a whole, all questions come before
its first operation, because no other client may commit between its operations.
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
    """The approval requests of one run by operation id, with the answers so far."""

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
        """True when another client moved HEAD during a question. No further operation of this run may run."""
        self._session = session
        self._options = options
        self._deadline = deadline
        self._clock = clock
        self._answers: dict[str, ApprovalOutcome] = {}

    def __contains__(self, operation_id: str) -> bool:
        return operation_id in self.requests

    def ask_together(self) -> None:
        """Ask about all requests at once, if the approver accepts a combined question."""
        session = self._session
        began = monotonic()
        approver = self._options.approver or session.approver
        head = session.journal.head
        self._answers |= session.approvals.ask_together(self.requests, approver, self._deadline.cancel)
        self._deadline.extend(monotonic() - began)
        if self._clock is not None:
            self._clock.leave_out()
        self.head_moved = session.journal.head != head

    def ask_ahead(self, calls: Sequence[Invocation]) -> None:
        """Ask about these calls before the first of them runs. After one refusal, the same outcome refuses the
        later calls.
        """
        refused: ApprovalOutcome | None = None
        for call in calls:
            id = call.operation_id
            if id not in self:
                continue
            outcome = refused or self._answers.get(id) or self._ask(self.requests[id])
            self._answers[id] = outcome
            if outcome.finding is None:
                refused = None
            else:
                refused = outcome

    def answer(self, call: Invocation) -> ApprovalOutcome:
        """Return the answer for this call. Ask the approver if no answer exists yet."""
        outcome = self._answers.pop(call.operation_id, None)
        return outcome or self._ask(self.requests[call.operation_id], call)

    def refusal_of(self, call: Invocation) -> Finding:
        """Return the reason why this call may not run after HEAD has moved: a person declined it, or its answer is
        outdated.
        """
        outcome = self._answers.get(call.operation_id)
        if outcome is not None and outcome.finding is not None:
            return outcome.finding
        return outdated_approval(call.tool.name)

    def _ask(self, request: ApprovalRequest, alone: Invocation | None = None) -> ApprovalOutcome:
        """Ask about one request. `alone` is the call itself when all earlier operations are done.

        A question that stays open is then recorded for the present scene.
        """
        session = self._session
        began = monotonic()
        approver = self._options.approver or session.approver
        current_request = request
        if alone is not None:
            terms = session.contract.contract()
            scene_hash = session.scene.hash
            current_requests = session.approvals.requests(terms, [alone], scene_hash)
            current_request = current_requests.get(alone.operation_id, request)

        outcome = session.approvals.ask(request, approver, self._deadline.cancel, now=current_request)
        self._deadline.extend(monotonic() - began)  # the time limit of the run does not include thinking time
        if self._clock is not None:
            self._clock.leave_out()
        self.head_moved = self.head_moved or outcome.head_moved
        return outcome
