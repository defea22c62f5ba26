"""Runs a scheduled plan against the journal: what was done before is answered, the rest is gated, sent, committed, and reported."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from itertools import groupby
from typing import Any

from blendwright.engine.failures import finding_of
from blendwright.engine.idempotency import MOST_KEPT, WORTH_KEEPING, Classification, LastPlan, classify
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

# More than a person would answer one by one: the findings say how to allow them together.
MOST_QUESTIONS = 100
# Demands that every result meets.
ANY_CLASS = frozenset({None, Determinism.NONDETERMINISTIC})


class Runner:
    """Runs plans on the scene of one session."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._last_keys: tuple[Plan, OperationKeys] | None = None
        self._last_plan = LastPlan()

    def run(
        self, schedule: Schedule, options: RunOptions = DEFAULT_OPTIONS, clock: PhaseClock | None = None
    ) -> RunReport:
        """Raises EnvironmentUnfit when nothing more can be run or written."""
        plan, observe = schedule.plan, self.session.observe
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
            with gc_paused() if len(schedule.order) >= LARGE_PLAN else nullcontext():
                report = self.execute(schedule, options, clock)
        except BaseException as error:
            message = str(error) or type(error).__name__
            observe(RunBrokenOff(plan.request_id, plan.dialect, schedule.hash, message))
            raise
        observe(RunEnded(report))
        return report

    def execute(self, schedule: Schedule, options: RunOptions, clock: PhaseClock | None) -> RunReport:
        """The one way through, for plans and for single calls: answer what was done before, gate the rest, run it, report.

        Tells no observer: a single call is another event than a run. `clock` is that of a call, which tells its phases."""
        started, session, plan = (time.time(), time.perf_counter()), self.session, schedule.plan
        hash_before = session.scene.head.known_hash
        state = RunState(schedule, options.progress, hold=plan.boundary == "plan")
        calls = self._invocations(schedule, options)
        if plan.single_call:
            classified = Classification(to_run=calls)
        else:
            if plan is self._last_plan.plan:
                last = self._last_plan.lookup(session.journal, calls)
            else:
                last = None
            strict = session.contract.terms.constraints.idempotency == "strict"
            classified = last or classify(session.journal, calls, strict=strict)
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
        if len(schedule.order) >= WORTH_KEEPING:
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
        """`whole` names the operations that are kept or taken back together, those done before included; None where each stands for
        itself."""
        runnable = [call for call in calls if state.is_open(call.operation_id)]
        if questions is not None and whole is not None:
            questions.ask_ahead(runnable)
        if not runnable:
            return
        if questions is not None and questions.head_moved:
            self._refuse_outdated(state, runnable, questions)
            return
        plan, journal = schedule.plan, self.session.journal
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
        """Refuse the calls that a person was asked about while others changed the scene, and skip all other calls of the run."""
        ledger, scene_hash = self.session.ledger, self.session.scene.hash
        refusals = [(call, questions.refusal_of(call)) for call in calls if call.operation_id in questions]
        ledger.write([ledger.note(call, "failed", scene_hash, fault=finding.fault) for call, finding in refusals])
        for call, finding in refusals:
            report = state.failed(call.operation_id, (finding,), mcp_call_id=call.call_id)
            state.record(replace(report, status="refused"))
        state.skip_rest(SCENE_CHANGED)

    def _invocations(self, schedule: Schedule, options: RunOptions) -> list[Invocation]:
        """The calls of the operations that can run, in schedule order. The keys of the last plan are kept: it often comes again."""
        plan, tools = schedule.plan, self.session.tools
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
        return [
            Invocation(
                plan.request_id,
                operation.id,
                tools[operation.tool],
                operation.args,
                operation.model,
                operation.safety_level or tools[operation.tool].safety_level.value,
                keys,
                call_id,
                macro_operation=None if operation.origin is None else operation.origin.operation_id,
                single_call=plan.single_call,
                proof_demanded=proof_demanded,
            )
            for operation, call_id in zip(runnable, new_ids(len(runnable)), strict=True)
        ]

    # ------------------------------------------------------------------ before anything runs

    def _gate(
        self,
        schedule: Schedule,
        to_run: Sequence[Invocation],
        options: RunOptions,
        clock: PhaseClock | None,
    ) -> tuple[tuple[Finding, ...], dict[str, ApprovalRequest]]:
        """What speaks against the operations that would run, and what a person is asked about, by operation. Starts Blender."""
        session, requests = self.session, dict[str, ApprovalRequest]()
        if options.timeout is not None and (too_long := options.too_long(session.contract.terms)):
            return too_long, requests
        try:
            session.scene.worker()
            if clock is not None:
                clock.leave_out()  # starting Blender belongs to no phase of a call
            operations = {operation.id: operation for operation in schedule.order}
            path_findings, determinism = session.files.path_findings, options.determinism
            check, background = session.contract.check, options.background
            findings, asks = check(to_run, operations, path_findings, determinism, background=background)
            if asks and not findings:
                contract, scene_hash = session.contract.contract(), session.scene.hash
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
        """What nobody is there to answer refuses the plan before anything runs; the requests wait for whoever answers later."""
        approvals, approver = self.session.approvals, options.approver or self.session.approver
        waiting = {id: one for id, one in requests.items() if not approvals.may_be_approved(one, approver)}
        findings = approvals.leave(list(waiting.values())[:MOST_QUESTIONS])
        operations = {operation.id: operation for operation in schedule.order}
        return tuple(operations[id].as_a_whole(finding) for id, finding in zip(waiting, findings, strict=False))

    def _granted(
        self, calls: list[Invocation], requests: dict[str, ApprovalRequest], options: RunOptions
    ) -> list[Invocation]:
        """The calls, those that were allowed beforehand with their approval: they need not wait for anybody."""
        approver = options.approver or self.session.approver
        running = {call.operation_id for call in calls}
        granted = [one for id, one in requests.items() if id in running and approver.grants_all(one)]
        approvals = self.session.approvals.grant(granted)
        for id in approvals:
            del requests[id]
        return [replace(call, approval=approvals.get(call.operation_id)) for call in calls]

    def _record_without_blender(self, schedule: Schedule, state: RunState, classified: Classification) -> None:
        """What needs no Blender: answers from the journal, conflicts, and operations that cannot but fail. One transaction."""
        ledger, scene_hash, entries = self.session.ledger, self.session.scene.head.known_hash, list[Entry]()
        if scene_hash is not None:
            entries += [ledger.note(call, "skipped_idempotent", scene_hash) for call, _, _ in classified.cached]
            entries += [
                ledger.note(call, "failed", scene_hash, fault=finding.fault) for call, finding in classified.conflicts
            ]
            entries += [
                unrunnable_note(schedule.plan, operation, schedule.unrunnable[operation.id], scene_hash)
                for operation in schedule.order
                if operation.id in schedule.unrunnable
            ]
        if entries:
            ledger.write(entries)
            crash_points.reach("plan.known")
        for call, receipt, number in classified.cached:
            state.record(state.cached(call.operation_id, receipt, number))
        doomed = {call.operation_id: finding for call, finding in classified.conflicts} | dict(schedule.unrunnable)
        call_ids = {entry.operation_id: entry.audit.mcp_call_id for entry in entries if entry.operation_id in doomed}
        for id, finding in doomed.items():
            report = state.failed(id, (finding,), mcp_call_id=call_ids.get(id))
            # What the validation found points into the plan already.
            state.record(replace(report, findings=(finding,)) if id in schedule.unrunnable else report)
        for id in doomed:
            state.block_dependents(id)
        if doomed and (schedule.plan.on_failure == "stop" or schedule.plan.boundary == "plan"):
            state.skip_rest(f"not run, because '{state.caller_id(next(iter(doomed)))}' cannot be")

    # ------------------------------------------------------------------ afterwards

    def _close(self, boundary: int, state: RunState, ids: Collection[str], failures: Sequence[NewAudit]) -> None:
        """All or nothing: kept when every operation was done, taken back otherwise."""
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
        state.take_back(f"taken back, because '{state.caller_id(culprit)}' was not done", ids)

    def _give_up(self, request_id: str, failures: Sequence[NewAudit]) -> None:
        """The run ends without an answer. Left open, the boundary would take back what is done in this workspace later."""
        try:
            # It may have been opened, or closed, in the very moment of the interruption.
            boundary = self.session.journal.recovery.open_boundary()
            if boundary is not None and boundary.request_id == request_id:
                self.session.journal.roll_back(boundary.id, failures)
        except BlendwrightError:
            # Nothing may be written behind it any more; whoever opens the workspace next rolls it back.
            self.session.journal.give_up("a plan that is kept whole could neither be kept nor be taken back")
        self.session.scene.follow_head()

    def _report(
        self,
        schedule: Schedule,
        state: RunState,
        scene_hash_before: str | None,
        started: tuple[float, float],
        gated: float,
    ) -> RunReport:
        """`started` is the time of day and the reading of the counter then, `gated` a reading: the time of day may be set meanwhile."""
        plan = schedule.plan
        clock, counter = started
        spent = time.perf_counter() - counter
        reports = state.reports()
        findings = tuple(finding for report in reports for finding in report.findings)
        unrecoverable = any(report.fault is Fault.ROLLBACK_FAILED for report in reports)
        return RunReport(
            plan.dialect,
            plan.request_id,
            state.status(),
            reports,
            repair=minimal_repair(plan, findings) if findings else (),
            schedule_hash=schedule.hash,
            boundary=plan.boundary,
            contract=self.session.contract.fingerprint,
            scene_hash_before=scene_hash_before,
            scene_hash_after=self.session.scene.head.known_hash,
            checkpoint=self._latest_checkpoint() if unrecoverable else None,
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
        """From where the work can be taken up again."""
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
    """The calls in parts, each with the operations that are kept or taken back with it: the whole plan, or a macro; None between them.

    The schedule lets nothing come between the operations of a macro."""
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
        yield tuple(together), None if group is None else tuple(members[group])
