"""Sends operations to the worker, many on their way at once, and commits their answers in order and in groups.

Nothing is acknowledged before its commit. Operations of a long run travel in bulks. Those that need the worker for themselves wait
until the window is empty. After a failure the worker refuses what was sent behind it (the epoch is closed); what still may run is
sent again in a new one.
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

# Commits in one transaction.
GROUP = 64
# So long the next answer may take before those that are there are committed without it: a commit costs about as much.
GRACE = 0.002


# Why the rest of a run is skipped when HEAD moved during a question.
SCENE_CHANGED = "not run: others changed the scene while a person was asked. Run it again"


class Pipeline:
    """One run over one list of operations. `stop`: nothing runs after a failure. `whole`: a failure takes all of the list back."""

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
        """`questions` are for a person, where one is asked about some of them."""
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
        """Records of what failed, where they belong into the transaction of the rollback."""

    def run(self, calls: Sequence[Invocation]) -> None:
        """Report every one of these operations to the run state, unless the environment gives up (EnvironmentUnfit)."""
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
            # The worker may have done what is committed nowhere; or it is committed, and nobody was told.
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
                    break  # everything before it must be done first: it needs the worker for itself, or a person is asked about it
                calls.append(call)
                steps.append(call.short_request() if message.operations > 1 else call.request())
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
                # It could not be sent, so nothing may be sent behind it; what is on its way comes first.
                if len(calls) > 1 and isinstance(error, WorkerFault):
                    self._bulks.send_alone(len(calls))  # together they are too large
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
        """The worker of the window; a new one is taken only when nothing is on its way and everything answered is committed."""
        if not self._window:
            if self._answered and not self._scene.ready:
                self._commit()
            self._worker = self._scene.worker()
        assert self._worker is not None
        return self._worker

    # ------------------------------------------------------------------ receiving

    def _receive(self) -> None:
        calls, future = self._window[0]
        if self._answered and not future.done() and not wait([future], GRACE).done:
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
            several = self._culprit_unknown(error, len(calls))
            self._scene.report_loss(error, CallIds(calls[0].request_id) if several else calls[0].ids)
            if several:
                self._bulks.send_alone(sum(len(sent) for sent, _ in self._window))
                self._recall()
                return
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
            if len(self._answered) >= GROUP:
                self._commit()
        if len(answers) < len(calls):
            # They took long, so each that was sent is to have its own time; what comes behind them may be quicker, in smaller bulks.
            self._scene.epoch += 1
            self._bulks.note_slow(len(answers), self._recall(calls[len(answers) :]))
        elif len(calls) > 1:  # what is sent by itself says nothing of bulks
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
        """Whether it is not known which of those that were sent together ended the worker."""
        return together > 1 and not isinstance(error, Cancelled) and monotonic() < self._deadline.ends

    def _recall(self, behind: Sequence[Invocation] = ()) -> int:
        """What was sent behind a failure has not happened: it is to be sent again, or skipped. Returns how many that are."""
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
        # The worker is needed twice: nobody is asked in vain, and others may have had their turn before the answer.
        if self._has_worker(call):
            approved = self._approved(call)
        else:
            approved = None
        if approved is None or not self._has_worker(call):
            return
        call, options = approved, self._options
        seconds = min(self._deadline.seconds_for(call.tool), max(0.001, self._deadline.ends - monotonic()))
        limits: dict[str, Any] = {"seconds": seconds, "run_ends": self._deadline.ends, "cancel": options.cancel}
        ways: dict[str, Any] = {"waiting": options.waiting, "verify": self._verify, "rehearse": options.rehearse}
        outcome = self._session.exclusive.run(call, **limits, **ways)
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
        """Whether there is a worker for this call; otherwise its failure is reported."""
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
        """Return the call with its approval, or None when it was refused."""
        questions = self._questions
        if questions is None or call.operation_id not in questions:
            return call
        outcome = questions.answer(call)
        self._reached = self._scene.hash  # others may have had their turn meanwhile
        call, finding = replace(call, approval=outcome.approval), outcome.finding
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
            # What was checked before the question is outdated.
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
        outcome.answer = None  # what it says is in the report; nothing of it is kept
        self._answered.append(outcome)
        self._commit()
        self._state.block_dependents(call.operation_id)
        self._continue(f"not run, because '{self._state.caller_id(call.operation_id)}' failed")

    def _continue(self, otherwise: str) -> None:
        """After something was not done: with what does not depend on it, where the plan is to go on at all."""
        if self._stop:
            self._todo.clear()
            self._state.skip_rest(otherwise)
        else:
            self._todo = deque(call for call in self._todo if self._state.is_open(call.operation_id))

    def _prove_rebuild(self, call: Invocation) -> None:
        """The last way back is taken at once: a scene that cannot be rebuilt is the worst that can be said of a failure."""
        if self._whole:
            return
        try:
            self._scene.worker()
        except EnvironmentUnfit as error:
            self._quarantined(call.operation_id, error)
        except (WorkerError, RebuildFailed):
            return  # the next need for the scene tries again, and says what happened

    def _quarantined(self, id: str, error: EnvironmentUnfit) -> None:
        """No way leads back to the scene that the journal tells of. Anything else that is unfit ends the run as it is."""
        if not error.details.get("quarantined"):
            raise error
        finding = Finding(Fault.ROLLBACK_FAILED, error.message, "", error.cure)
        self._state.revise(self._state.failed(id, (finding,)))
        self._todo.clear()
        self._state.skip_rest("not run: the workspace is quarantined")

    # ------------------------------------------------------------------ ends

    def _kill_worker(self) -> None:
        """Called by whoever cancels, in their thread: only the worker's death ends native work."""
        worker = self._worker
        if worker is not None and self._window:
            worker.abandon()

    def _end(self, call: Invocation | None = None, finding: Finding | None = None) -> None:
        """Stop before `call`; what was answered stands."""
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
        """Everything answered so far, in one transaction; then, and not before, it is acknowledged. `details` are those of a success
        that is there by itself."""
        if not self._answered:
            return
        answered, self._answered = self._answered, []
        if self._whole:
            # What failed is recorded in the transaction of the rollback.
            self.failures += [one.entry for one in answered if isinstance(one.entry, NewAudit)]
        to_write = [one for one in answered if not (self._whole and isinstance(one.entry, NewAudit))]
        if to_write:
            crash_points.reach("plan.before_commit")
            written = self._ledger.write([one.entry for one in to_write])
            crash_points.reach("plan.committed")
            for one, number, receipt in zip(to_write, written.numbers, written.receipts, strict=True):
                if one.report is None and one.answer is not None:
                    one.report = self._state.succeeded(one.call, one.answer, number, receipt, details)
        for one in answered:
            assert one.report is not None
            self._state.record(one.report)
        crash_points.reach("plan.acknowledged")
