"""One tool call through all its phases: validate, gate, plan, execute, verify, return. Committed before it is told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from blendwright.plan.arguments import canonical_arguments
from blendwright.policy.approvals import NOBODY, Approver
from blendwright.policy.refusals import refusal
from blendwright.records.commits import NewAudit, NewReading
from blendwright.run.active_contract import ActiveContract
from blendwright.run.approvals import Approvals
from blendwright.run.clock import Clock
from blendwright.run.exclusive_step import ExclusiveStep, StepOutcome
from blendwright.run.files import FileAccess
from blendwright.run.invocation import Invocation
from blendwright.run.keys import new_id, operation_key
from blendwright.run.ledger import Ledger, changes_of, handles_of
from blendwright.run.live_scene import LiveScene
from blendwright.run.reasons import reason_of
from blendwright.tool_api.effects import Determinism
from blendwright.tool_api.tool import AnyTool
from blendwright.values import crash_points
from blendwright.values.cancel import CancelToken
from blendwright.values.errors import RebuildFailed, Refusal, WorkerError
from blendwright.values.events import CallEnded, CallIds, Observer, silent
from blendwright.values.findings import Finding, did_you_mean, sentence
from blendwright.values.outcome import Outcome
from blendwright.wire.step import StepAnswer

SNAPSHOT_TOOL = "scene.snapshot"
# The operation id of a call that belongs to no plan; its request id is a new one each time.
CALL = "call"


class Executor:
    """Calls tools on one scene."""

    def __init__(
        self,
        scene: LiveScene,
        ledger: Ledger,
        solo: ExclusiveStep,
        tools: Mapping[str, AnyTool],
        agreement: ActiveContract,
        files: FileAccess,
        approvals: Approvals | None = None,
        observe: Observer = silent,
    ) -> None:
        """Without `approvals` nobody is asked: for calls whose effects nobody keeps."""
        self._scene = scene
        self._ledger = ledger
        self._solo = solo
        self._tools = tools
        self._agreement = agreement
        self._files = files
        self._approvals = approvals
        self._observe = observe

    def call(
        self,
        name: str,
        raw: Any,
        *,
        deadline: float | None = None,
        limit: float | None = None,
        verify: bool = False,
        snapshot: bool = False,
        rehearse: str | None = None,
        cancel: CancelToken | None = None,
        parse_ms: float = 0.0,
        determinism: Determinism | None = None,
        approver: Approver = NOBODY,
    ) -> Outcome:
        """Run one call; every failure is an outcome. Raises only EnvironmentUnfit: no Blender to call, or no disk to write to."""
        clock = Clock(parse_ms)
        tool = self._tools.get(name)
        if tool is None:
            near = did_you_mean(name, self._tools, otherwise="See: blendwright tools")
            finding = refusal("tool_unknown", f"there is no tool named '{name}'", near=near)
            return self._ended(_refused(Outcome(name, 0, request_id=new_id()), (finding,), clock), recorded=False)
        known = self._scene.known_hash
        args, findings = canonical_arguments(tool, raw)
        call = _invocation(tool, args, sound=not findings)
        blank = Outcome(
            name, tool.version, fingerprint_before=known, fingerprint_after=known,
            request_id=call.request_id, mcp_call_id=call.call_id,
        )  # fmt: skip
        if not findings:
            _, findings = self._files.normalised(tool, args)
        clock.lap("validate_input")
        if findings:
            return self._turned_away(call, blank, findings, clock)

        allowed = self._agreement.terms.constraints.call_seconds if limit is None else limit
        seconds = allowed if deadline is None else min(deadline, allowed)
        try:
            self._agreement.contract()
            clock.leave_out()  # starting Blender belongs to no phase of a call
            blender = self._scene.profile
            findings = (
                *self._agreement.objections(call, determinism),
                *tool.examine(call.model, blender.version),
            )
        except Refusal as refused:
            findings = refused.findings
        except (WorkerError, RebuildFailed) as error:
            return self._without_blender(call, blank, seconds, error, clock)
        clock.lap("gate")
        blank = blank.with_(fingerprint_before=self._scene.hash, fingerprint_after=self._scene.hash)
        if not findings:
            call, findings = self._allowed(call, approver, cancel)
            clock.leave_out()  # nor does waiting for a person
        if findings:
            return self._turned_away(call, blank, findings, clock)

        try:
            settled = self._solo.run(call, seconds=seconds, cancel=cancel, verify=verify, rehearse=rehearse)
            self._write(settled)
        except BaseException:
            # The worker may have done what is committed nowhere; or it is committed, and nobody was told.
            self._scene.head_moved()
            raise
        outcome = _outcome(call, settled, blank, seconds, clock)
        if snapshot and outcome.ok:
            taken = self.call(SNAPSHOT_TOOL, {}, deadline=deadline)
            outcome = outcome.with_(snapshot=taken.result)
        return self._ended(outcome, recorded=True)

    def _ended(self, outcome: Outcome, *, recorded: bool) -> Outcome:
        assert outcome.request_id is not None
        ids = CallIds(outcome.request_id, CALL, outcome.mcp_call_id)
        self._observe(CallEnded(ids, outcome, recorded))
        return outcome

    def _write(self, settled: StepOutcome) -> None:
        entry = settled.entry
        if isinstance(entry, NewReading):
            # Nobody will ask for this very call again: what it read, which may be a whole scene, need not be kept.
            entry = replace(entry, receipt={**entry.receipt, "result": None})
        crash_points.reach("call.before_commit")
        self._ledger.write([entry], redo_ms=settled.redo_ms)
        crash_points.reach("call.committed")

    def _allowed(
        self, call: Invocation, approver: Approver, cancel: CancelToken | None
    ) -> tuple[Invocation, tuple[Finding, ...]]:
        """The call with what a person said to it, where the policy has one asked."""
        if self._approvals is None:
            return call, ()
        question = self._approvals.request(self._agreement.contract(), call, key=None, baseline=self._scene.hash)
        if question is None:
            return call, ()
        approval, finding = self._approvals.ask(question, approver, cancel)
        return replace(call, approval=approval), () if finding is None else (finding,)

    def _turned_away(self, call: Invocation, blank: Outcome, findings: tuple[Finding, ...], clock: Clock) -> Outcome:
        """Refused before Blender was asked: recorded, unless there is no scene yet that a record could speak of."""
        known = self._scene.known_hash
        if known is not None:
            self._ledger.write([self._ledger.note(call, "failed", known, fault=findings[0].fault)])
        return self._ended(_refused(blank, findings, clock), recorded=known is not None)

    def _without_blender(
        self, call: Invocation, blank: Outcome, seconds: float, error: WorkerError | RebuildFailed, clock: Clock
    ) -> Outcome:
        self._scene.lose(error, call.ids)
        fault, cure = reason_of(error)
        finding = Finding(fault, error.message, "", error.cure or cure)
        blank = blank.with_(reverted_by="rebuild", partial=_nothing_kept(seconds))
        return self._turned_away(call, blank, (finding,), clock)


def _invocation(tool: AnyTool, args: Mapping[str, Any], *, sound: bool) -> Invocation:
    request, level = new_id(), tool.safety_level
    if tool.destructive_with and sound:
        level = tool.safety_level_for(tool.args_model.model_validate(args))
    return Invocation(request, CALL, tool, args, level.value, operation_key(request, CALL, args), new_id())


def _outcome(call: Invocation, settled: StepOutcome, blank: Outcome, seconds: float, clock: Clock) -> Outcome:
    answer = settled.answer
    if answer is not None:
        for phase, ms in (
            ("plan", answer["plan_ms"]),
            ("execute", answer["execute_ms"]),
            ("verify", answer["verify_ms"]),
        ):
            clock.note(phase, ms)
    blank = blank.with_(reverted_by=settled.reverted_by)
    if settled.broken_off:
        return _refused(blank.with_(partial=_nothing_kept(seconds)), settled.findings, clock)
    if answer is not None:
        blank = blank.with_(fingerprint_before=answer["before"], fingerprint_after=answer["before"])
    if not settled.ok:
        if answer is not None and settled.reverted_by is not None:
            blank = blank.with_(partial={"kept": [], "taken_back": [list(change) for change in answer["changes"]]})
        return _refused(blank, settled.findings, clock)
    assert answer is not None
    return _succeeded(call, settled, answer, blank, clock)


def _succeeded(call: Invocation, settled: StepOutcome, answer: StepAnswer, blank: Outcome, clock: Clock) -> Outcome:
    kept = not isinstance(settled.entry, NewAudit)
    return blank.with_(
        result=answer["result"],
        handles=handles_of(answer),
        changes=changes_of(answer),
        determinism_class=call.determinism.value,
        seed=call.tool.seed_for(call.model),
        tolerance=call.tool.tolerance_for(call.model),
        fingerprint_after=answer["after"] if kept else answer["before"],
        artifacts=settled.artifacts,
        blender_mutation_id=settled.entry.audit.blender_mutation_id,
        trace=clock.trace(),
    )


def _refused(blank: Outcome, findings: tuple[Finding, ...], clock: Clock) -> Outcome:
    return blank.with_(fault=findings[0].fault, message=sentence(findings), findings=findings, trace=clock.trace())


def _nothing_kept(seconds: float) -> dict[str, Any]:
    return {"kept": [], "scene": "as before the call; rebuilt from the journal", "deadline_seconds": seconds}
