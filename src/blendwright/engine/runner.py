"""The runner of scheduled plans.

It answers operations from the journal where an earlier run did them. It checks, sends, commits and reports the
other operations.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from blendwright.engine.failures import finding_of
from blendwright.engine.idempotency import MIN_CACHED_OPERATIONS, MOST_KEPT, Classification, LastPlan, classify
from blendwright.engine.invocation import Invocation, OperationKeys, new_ids
from blendwright.engine.ledger import unrunnable_note
from blendwright.engine.options import DEFAULT_OPTIONS, PhaseClock, RunDeadline, RunOptions
from blendwright.engine.questions import Questions
from blendwright.engine.run_state import RunState
from blendwright.engine.sending.pipeline import SCENE_CHANGED, Pipeline
from blendwright.engine.session import Session
from blendwright.plan.repair import minimal_repair, refused
from blendwright.records.commits import Entry, NewAudit
from blendwright.tool_api.promises import Determinism
from blendwright.util import crash_points
from blendwright.util.gc_pause import LARGE_PLAN, gc_paused
from blendwright.values.approval import ApprovalRequest
from blendwright.values.errors import BlendwrightError, RebuildFailed, Refusal, WorkerError
from blendwright.values.events import RunBrokenOff, RunEnded, RunStarted
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding
from blendwright.values.plan import Plan, Schedule
from blendwright.values.report import RunReport

# Approval requests that one refused plan lists. The findings explain how to allow more of them together.
MAX_LISTED_REQUESTS = 100
# Determinism demands that every result meets.
ANY_CLASS = frozenset({None, Determinism.NONDETERMINISTIC})


class Runner:
    """A runner for plans on the scene of one session."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._last_keys: tuple[Plan, OperationKeys] | None = None
        self._last_plan = LastPlan()

    def run(
        self, schedule: Schedule, options: RunOptions = DEFAULT_OPTIONS, clock: PhaseClock | None = None
    ) -> RunReport:
        """Run a plan and return its report. Notify the observer at the start and the end.

        Raises EnvironmentUnfit when Blender or the disk is not usable.
        """
        plan = schedule.plan
        observe = self.session.observe
        observe(
            RunStarted(
                plan.request_id,
                plan.dialect,
                plan.boundary,
                schedule.hash,
                len(schedule.order),
                self.session.scene.head.known_hash,
            )
        )
        try:
            if len(schedule.order) >= LARGE_PLAN:
                with gc_paused():
                    report = self.execute(schedule, options, clock)
            else:
                report = self.execute(schedule, options, clock)
        except BaseException as error:
            message = str(error) or type(error).__name__
            observe(RunBrokenOff(plan.request_id, plan.dialect, schedule.hash, message))
            raise
        observe(RunEnded(report))
        return report

    def execute(self, schedule: Schedule, options: RunOptions, clock: PhaseClock | None) -> RunReport:
        """Run a plan or a single call: answer known operations, check the remaining ones, run them, and report.

        Does not notify the observer, because a single call is a different event than a run. `clock` measures the
        phases of a single call.
        """
        started = (time.time(), time.perf_counter())
        session = self.session
        plan = schedule.plan
        hash_before = session.scene.head.known_hash
        state = RunState(schedule, options.progress, hold=plan.boundary == "plan")
        calls = self._invocations(schedule, options)

        # Find the operations that an earlier run did.
        if plan.single_call:
            classified = Classification(to_run=calls)
        else:
            if plan is self._last_plan.plan:
                last = self._last_plan.lookup(session.journal, calls)
            else:
                last = None
            strict = session.contract.terms.constraints.idempotency == "strict"
            classified = last or classify(session.journal, calls, strict=strict)

        # Check the operations that would run.
        requests: dict[str, ApprovalRequest] = {}
        ends_at_once = plan.on_failure == "stop" or plan.boundary == "plan"
        if classified.to_run and not (ends_at_once and (schedule.unrunnable or classified.conflicts)):
            findings, requests = self._gate(schedule, classified.to_run, options, clock)
            if findings:
                return replace(
                    refused(plan, findings),
                    contract=session.contract.fingerprint,
                    scene_hash_before=hash_before,
                    scene_hash_after=session.scene.head.known_hash,
                )
        gated = time.perf_counter()

        # Run them.
        if classified.cached or classified.conflicts or schedule.unrunnable:
            self._record_without_blender(schedule, state, classified)
        runnable = [call for call in classified.to_run if state.is_open(call.operation_id)]
        if requests:
            runnable = self._granted(runnable, requests, options)
        deadline = RunDeadline.from_now(options, session.contract.terms)
        if requests:
            questions = Questions(session, options, deadline, clock, requests)
        else:
            questions = None
        if questions is not None and len(requests) > 1:
            questions.ask_together()
        for group, whole in _groups(schedule, runnable):
            self._run_group(schedule, state, group, whole, deadline, options, questions)
        if plan.boundary == "plan":
            state.release()
        if len(schedule.order) >= MIN_CACHED_OPERATIONS:
            self._last_plan.store(session.journal, plan, state.reports())
        return self._report(schedule, state, hash_before, started, gated)

    def _run_group(
        self,
        schedule: Schedule,
        state: RunState,
        calls: Sequence[Invocation],
        whole: tuple[str, ...] | None,
        deadline: RunDeadline,
        options: RunOptions,
        questions: Questions | None,
    ) -> None:
        """Run a group of operations.

        `whole` names the operations that succeed or roll back together, including operations of earlier runs. None
        means that each operation counts alone.
        """
        runnable = [call for call in calls if state.is_open(call.operation_id)]
        if questions is not None and whole is not None:
            questions.ask_ahead(runnable)
        if not runnable:
            return
        if questions is not None and questions.head_moved:
            self._refuse_outdated(state, runnable, questions)
            return
        plan = schedule.plan
        journal = self.session.journal
        stop = plan.on_failure == "stop" or plan.boundary == "plan"
        pipeline = Pipeline(self.session, state, deadline, options, questions, stop=stop, whole=whole is not None)
        if whole is None:
            pipeline.run(runnable)
            return
        try:
            boundary = journal.recovery.begin_boundary(plan.request_id)
            crash_points.reach("whole.begun")
            state.hold()
            pipeline.run(runnable)
            self._close(boundary, state, whole, pipeline.failures)
        except BaseException:
            self._give_up(plan.request_id, pipeline.failures)
            raise
        if plan.boundary != "plan":
            state.release()

    def _refuse_outdated(self, state: RunState, calls: Sequence[Invocation], questions: Questions) -> None:
        """Refuse the calls with approval requests after another client changed the scene, and skip all other calls
        of the run.
        """
        ledger = self.session.ledger
        scene_hash = self.session.scene.hash
        refusals = [(call, questions.refusal_of(call)) for call in calls if call.operation_id in questions]
        ledger.write([ledger.note(call, "failed", scene_hash, fault=finding.fault) for call, finding in refusals])
        for call, finding in refusals:
            report = state.failed(call.operation_id, (finding,), mcp_call_id=call.call_id)
            state.record(replace(report, status="refused"))
        state.skip_rest(SCENE_CHANGED)

    def _invocations(self, schedule: Schedule, options: RunOptions) -> list[Invocation]:
        """Return the calls of the operations that can run, in schedule order.

        The runner keeps the keys of the last plan, because the same plan often runs again.
        """
        plan = schedule.plan
        tools = self.session.tools
        demands = (options.determinism, self.session.contract.terms.constraints.determinism)
        proof_demanded = plan.on_nondeterministic == "prove" or not ANY_CLASS.issuperset(demands)
        if self._last_keys is not None and self._last_keys[0] is plan:
            keys = self._last_keys[1]
        else:
            keys = OperationKeys(plan.request_id, {operation.id: operation.args for operation in plan.operations})
            if len(plan.operations) <= MOST_KEPT:
                self._last_keys = (plan, keys)
            else:
                self._last_keys = None
        runnable = [operation for operation in schedule.order if operation.id not in schedule.unrunnable]
        calls: list[Invocation] = []
        for operation, call_id in zip(runnable, new_ids(len(runnable)), strict=True):
            if operation.origin is None:
                macro_operation = None
            else:
                macro_operation = operation.origin.operation_id
            call = Invocation(
                plan.request_id,
                operation.id,
                tools[operation.tool],
                operation.args,
                operation.model,
                operation.safety_level or tools[operation.tool].safety_level.value,
                keys,
                call_id,
                macro_operation=macro_operation,
                single_call=plan.single_call,
                proof_demanded=proof_demanded,
            )
            calls.append(call)
        return calls

    # ------------------------------------------------------------------ before anything runs

    def _gate(
        self,
        schedule: Schedule,
        to_run: Sequence[Invocation],
        options: RunOptions,
        clock: PhaseClock | None,
    ) -> tuple[tuple[Finding, ...], dict[str, ApprovalRequest]]:
        """Check the operations that would run. Starts Blender.

        Return the findings against them, and the approval requests by operation id.
        """
        session = self.session
        requests: dict[str, ApprovalRequest] = {}
        if options.timeout is not None:
            too_long = options.too_long(session.contract.terms)
            if too_long:
                return too_long, requests

        try:
            session.scene.worker()
            if clock is not None:
                clock.leave_out()  # starting Blender belongs to no phase of a call
            operations = {operation.id: operation for operation in schedule.order}
            findings, asks = session.contract.check(
                to_run,
                operations,
                session.files.path_findings,
                options.determinism,
                background=options.background,
            )
            if asks and not findings:
                contract = session.contract.contract()
                scene_hash = session.scene.hash
                requests = session.approvals.requests(contract, to_run, scene_hash)
        except Refusal as refusal:
            findings = refusal.findings
        except (WorkerError, RebuildFailed) as error:
            session.scene.report_loss(error, to_run[0].ids)
            first = next(operation for operation in schedule.order if operation.id == to_run[0].operation_id)
            findings = (first.as_a_whole(finding_of(error)),)
        else:
            if clock is not None:
                clock.lap("gate")
        if requests and not findings:
            findings = self._unanswerable(schedule, requests, options)
        return findings, requests

    def _unanswerable(
        self, schedule: Schedule, requests: Mapping[str, ApprovalRequest], options: RunOptions
    ) -> tuple[Finding, ...]:
        """Refuse the plan if the approver cannot answer a request. Store these requests, so that a person can
        answer them later.
        """
        approvals = self.session.approvals
        approver = options.approver or self.session.approver
        waiting = {id: request for id, request in requests.items() if not approvals.may_be_approved(request, approver)}
        findings = approvals.leave(list(waiting.values())[:MAX_LISTED_REQUESTS])
        operations = {operation.id: operation for operation in schedule.order}
        return tuple(operations[id].as_a_whole(finding) for id, finding in zip(waiting, findings, strict=False))

    def _granted(
        self, calls: list[Invocation], requests: dict[str, ApprovalRequest], options: RunOptions
    ) -> list[Invocation]:
        """Return the calls, with the approval of each call that a grant already allows. Remove the requests of
        these calls.
        """
        approver = options.approver or self.session.approver
        running_ids = {call.operation_id for call in calls}
        granted = [request for id, request in requests.items() if id in running_ids and approver.grants_all(request)]
        approvals = self.session.approvals.grant(granted)
        for id in approvals:
            del requests[id]
        return [replace(call, approval=approvals.get(call.operation_id)) for call in calls]

    def _record_without_blender(self, schedule: Schedule, state: RunState, classified: Classification) -> None:
        """Record, in one transaction, the operations that need no Blender: known answers, conflicts, and
        operations that cannot run.
        """
        ledger = self.session.ledger
        scene_hash = self.session.scene.head.known_hash
        entries: list[Entry] = []
        if scene_hash is not None:
            for call, _, _ in classified.cached:
                entries.append(ledger.note(call, "skipped_idempotent", scene_hash))
            for call, finding in classified.conflicts:
                entries.append(ledger.note(call, "failed", scene_hash, fault=finding.fault))
            for operation in schedule.order:
                finding = schedule.unrunnable.get(operation.id)
                if finding is not None:
                    entries.append(unrunnable_note(schedule.plan, operation, finding, scene_hash))
        if entries:
            ledger.write(entries)
            crash_points.reach("plan.known")
        for call, receipt, number in classified.cached:
            state.record(state.cached(call.operation_id, receipt, number))
        doomed = {call.operation_id: finding for call, finding in classified.conflicts} | dict(schedule.unrunnable)
        call_ids = {entry.operation_id: entry.audit.mcp_call_id for entry in entries if entry.operation_id in doomed}
        for id, finding in doomed.items():
            report = state.failed(id, (finding,), mcp_call_id=call_ids.get(id))
            if id in schedule.unrunnable:
                # The validation's findings already point into the plan.
                report = replace(report, findings=(finding,))
            state.record(report)
        for id in doomed:
            state.block_dependents(id)
        if doomed and (schedule.plan.on_failure == "stop" or schedule.plan.boundary == "plan"):
            first_id = next(iter(doomed))
            state.skip_rest(f"not run, because '{state.caller_id(first_id)}' cannot run")

    # ------------------------------------------------------------------ afterwards

    def _close(self, boundary: int, state: RunState, ids: Collection[str], failures: Sequence[NewAudit]) -> None:
        """Keep the operations of a boundary if all of them succeeded. Otherwise roll all of them back."""
        reports = [state.report(id) for id in ids]
        if all(report.done for report in reports):
            crash_points.reach("whole.before_keep")
            self.session.ledger.write([], keeps=boundary)
            crash_points.reach("whole.kept")
            return
        culprit = next(report.operation_id for report in reports if report.fault is not None)
        crash_points.reach("whole.before_rollback")
        written = self.session.journal.roll_back(boundary, failures)
        crash_points.reach("whole.rolled_back")
        if any(number is not None for number in written.numbers):
            self.session.scene.follow_rollback()
        state.take_back(f"rolled back, because '{state.caller_id(culprit)}' did not succeed", ids)

    def _give_up(self, request_id: str, failures: Sequence[NewAudit]) -> None:
        """Roll back the open boundary of a run that ends without a report.

        An open boundary would roll back later work in this workspace.
        """
        try:
            # The interruption may have come before the opening of the boundary or after its end.
            boundary = self.session.journal.recovery.open_boundary()
            if boundary is not None and boundary.request_id == request_id:
                self.session.journal.roll_back(boundary.id, failures)
        except BlendwrightError:
            # Block further writes. The next opening of the workspace rolls the boundary back.
            self.session.journal.give_up("an all-or-nothing plan could neither be kept nor rolled back")
        self.session.scene.follow_head()

    def _report(
        self,
        schedule: Schedule,
        state: RunState,
        scene_hash_before: str | None,
        started: tuple[float, float],
        gated: float,
    ) -> RunReport:
        """Return the report of the run.

        `started` is the time of day and the monotonic counter at the start; `gated` is the counter after the
        checks. Durations use the counter, because the time of day may change during the run.
        """
        plan = schedule.plan
        clock, counter = started
        spent = time.perf_counter() - counter
        reports = state.reports()
        findings = tuple(finding for report in reports for finding in report.findings)
        if findings:
            repair = minimal_repair(plan, findings)
        else:
            repair = ()
        if any(report.fault is Fault.ROLLBACK_FAILED for report in reports):
            checkpoint = self._latest_checkpoint()
        else:
            checkpoint = None

        return RunReport(
            plan.dialect,
            plan.request_id,
            state.status(),
            reports,
            repair=repair,
            schedule_hash=schedule.hash,
            boundary=plan.boundary,
            contract=self.session.contract.fingerprint,
            scene_hash_before=scene_hash_before,
            scene_hash_after=self.session.scene.head.known_hash,
            checkpoint=checkpoint,
            started=clock,
            finished=clock + spent,
            timings={
                "gate_ms": round((gated - counter) * 1000, 3),
                "run_ms": round(spent * 1000, 3),
            },
            remarks=plan.remarks,
            implied_by=schedule.implied_by,
            notes=plan.notes,
        )

    def _latest_checkpoint(self) -> dict[str, Any] | None:
        """Return the checkpoint from which a person can resume the work, or None."""
        route = self.session.journal.recovery.info().route
        if route is None:
            return None
        if route.checkpoint is None:
            return {"commit": None, "scene_hash": route.start_hash, "file": None}
        checkpoint = route.checkpoint
        return {
            "commit": checkpoint.commit,
            "scene_hash": checkpoint.scene_hash,
            "file": str(checkpoint.path),
            "sha256": checkpoint.sha256,
            "timestamp": checkpoint.timestamp,
        }


def _groups(
    schedule: Schedule, calls: Sequence[Invocation]
) -> Iterator[tuple[Sequence[Invocation], tuple[str, ...] | None]]:
    """Yield the calls in groups, each with the ids of the operations that succeed or roll back with it.

    A group is the whole plan, a macro, or the calls between macros; the latter have None in place of the ids. The
    schedule puts no other operation between the operations of a macro.
    """
    if schedule.plan.boundary == "plan":
        yield calls, tuple(operation.id for operation in schedule.order)
        return
    groups = {operation.id: operation.origin.group for operation in schedule.order if operation.origin is not None}
    if not groups:
        yield calls, None
        return
    members: dict[str, list[str]] = {}
    for id, group in groups.items():
        if group is not None:
            members.setdefault(group, []).append(id)
    for group, together in groupby(calls, key=lambda call: groups.get(call.operation_id)):
        if group is None:
            yield tuple(together), None
        else:
            yield tuple(together), tuple(members[group])
