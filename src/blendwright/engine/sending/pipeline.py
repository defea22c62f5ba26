"""The pipeline that sends operations to the worker, many at once, and commits their answers in order and in
groups.

It acknowledges no operation before its commit. Operations of a long run travel in bulks. Operations that need the
worker for themselves wait until the window is empty. After a failure the worker refuses later messages of the same
epoch; the pipeline sends the operations that may still run again in a new epoch.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future, wait
from dataclasses import replace
from itertools import islice
from time import monotonic
from typing import Any

from blendwright.engine.failures import finding_of
from blendwright.engine.invocation import Invocation
from blendwright.engine.options import RunDeadline, RunOptions
from blendwright.engine.questions import Questions
from blendwright.engine.run_state import RunState
from blendwright.engine.sending.bulk_policy import BulkPolicy
from blendwright.engine.sending.exclusive_step import StepOutcome, report_exception, revert_method
from blendwright.engine.session import Session
from blendwright.records.commits import NewAudit
from blendwright.util import crash_points
from blendwright.values.errors import (
    Cancelled,
    EnvironmentUnfit,
    ProtocolBreach,
    RebuildFailed,
    WorkerError,
    WorkerFault,
)
from blendwright.values.events import CallIds
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding
from blendwright.values.report import StepDetails
from blendwright.wire.methods import REVERT_FAILED, StepAnswer, StepRequest
from blendwright.wire.remote_scene import RemoteScene

# Operations in one commit transaction.
MAX_COMMIT_GROUP = 64
# Seconds to wait for the next answer before committing the present ones without it. A commit costs about as much.
COMMIT_GRACE_SECONDS = 0.002


# Reason for skipping the rest of a run when HEAD moved during an approval question.
SCENE_CHANGED = "not run: the scene changed while a person was asked for approval. Run it again"


class Pipeline:
    """A run over a list of operations.

    With `stop`, no operation runs after a failure. With `whole`, a failure reverts the whole list.
    """

    def __init__(
        self,
        session: Session,
        state: RunState,
        deadline: RunDeadline,
        options: RunOptions,
        questions: Questions | None,
        *,
        stop: bool,
        whole: bool,
    ) -> None:
        """Initialize the run. `questions` holds the approval requests of the list, or is None when no call needs
        approval.
        """
        self._session = session
        self._scene = session.scene
        self._ledger = session.ledger
        self._state = state
        self._deadline = deadline
        self._options = options
        self._questions = questions
        if questions is None:
            self._asked_about = ()
        else:
            self._asked_about = questions
        self._verify = options.verify or session.contract.terms.host.verification == "all"
        self._stop = stop
        self._whole = whole
        self._todo: deque[Invocation] = deque()
        self._window: deque[tuple[list[Invocation], Future[Any]]] = deque()
        self._answered: list[StepOutcome] = []
        self._worker: RemoteScene | None = None
        self._oldest_since = 0.0
        self._bulks = BulkPolicy(0)
        self._reached = self._scene.hash
        self.failures: list[NewAudit] = []
        """Audit records of failures, which the caller writes in the transaction of the rollback."""

    def run(self, calls: Sequence[Invocation]) -> None:
        """Run these operations and report each of them to the run state. Raises EnvironmentUnfit when the
        environment fails.
        """
        self._todo.extend(calls)
        self._bulks = BulkPolicy(len(calls))
        cancel = self._deadline.cancel
        if cancel is not None:
            unsubscribe = cancel.subscribe(self._kill_worker)
        else:
            unsubscribe = None
        try:
            while self._todo or self._window:
                self._send()
                if self._window:
                    self._receive()
                elif self._todo:
                    self._exclusive(self._todo.popleft())
            self._commit()
        except BaseException:
            # The worker may have done uncommitted work, or a commit exists that no caller has heard of.
            self._scene.follow_head()
            raise
        finally:
            if unsubscribe is not None:
                unsubscribe()

    # ------------------------------------------------------------------ sending

    def _send(self) -> None:
        while self._todo and self._deadline.passed() is None:
            message = self._bulks.next_message(self._deadline.calls_at_once)
            if len(self._window) >= message.underway:
                return
            calls: list[Invocation] = []
            steps: list[StepRequest] = []
            for call in islice(self._todo, message.operations):
                if self._options.one_at_a_time or call.promises.exclusive or call.operation_id in self._asked_about:
                    break  # send it alone: it needs the worker for itself, or a person must approve it
                calls.append(call)
                if message.operations > 1:
                    steps.append(call.short_request())
                else:
                    steps.append(call.request())
                if self._verify:
                    steps[-1]["verify"] = True
            if not calls:
                return
            try:
                worker = self._window_worker()
                if len(steps) > 1:
                    future = worker.submit_bulk(steps, self._scene.epoch)
                else:
                    future = worker.submit_step({**steps[0], "epoch": self._scene.epoch, "prompt": True})
            except EnvironmentUnfit as error:
                self._quarantined(calls[0].operation_id, error)
                return
            except (WorkerError, RebuildFailed) as error:
                # The message could not be sent. Receive the answers that are on their way before anything else.
                if len(calls) > 1 and isinstance(error, WorkerFault):
                    self._bulks.send_alone(len(calls))  # the message is too large for them together
                elif not self._window:
                    self._break_off(self._todo.popleft(), error)
                return
            if not self._window:
                self._oldest_since = monotonic()
            self._window.append((calls, future))
            self._bulks.note_sent(len(calls))
            for _ in calls:
                self._todo.popleft()
                crash_points.reach("plan.sent")

    def _window_worker(self) -> RemoteScene:
        """Return the worker of the window. Take a new one only when no message is on its way and all answers are
        committed.
        """
        if not self._window:
            if self._answered and not self._scene.ready:
                self._commit()
            self._worker = self._scene.worker()
        assert self._worker is not None
        return self._worker

    # ------------------------------------------------------------------ receiving

    def _receive(self) -> None:
        calls, future = self._window[0]
        if self._answered and not future.done() and not wait([future], COMMIT_GRACE_SECONDS).done:
            self._commit()
        try:
            assert self._worker is not None
            answer = self._deadline.answer_of(future, self._worker, self._oldest_since)
            answers: list[StepAnswer]
            if len(calls) == 1:
                answers = [answer]
            else:
                answers = answer["answers"]
            if len(answers) > len(calls):
                raise ProtocolBreach("the worker answered more steps than it was sent")
        except WorkerError as error:
            if self._culprit_unknown(error, len(calls)):
                self._scene.report_loss(error, CallIds(calls[0].request_id))
                self._bulks.send_alone(sum(len(sent) for sent, _ in self._window))
                self._recall()
                return

            self._scene.report_loss(error, calls[0].ids)
            self._window.popleft()
            self._recall(calls[1:])
            self._break_off(calls[0], error)
            return
        self._window.popleft()
        self._oldest_since = monotonic()
        self._bulks.note_answered(len(answers))
        for call, answer in zip(calls, answers, strict=False):
            crash_points.reach("plan.answered")
            if not answer["ok"]:
                self._recall(calls[len(answers) :])
                self._failed(call, answer)
                return
            self._answered.append(StepOutcome(call, self._ledger.success(call, answer), answer))
            self._reached = answer["after"]
            if len(self._answered) >= MAX_COMMIT_GROUP:
                self._commit()
        if len(answers) < len(calls):
            # The bulk took long. Each unanswered operation gets its own time limit, and later bulks are smaller.
            self._scene.epoch += 1
            self._bulks.note_slow(len(answers), self._recall(calls[len(answers) :]))
        elif len(calls) > 1:  # a message with one operation does not show how bulks perform
            self._bulks.note_whole_bulk()

    def _failed(self, call: Invocation, answer: StepAnswer) -> None:
        self._scene.epoch += 1
        report_exception(self._scene, call, answer)
        irreversible = answer["reverted_by"] == REVERT_FAILED
        if irreversible:
            self._scene.discard()
        findings = tuple(Finding.from_json(finding) for finding in answer["findings"])
        if answer["reverted_by"] is None:
            status = "failed"
        else:
            status = "rolled_back"
        note = self._ledger.note(call, status, self._reached, fault=findings[0].fault, answer=answer)
        self._fail(StepOutcome(call, note, answer, findings, revert_method(answer)))
        if irreversible:
            self._prove_rebuild(call)

    def _culprit_unknown(self, error: WorkerError, together: int) -> bool:
        """Return True when several operations were sent together and any of them may have ended the worker."""
        return together > 1 and not isinstance(error, Cancelled) and monotonic() < self._deadline.ends

    def _recall(self, behind: Sequence[Invocation] = ()) -> int:
        """Put the operations that were sent after a failure back into the queue, and return their number. None of
        them happened.
        """
        sent = [*behind, *(call for calls, _ in self._window for call in calls)]
        self._todo.extendleft(reversed(sent))
        self._window.clear()
        return len(sent)

    # ------------------------------------------------------------------ one at a time

    def _exclusive(self, call: Invocation) -> None:
        self._commit()
        over = self._deadline.passed()
        if over is not None:
            self._end(call, over)
            return
        # Check for a worker before the question, so that no person is asked in vain, and after it, because another
        # client may have used the workspace meanwhile.
        if self._has_worker(call):
            approved = self._approved(call)
        else:
            approved = None
        if approved is None or not self._has_worker(call):
            return
        call = approved
        options = self._options
        seconds = min(self._deadline.seconds_for(call.tool), max(0.001, self._deadline.ends - monotonic()))
        outcome = self._session.exclusive.run(
            call,
            seconds=seconds,
            run_ends=self._deadline.ends,
            cancel=options.cancel,
            waiting=options.waiting,
            verify=self._verify,
            rehearse=options.rehearse,
        )
        if outcome.ok and outcome.answer is not None:
            self._answered.append(outcome)
            self._reached = outcome.answer["after"]
            self._commit(outcome.details)
            return
        if outcome.findings[0].fault is Fault.CANCELLED:
            outcome.report = self._state.interrupted(outcome.call, outcome.findings, outcome.details)
            self._answered.append(outcome)
            self._end()
            return
        self._fail(outcome)
        if outcome.reverted_by == "rebuild" and not outcome.broken_off:
            self._prove_rebuild(call)

    def _has_worker(self, call: Invocation) -> bool:
        """Return True when the call has a worker. Otherwise report the failure of the call and return False."""
        try:
            self._window_worker()
        except EnvironmentUnfit as error:
            self._quarantined(call.operation_id, error)
            return False
        except (WorkerError, RebuildFailed) as error:
            self._break_off(call, error)
            return False
        return True

    def _approved(self, call: Invocation) -> Invocation | None:
        """Return the call with its approval, or None when a person or the policy refused it."""
        questions = self._questions
        if questions is None or call.operation_id not in questions:
            return call
        outcome = questions.answer(call)
        self._reached = self._scene.hash  # another client may have changed the scene meanwhile
        call = replace(call, approval=outcome.approval)
        finding = outcome.finding
        if finding is None:
            return call
        passed = self._deadline.passed()
        if passed is not None:
            self._end(call, passed)
            return None
        note = self._ledger.note(call, "failed", self._reached, fault=finding.fault)
        report = self._state.failed(call.operation_id, (finding,), mcp_call_id=call.call_id)
        self._answered.append(StepOutcome(call, note, report=replace(report, status="refused")))
        self._commit()
        self._state.block_dependents(call.operation_id, "was refused")
        self._continue(f"not run, because '{self._state.caller_id(call.operation_id)}' was refused")
        if questions.head_moved:
            # The checks before the question no longer apply.
            self._todo.clear()
            self._state.skip_rest(SCENE_CHANGED)
        return None

    # ------------------------------------------------------------------ failures

    def _break_off(self, call: Invocation, error: WorkerError | RebuildFailed) -> None:
        finding = finding_of(error, call.tool)
        if finding.fault is Fault.CANCELLED:
            self._end(call, finding)
            return
        note = self._ledger.note(call, "rolled_back", self._reached, fault=finding.fault)
        self._fail(StepOutcome(call, note, findings=(finding,), reverted_by="rebuild"))
        if monotonic() >= self._deadline.ends:
            self._end()

    def _fail(self, outcome: StepOutcome) -> None:
        crash_points.reach("plan.failed")
        call = outcome.call
        outcome.report = self._state.failed(
            call.operation_id,
            outcome.findings,
            scene_hash_before=self._reached,
            scene_hash_after=self._reached,
            mcp_call_id=call.call_id,
            operation_key=call.key,
            details=outcome.details,
        )
        outcome.answer = None  # the report has its content; free the memory
        self._answered.append(outcome)
        self._commit()
        self._state.block_dependents(call.operation_id)
        self._continue(f"not run, because '{self._state.caller_id(call.operation_id)}' failed")

    def _continue(self, otherwise: str) -> None:
        """Continue after an operation was not done: skip the rest with the message `otherwise`, or go on with
        independent operations.
        """
        if self._stop:
            self._todo.clear()
            self._state.skip_rest(otherwise)
        else:
            self._todo = deque(call for call in self._todo if self._state.is_open(call.operation_id))

    def _prove_rebuild(self, call: Invocation) -> None:
        """Rebuild the scene at once, because a scene that cannot be rebuilt is worse than the failure and must be
        reported now.
        """
        if self._whole:
            return
        try:
            self._scene.worker()
        except EnvironmentUnfit as error:
            self._quarantined(call.operation_id, error)
        except (WorkerError, RebuildFailed):
            return  # the next use of the scene tries again and reports the failure

    def _quarantined(self, id: str, error: EnvironmentUnfit) -> None:
        """Report that the scene of the journal cannot be rebuilt. Raise the error again when the workspace is not
        quarantined.
        """
        if not error.details.get("quarantined"):
            raise error
        finding = Finding(Fault.ROLLBACK_FAILED, error.message, "", error.cure)
        self._state.revise(self._state.failed(id, (finding,)))
        self._todo.clear()
        self._state.skip_rest("not run: the workspace is quarantined")

    # ------------------------------------------------------------------ ends

    def _kill_worker(self) -> None:
        """Abandon the worker. The cancelling client calls this in its thread, because only the end of the process
        stops native work.
        """
        worker = self._worker
        if worker is not None and self._window:
            worker.abandon()

    def _end(self, call: Invocation | None = None, finding: Finding | None = None) -> None:
        """Stop before `call` and skip the rest. Answered operations stay."""
        if call is not None and finding is not None:
            note = self._ledger.note(call, "rolled_back", self._reached, fault=finding.fault)
            outcome = StepOutcome(call, note, findings=(finding,))
            outcome.report = self._state.interrupted(outcome.call, outcome.findings, outcome.details)
            self._answered.append(outcome)
        self._commit()
        self._todo.clear()
        self._state.skip_rest("not run: the run was ended")

    # ------------------------------------------------------------------ committing

    def _commit(self, details: StepDetails | None = None) -> None:
        """Commit all answered operations in one transaction, then acknowledge them. `details` belongs to a single
        success.
        """
        if not self._answered:
            return
        answered, self._answered = self._answered, []
        if self._whole:
            # The transaction of the rollback records the failures.
            to_write: list[StepOutcome] = []
            for outcome in answered:
                if isinstance(outcome.entry, NewAudit):
                    self.failures.append(outcome.entry)
                else:
                    to_write.append(outcome)
        else:
            to_write = answered

        if to_write:
            crash_points.reach("plan.before_commit")
            written = self._ledger.write([outcome.entry for outcome in to_write])
            crash_points.reach("plan.committed")
            for outcome, number, receipt in zip(to_write, written.numbers, written.receipts, strict=True):
                if outcome.report is None and outcome.answer is not None:
                    outcome.report = self._state.succeeded(outcome.call, outcome.answer, number, receipt, details)
        for outcome in answered:
            assert outcome.report is not None
            self._state.record(outcome.report)
        crash_points.reach("plan.acknowledged")
