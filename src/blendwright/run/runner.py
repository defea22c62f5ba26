"""Runs a scheduled plan against the journal: what is known is answered, the rest is gated, sent, committed, and reported."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from blendwright.contracts.journal_port import AuditIds, Entry, JournalPort, NewAudit
from blendwright.contracts.session import Session, gate
from blendwright.contracts.tool import AnyTool
from blendwright.contracts.worker_port import CancelToken
from blendwright.plan.collector import collector_paused
from blendwright.plan.refusal import refused
from blendwright.plan.repair import minimal_repair
from blendwright.run.board import Board, Progress
from blendwright.run.files import FileAccess
from blendwright.run.invocation import Invocation
from blendwright.run.keys import new_id, operation_key
from blendwright.run.known import Sorted, sort_out
from blendwright.run.ledger import Ledger
from blendwright.run.live_scene import LiveScene
from blendwright.run.pipeline import Bounds, Pipeline
from blendwright.run.solo import Solo
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding
from blendwright.values.plan import Operation, Plan, Schedule
from blendwright.values.report import RunReport

# A path that no policy allows refuses the plan; a file that is not there yet may be written by an operation before.
POLICY = frozenset({Fault.POLICY_BLOCKED, Fault.ARGS_INVALID})

# A larger plan would hold too much memory for as long as the workspace is open.
MOST_KEPT = 20_000


class Runner:
    """Runs plans on one scene."""

    def __init__(
        self,
        scene: LiveScene,
        journal: JournalPort,
        ledger: Ledger,
        solo: Solo,
        tools: Mapping[str, AnyTool],
        session: Session,
        files: FileAccess,
    ) -> None:
        self._scene = scene
        self._journal = journal
        self._ledger = ledger
        self._solo = solo
        self._tools = tools
        self._session = session
        self._files = files
        self._last: tuple[Plan, Mapping[str, str]] | None = None

    def run(
        self,
        schedule: Schedule,
        failing: Mapping[str, Finding],
        *,
        seconds: float | None = None,
        cancel: CancelToken | None = None,
        progress: Progress | None = None,
    ) -> RunReport:
        """`failing` are operations that are bound to fail on their own. Raises EnvironmentUnfit when nothing more can be run or written."""
        with collector_paused():
            return self._run(schedule, failing, seconds, cancel, progress)

    def _run(
        self,
        schedule: Schedule,
        failing: Mapping[str, Finding],
        seconds: float | None,
        cancel: CancelToken | None,
        progress: Progress | None,
    ) -> RunReport:
        started = time.time()
        plan = schedule.plan
        whole = plan.boundary == "plan"
        board = Board(schedule, progress, hold=whole)
        keys = self._keys_of(plan)
        calls = [
            self._invocation(plan.request_id, operation, keys[operation.id])
            for operation in schedule.order
            if operation.id not in failing
        ]
        known = sort_out(self._journal, calls)
        doomed = bool(failing or known.conflicts)
        if known.to_run and not (doomed and (whole or plan.on_failure == "stop")):
            findings = self._gates(schedule, known.to_run)
            if findings:
                return refused(plan, findings)
        self._settle(schedule, board, known, failing)
        runnable = [call for call in known.to_run if board.open(call.operation_id)]
        boundary = None
        if runnable:
            boundary = self._journal.begin_boundary(plan.request_id) if whole else None
            bounds = Bounds(self._session.limits.call_seconds, seconds, cancel)
            pipeline = Pipeline(
                self._scene, self._ledger, self._solo, board, bounds, stop=plan.on_failure == "stop", whole=whole
            )
            pipeline.run(runnable)
            if boundary is not None:
                self._close(boundary, board, pipeline.failures)
        board.release()
        return self._report(schedule, board, started)

    def _keys_of(self, plan: Plan) -> Mapping[str, str]:
        """The operation keys of a plan. Those of the last one are kept: the very same plan often comes again."""
        if self._last is not None and self._last[0] is plan:
            return self._last[1]
        known = [operation for operation in plan.operations if operation.tool in self._tools]
        found = {one.id: operation_key(plan.request_id, one.id, one.args) for one in known}
        self._last = (plan, found) if len(found) <= MOST_KEPT else None
        return found

    def _invocation(self, request_id: str, operation: Operation, key: str) -> Invocation:
        tool = self._tools[operation.tool]
        level = operation.safety_level or tool.safety_level.value
        return Invocation(request_id, operation.id, tool, operation.args, level, key, new_id())

    # ------------------------------------------------------------------ before anything runs

    def _gates(self, schedule: Schedule, calls: Sequence[Invocation]) -> tuple[Finding, ...]:
        """Everything that contract and policy say against the operations that would run."""
        operations = {operation.id: operation for operation in schedule.order}
        blender = self._scene.profile
        findings: list[Finding] = []
        # Of most tools the contract says the same whatever their arguments.
        known: dict[str, list[Finding]] = {}
        for call in calls:
            operation = operations[call.operation_id]
            found = known.get(call.tool.name)
            if found is None:
                found = list(gate(self._session, blender, call.tool, call.model))
                if not call.depends_on_args:
                    known[call.tool.name] = found
            findings += [finding.under(operation.pointer) for finding in found]
            if call.alone:
                _, found = self._files.normalised(call.tool, dict(call.args))
                base = operation.pointer + operation.places.args
                findings += [finding.under(base) for finding in found if finding.fault in POLICY]
        return tuple(findings)

    def _settle(self, schedule: Schedule, board: Board, known: Sorted, failing: Mapping[str, Finding]) -> None:
        """What needs no Blender: answers from the journal, conflicts, and operations that cannot but fail. One transaction."""
        scene_hash = self._scene.known_hash
        entries: list[Entry] = []
        if scene_hash is not None:
            entries += [self._ledger.note(call, "skipped_idempotent", scene_hash) for call, _, _ in known.cached]
            entries += [self._ledger.note(call, "failed", scene_hash) for call, _ in known.conflicts]
            for operation in schedule.order:
                if operation.id in failing:
                    ids = AuditIds(new_id(), operation.safety_level or "read_only")
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
        for call, receipt, number in known.cached:
            board.settle(board.cached(call.operation_id, receipt, number))
        doomed = {call.operation_id: finding for call, finding in known.conflicts} | dict(failing)
        for id, finding in doomed.items():
            report = board.failed(id, (finding,))
            # What the validation found points into the plan already.
            board.settle(replace(report, findings=(finding,)) if id in failing else report)
        for id in doomed:
            board.block_dependents(id)
        if doomed and (schedule.plan.on_failure == "stop" or schedule.plan.boundary == "plan"):
            board.skip_rest(f"not run, because '{next(iter(doomed))}' cannot be")

    # ------------------------------------------------------------------ afterwards

    def _close(self, boundary: int, board: Board, failures: Sequence[NewAudit]) -> None:
        """All or nothing: kept when every operation was done, taken back otherwise."""
        if all(report.done for report in board.reports()):
            self._ledger.write([], keeps=boundary)
            return
        culprit = next(report.operation_id for report in board.reports() if report.fault is not None)
        self._journal.roll_back(boundary, failures)
        self._scene.head_moved()
        board.take_back(f"taken back, because '{culprit}' was not done")

    def _report(self, schedule: Schedule, board: Board, started: float) -> RunReport:
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
            checkpoint=self._latest_checkpoint() if Fault.ROLLBACK_FAILED in board.faults() else None,
            started=started,
            finished=finished,
            timings={"run_ms": round((finished - started) * 1000, 3)},
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
