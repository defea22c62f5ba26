"""Runs a scheduled plan against the journal: what is known is answered, the rest is gated, sent, committed, and reported."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from blendwright.plan.collector import collector_paused
from blendwright.plan.refusal import refused
from blendwright.plan.repair import minimal_repair
from blendwright.policy.approvals import NOBODY, ApprovalRequest, Approver
from blendwright.records.audit import AuditDetails
from blendwright.records.commits import Entry, NewAudit
from blendwright.records.journal_port import JournalPort
from blendwright.run.active_contract import ActiveContract
from blendwright.run.approvals import Approvals, Asking
from blendwright.run.deadline import RunDeadline
from blendwright.run.exclusive_step import ExclusiveStep
from blendwright.run.files import FileAccess
from blendwright.run.idempotency import MOST_KEPT, Classification, LastRun, classify
from blendwright.run.invocation import Invocation
from blendwright.run.keys import new_id, new_ids, operation_key
from blendwright.run.ledger import Ledger
from blendwright.run.live_scene import LiveScene
from blendwright.run.pipeline import Pipeline
from blendwright.run.reasons import reason_of
from blendwright.run.run_state import Progress, RunState
from blendwright.run.units import Unit, units
from blendwright.tool_api.effects import Determinism
from blendwright.tool_api.tool import AnyTool
from blendwright.values import crash_points
from blendwright.values.cancel import CancelToken
from blendwright.values.errors import BlendwrightError, RebuildFailed, Refusal, WorkerError
from blendwright.values.events import Observer, RunBrokenOff, RunEnded, RunStarted, silent
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding
from blendwright.values.plan import Operation, Plan, Schedule
from blendwright.values.report import RunReport

# A path that no policy allows refuses the plan; a file that is not there yet may be written by an operation before.
POLICY = frozenset({Fault.POLICY_BLOCKED, Fault.ARGS_INVALID})
# More than a person would answer one by one: the findings say how to allow them together.
MOST_QUESTIONS = 100


class Runner:
    """Runs plans on one scene."""

    def __init__(
        self,
        scene: LiveScene,
        journal: JournalPort,
        ledger: Ledger,
        solo: ExclusiveStep,
        tools: Mapping[str, AnyTool],
        agreement: ActiveContract,
        files: FileAccess,
        approvals: Approvals | None = None,
        observe: Observer = silent,
    ) -> None:
        """Without `approvals` nobody is asked: for runs whose effects nobody keeps."""
        self._scene = scene
        self._journal = journal
        self._ledger = ledger
        self._solo = solo
        self._tools = tools
        self._agreement = agreement
        self._files = files
        self._approvals = approvals
        self._observe = observe
        self._last: tuple[Plan, Mapping[str, str]] | None = None
        self._last_run = LastRun()

    def run(
        self,
        schedule: Schedule,
        failing: Mapping[str, Finding],
        *,
        seconds: float | None = None,
        cancel: CancelToken | None = None,
        progress: Progress | None = None,
        determinism: Determinism | None = None,
        approver: Approver = NOBODY,
    ) -> RunReport:
        """`failing` are operations that are bound to fail on their own. Raises EnvironmentUnfit when nothing more can be run or written."""
        plan = schedule.plan
        self._observe(
            RunStarted(
                plan.request_id,
                plan.dialect,
                plan.boundary,
                schedule.hash,
                len(schedule.order),
                self._scene.known_hash,
            )
        )
        try:
            with collector_paused():
                report = self._run(schedule, failing, seconds, cancel, progress, determinism, approver)
        except BaseException as error:
            message = str(error) or type(error).__name__
            self._observe(RunBrokenOff(plan.request_id, plan.dialect, schedule.hash, message))
            raise
        self._observe(RunEnded(report))
        return report

    def _run(
        self,
        schedule: Schedule,
        failing: Mapping[str, Finding],
        seconds: float | None,
        cancel: CancelToken | None,
        progress: Progress | None,
        determinism: Determinism | None,
        approver: Approver,
    ) -> RunReport:
        started = time.time()
        scene_hash = self._scene.known_hash
        plan = schedule.plan
        whole = plan.boundary == "plan"
        board = RunState(schedule, progress, hold=whole)
        keys = self._keys_of(plan)
        sound = [operation for operation in schedule.order if operation.id not in failing]
        calls = [
            self._invocation(plan.request_id, operation, keys[operation.id], call_id)
            for operation, call_id in zip(sound, new_ids(len(sound)), strict=True)
        ]
        known = self._last_run.sorted(self._journal, plan, calls) or classify(self._journal, calls)
        doomed = bool(failing or known.conflicts)
        questions: dict[str, ApprovalRequest] = {}
        if known.to_run and not (doomed and (whole or plan.on_failure == "stop")):
            try:
                findings = self._gates(schedule, known.to_run, determinism)
                questions = {} if findings else self._questions(calls, known.to_run)
            except Refusal as refusal:
                findings = refusal.findings
            except (WorkerError, RebuildFailed) as error:
                fault, cure = reason_of(error)
                findings = (Finding(fault, error.message, "", error.cure or cure),)
            findings = findings or self._unanswerable(schedule, questions, approver)
            if findings:
                return replace(
                    refused(plan, findings),
                    contract=self._agreement.fingerprint,
                    scene_hash_before=scene_hash,
                    scene_hash_after=self._scene.known_hash,
                )
        gated = time.time()
        self._settle(schedule, board, known, failing)
        runnable = [call for call in known.to_run if board.open(call.operation_id)]
        runnable = self._granted(runnable, questions, approver)
        asking = None if self._approvals is None else Asking(self._approvals, approver, questions)
        bounds = self._bounds(seconds, cancel)
        for unit in units(schedule, runnable):
            self._run_unit(schedule, board, unit, bounds, asking)
        board.release()
        self._last_run.keep(self._journal, plan, board.reports())
        return self._report(schedule, board, scene_hash, started, gated)

    def _run_unit(
        self, schedule: Schedule, board: RunState, unit: Unit, bounds: RunDeadline, asking: Asking | None
    ) -> None:
        """What is kept or taken back together, or a stretch of operations that each stand for themselves."""
        runnable = [call for call in unit.calls if board.open(call.operation_id)]
        if not runnable:
            return
        plan = schedule.plan
        boundary = None
        if unit.whole is not None:
            boundary = self._journal.begin_boundary(plan.request_id)
            crash_points.reach("whole.begun")
            board.hold()
        pipeline = Pipeline(
            self._scene,
            self._ledger,
            self._solo,
            board,
            bounds,
            stop=plan.on_failure == "stop" or plan.boundary == "plan",
            whole=boundary is not None,
            asking=asking,
        )
        try:
            pipeline.run(runnable)
            if boundary is not None and unit.whole is not None:
                self._close(boundary, board, unit.whole, pipeline.failures)
        except BaseException:
            if boundary is not None:
                self._give_up(boundary, pipeline.failures)
            raise
        if boundary is not None and plan.boundary != "plan":
            board.release()

    def _keys_of(self, plan: Plan) -> Mapping[str, str]:
        """The operation keys of a plan. Those of the last one are kept: the very same plan often comes again."""
        if self._last is not None and self._last[0] is plan:
            return self._last[1]
        known = [operation for operation in plan.operations if operation.tool in self._tools]
        found = {one.id: operation_key(plan.request_id, one.id, one.args) for one in known}
        self._last = (plan, found) if len(found) <= MOST_KEPT else None
        return found

    def _invocation(self, request_id: str, operation: Operation, key: str, call_id: str) -> Invocation:
        tool = self._tools[operation.tool]
        level = operation.safety_level or tool.safety_level.value
        chain = None if operation.origin is None else operation.origin.operation_id
        return Invocation(request_id, operation.id, tool, operation.args, level, key, call_id, chain=chain)

    # ------------------------------------------------------------------ before anything runs

    def _bounds(self, seconds: float | None, cancel: CancelToken | None) -> RunDeadline:
        """The budget of the contract, which nobody can raise."""
        terms = self._agreement.terms
        allowed = terms.constraints.run_seconds
        return RunDeadline(
            terms.constraints.call_seconds,
            time.monotonic() + (allowed if seconds is None else min(seconds, allowed)),
            cancel,
            terms.limits.calls_at_once,
        )

    def _questions(self, calls: Sequence[Invocation], run: Sequence[Invocation]) -> dict[str, ApprovalRequest]:
        """What a person has to be asked, by operation."""
        if self._approvals is None:
            return {}
        return self._approvals.requests(self._agreement.contract(), calls, run, self._scene.hash)

    def _unanswerable(
        self, schedule: Schedule, questions: Mapping[str, ApprovalRequest], approver: Approver
    ) -> tuple[Finding, ...]:
        """What nobody is there to answer refuses the plan before anything runs; the questions wait for whoever answers later."""
        if self._approvals is None:
            return ()
        open_ones = {id: one for id, one in questions.items() if not self._approvals.may_be_approved(one, approver)}
        findings = self._approvals.leave(list(open_ones.values())[:MOST_QUESTIONS])
        operations = {operation.id: operation for operation in schedule.order}
        return tuple(operations[id].as_a_whole(finding) for id, finding in zip(open_ones, findings, strict=False))

    def _granted(
        self, calls: list[Invocation], questions: dict[str, ApprovalRequest], approver: Approver
    ) -> list[Invocation]:
        """The calls, those that were allowed beforehand with their approval: they need not wait for anybody."""
        if self._approvals is None:
            return calls
        running = {call.operation_id for call in calls}
        granted = [one for id, one in questions.items() if id in running and approver.grants_all(one)]
        given = self._approvals.grant(granted)
        for id in given:
            del questions[id]
        return [
            replace(call, approval=given[call.operation_id]) if call.operation_id in given else call for call in calls
        ]

    def _gates(
        self, schedule: Schedule, calls: Sequence[Invocation], determinism: Determinism | None
    ) -> tuple[Finding, ...]:
        """Everything that contract, policy and this very Blender say against the operations that would run."""
        operations = {operation.id: operation for operation in schedule.order}
        version = self._scene.profile.version
        findings: list[Finding] = []
        for call in calls:
            operation = operations[call.operation_id]
            for finding in self._agreement.objections(call, determinism):
                findings.append(operation.as_a_whole(finding))
            findings += [operation.in_arguments(finding) for finding in call.tool.examine(call.model, version)]
            if call.alone:
                _, found = self._files.normalised(call.tool, dict(call.args))
                findings += [operation.in_arguments(finding) for finding in found if finding.fault in POLICY]
        return tuple(findings)

    def _settle(
        self, schedule: Schedule, board: RunState, known: Classification, failing: Mapping[str, Finding]
    ) -> None:
        """What needs no Blender: answers from the journal, conflicts, and operations that cannot but fail. One transaction."""
        scene_hash = self._scene.known_hash
        entries: list[Entry] = []
        if scene_hash is not None:
            entries += [self._ledger.note(call, "skipped_idempotent", scene_hash) for call, _, _ in known.cached]
            entries += [
                self._ledger.note(call, "failed", scene_hash, fault=finding.fault) for call, finding in known.conflicts
            ]
            for operation in schedule.order:
                if operation.id in failing:
                    code = failing[operation.id].fault.value
                    ids = AuditDetails(new_id(), operation.safety_level or "read_only", error_code=code)
                    entries.append(
                        NewAudit(
                            schedule.plan.request_id,
                            operation.id,
                            operation.tool,
                            "failed",
                            scene_hash,
                            scene_hash,
                            ids,
                        )
                    )
        if entries:
            self._ledger.write(entries)
            crash_points.reach("plan.known")
        for call, receipt, number in known.cached:
            board.settle(board.cached(call.operation_id, receipt, number))
        doomed = {call.operation_id: finding for call, finding in known.conflicts} | dict(failing)
        called = {entry.operation_id: entry.audit.mcp_call_id for entry in entries}
        for id, finding in doomed.items():
            report = board.failed(id, (finding,), mcp_call_id=called.get(id))
            # What the validation found points into the plan already.
            board.settle(replace(report, findings=(finding,)) if id in failing else report)
        for id in doomed:
            board.block_dependents(id)
        if doomed and (schedule.plan.on_failure == "stop" or schedule.plan.boundary == "plan"):
            board.skip_rest(f"not run, because '{board.asked_as(next(iter(doomed)))}' cannot be")

    # ------------------------------------------------------------------ afterwards

    def _close(self, boundary: int, board: RunState, ids: Collection[str], failures: Sequence[NewAudit]) -> None:
        """All or nothing: kept when every operation was done, taken back otherwise."""
        reports = [board.report(id) for id in ids]
        if all(report.done for report in reports):
            crash_points.reach("whole.before_keep")
            self._ledger.write([], keeps=boundary)
            crash_points.reach("whole.kept")
            return
        culprit = next(report.operation_id for report in reports if report.fault is not None)
        crash_points.reach("whole.before_rollback")
        written = self._journal.roll_back(boundary, failures)
        crash_points.reach("whole.rolled_back")
        if any(number is not None for number in written.numbers):
            self._scene.rolled_back()
        board.take_back(f"taken back, because '{board.asked_as(culprit)}' was not done", ids)

    def _give_up(self, boundary: int, failures: Sequence[NewAudit]) -> None:
        """The run ends without an answer. Left open, the boundary would take back what is done in this workspace later."""
        try:
            # It may have been closed in the very moment of the interruption.
            if self._journal.open_boundary() is not None:
                self._journal.roll_back(boundary, failures)
        except BlendwrightError:
            # Nothing may be written behind it any more; whoever opens the workspace next rolls it back.
            self._journal.give_up("a plan that is kept whole could neither be kept nor be taken back")
        self._scene.head_moved()

    def _report(
        self, schedule: Schedule, board: RunState, scene_hash_before: str | None, started: float, gated: float
    ) -> RunReport:
        plan = schedule.plan
        finished = time.time()
        findings = tuple(board.findings())
        return RunReport(
            plan.dialect,
            plan.request_id,
            board.status(),
            board.reports(),
            repair=minimal_repair(plan, findings) if findings else (),
            schedule_hash=schedule.hash,
            boundary=plan.boundary,
            contract=self._agreement.fingerprint,
            scene_hash_before=scene_hash_before,
            scene_hash_after=self._scene.known_hash,
            checkpoint=self._latest_checkpoint() if Fault.ROLLBACK_FAILED in board.faults() else None,
            started=started,
            finished=finished,
            timings={"gate_ms": _milliseconds(started, gated), "run_ms": _milliseconds(started, finished)},
            remarks=plan.remarks,
        )

    def _latest_checkpoint(self) -> dict[str, Any] | None:
        """From where the work can be taken up again."""
        route = self._journal.recovery().route
        if route is None:
            return None
        if route.checkpoint is None:
            return {"commit": None, "scene_hash": route.start_hash, "file": None}
        found = route.checkpoint
        return {
            "commit": found.commit,
            "scene_hash": found.scene_hash,
            "file": str(found.path),
            "sha256": found.sha256,
            "timestamp": found.timestamp,
        }


def _milliseconds(started: float, finished: float) -> float:
    return round((finished - started) * 1000, 3)
