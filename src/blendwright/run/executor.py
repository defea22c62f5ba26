"""One tool call through all its phases: validate, gate, plan, execute, verify, return."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from time import perf_counter
from typing import Any

from blendwright.contracts.effects import Determinism
from blendwright.contracts.session import Session, gate
from blendwright.contracts.step import REVERT_FAILED, StepAnswer, StepRequest
from blendwright.contracts.tool import AnyTool
from blendwright.contracts.worker_port import CancelToken
from blendwright.plan.arguments import canonical_arguments
from blendwright.run.files import FileAccess, Staged
from blendwright.run.live_scene import LiveScene
from blendwright.values.errors import (
    Cancelled,
    DeadlinePassed,
    ProtocolBreach,
    RebuildFailed,
    Refusal,
    WorkerError,
    WorkerFault,
    WorkerLost,
)
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding, did_you_mean
from blendwright.values.outcome import PHASES, Outcome, PhaseTrace

MOST_HANDLES = 1000
SNAPSHOT_TOOL = "scene.snapshot"
# What the wire says of a request or an answer that does not fit a frame.
TOO_MUCH = frozenset({"oversized_request", "oversized_answer"})


class Executor:
    """Calls tools on one scene."""

    def __init__(self, scene: LiveScene, tools: Mapping[str, AnyTool], session: Session, files: FileAccess) -> None:
        self._scene = scene
        self._tools = tools
        self._session = session
        self._files = files

    def call(
        self,
        name: str,
        raw: Any,
        *,
        deadline: float | None = None,
        verify: bool = False,
        snapshot: bool = False,
        rehearse: str | None = None,
        cancel: CancelToken | None = None,
        parse_ms: float = 0.0,
    ) -> Outcome:
        """Run one call; every failure is an outcome. Raises only EnvironmentUnfit, when there is no Blender to call."""
        clock = _Clock(parse_ms)
        tool = self._tools.get(name)
        if tool is None:
            cure = did_you_mean(name, self._tools, otherwise="See: blendwright tools")
            finding = Finding(Fault.TOOL_NOT_ALLOWED, f"there is no tool named '{name}'", "", cure)
            return self._refused(Outcome(name, 0), (finding,), clock)
        known = self._scene.known_hash
        blank = Outcome(name, tool.version, fingerprint_before=known, fingerprint_after=known)

        args, findings = canonical_arguments(tool, raw)
        if not findings:
            args, findings = self._files.normalised(tool, args)
        clock.lap("validate_input")
        if findings:
            return self._refused(blank, findings, clock)

        seconds = self._seconds(deadline)
        model = tool.args_model.model_validate(args)
        try:
            blender = self._scene.profile
        except (WorkerError, RebuildFailed) as error:
            return self._broken_off(blank.with_(partial={"deadline_seconds": seconds}), error, clock)
        clock.leave_out()  # starting Blender belongs to no phase of a call
        findings = tuple(gate(self._session, blender, tool, model))
        clock.lap("gate")
        blank = blank.with_(fingerprint_before=self._scene.hash, fingerprint_after=self._scene.hash)
        if findings:
            return self._refused(blank, findings, clock)

        request: StepRequest = {"tool": name, "version": tool.version, "args": args, "verify": verify}
        if rehearse is not None:
            request["rehearse"] = rehearse
        outcome = self._step(tool, model, request, blank, seconds, cancel, clock)
        if snapshot and outcome.ok:
            taken = self.call(SNAPSHOT_TOOL, {}, deadline=deadline)
            outcome = outcome.with_(snapshot=taken.result)
        return outcome

    def _seconds(self, deadline: float | None) -> float:
        limit = self._session.limits.call_seconds
        return limit if deadline is None else min(deadline, limit)

    # ------------------------------------------------------------------ the step

    def _step(
        self,
        tool: AnyTool,
        args: Any,
        request: StepRequest,
        blank: Outcome,
        seconds: float,
        cancel: CancelToken | None,
        clock: _Clock,
    ) -> Outcome:
        try:
            scratch = self._scene.worker().scratch
            staged = self._files.stage(tool, request["args"], scratch)
            request["files"] = staged.places
            answer = self._scene.step(request, deadline=seconds, cancel=cancel)
        except Refusal as refusal:
            return self._refused(blank, refusal.findings, clock)
        except (WorkerError, RebuildFailed) as error:
            return self._broken_off(blank.with_(partial={"deadline_seconds": seconds}), error, clock)
        for phase, ms in (
            ("plan", answer["plan_ms"]),
            ("execute", answer["execute_ms"]),
            ("verify", answer["verify_ms"]),
        ):
            clock.note(phase, ms)
        if answer["reverted_by"] == REVERT_FAILED:
            # The last way back: a scene rebuilt from the history, in another worker.
            self._scene.discard()
        if not answer["ok"]:
            return self._failed(blank, answer, clock)
        artifacts: list[str] = []
        if answer["reverted_by"] is None:
            # What a rehearsal wrote stays in the scratch.
            try:
                artifacts = self._kept(tool, args, request, answer, staged, scratch)
            except Refusal as refusal:
                self._scene.discard()
                return self._refused(blank.with_(reverted_by="rebuild"), refusal.findings, clock)
            except (WorkerError, RebuildFailed) as error:
                return self._broken_off(blank.with_(partial={"deadline_seconds": seconds}), error, clock)
        return self._succeeded(tool, args, answer, artifacts, blank, clock)

    def _kept(
        self, tool: AnyTool, args: Any, request: StepRequest, answer: StepAnswer, staged: Staged, scratch: Path
    ) -> list[str]:
        """Files first: where one cannot be brought to its place, the scene must not keep the step either."""
        artifacts = self._files.keep_artifacts(answer["artifacts"], scratch) + self._files.deliver(staged)
        determinism = tool.determinism_for(args)
        replayable = tool.replayable_for(args) and determinism is not Determinism.NONDETERMINISTIC
        self._scene.kept(request, answer, replayable=replayable)
        return artifacts

    def _succeeded(
        self, tool: AnyTool, args: Any, answer: StepAnswer, artifacts: list[str], blank: Outcome, clock: _Clock
    ) -> Outcome:
        return blank.with_(
            result=answer["result"],
            handles=_handles(answer["changes"]),
            changes=_changes(answer["changes"]),
            determinism_class=tool.determinism_for(args).value,
            seed=tool.seed_for(args),
            tolerance=tool.tolerance_for(args),
            fingerprint_before=answer["before"],
            fingerprint_after=self._scene.hash,
            reverted_by=_way_back(answer),
            artifacts=tuple(artifacts),
            trace=clock.trace(),
        )

    # ------------------------------------------------------------------ failures

    def _refused(self, blank: Outcome, findings: tuple[Finding, ...], clock: _Clock) -> Outcome:
        return blank.with_(fault=findings[0].fault, message=_sentence(findings), findings=findings, trace=clock.trace())

    def _failed(self, blank: Outcome, answer: StepAnswer, clock: _Clock) -> Outcome:
        findings = tuple(Finding.from_json(finding) for finding in answer["findings"])
        blank = blank.with_(
            fingerprint_before=answer["before"], fingerprint_after=answer["before"], reverted_by=_way_back(answer)
        )
        if answer["reverted_by"] is not None:
            blank = blank.with_(partial={"kept": [], "taken_back": [list(change) for change in answer["changes"]]})
        return self._refused(blank, findings, clock)

    def _broken_off(self, blank: Outcome, error: WorkerError | RebuildFailed, clock: _Clock) -> Outcome:
        """The worker is gone or not to be trusted. Nothing of the step stands: the scene is what the history says."""
        if not _unsent(error):
            self._scene.discard()
        fault, cure = _reason(error)
        partial: dict[str, Any] = {
            "kept": [],
            "scene": "as before the call; rebuilt from the history",
            **(blank.partial or {}),
        }
        finding = Finding(fault, error.message, "", error.cure or cure)
        return self._refused(blank.with_(reverted_by="rebuild", partial=partial), (finding,), clock)


class _Clock:
    """The trace of a call: how long each phase took."""

    def __init__(self, parse_ms: float) -> None:
        self._started = self._last = perf_counter()
        self._ms: dict[str, float | None] = {"parse": round(parse_ms, 3)}

    def lap(self, phase: str) -> None:
        now = perf_counter()
        self._ms[phase] = round((now - self._last) * 1000, 3)
        self._last = now

    def leave_out(self) -> None:
        now = perf_counter()
        self._started += now - self._last
        self._last = now

    def note(self, phase: str, ms: float | None) -> None:
        self._ms[phase] = ms

    def trace(self) -> tuple[PhaseTrace, ...]:
        """Everything since the call came in that no other phase accounts for is the way there and back."""
        spent = sum(ms or 0.0 for phase, ms in self._ms.items() if phase != "parse")
        self._ms["return"] = round(max(0.0, (perf_counter() - self._started) * 1000 - spent), 3)
        return tuple(PhaseTrace(phase, self._ms.get(phase)) for phase in PHASES)


def _way_back(answer: StepAnswer) -> str | None:
    return "rebuild" if answer["reverted_by"] == REVERT_FAILED else answer["reverted_by"]


def _unsent(error: WorkerError | RebuildFailed) -> bool:
    """Whether the worker never saw the request, or is dead anyhow."""
    return isinstance(error, Cancelled) or (isinstance(error, WorkerFault) and error.code == "oversized_request")


def _reason(error: WorkerError | RebuildFailed) -> tuple[Fault, str]:
    if isinstance(error, DeadlinePassed):
        return Fault.TOOL_TIMEOUT, "Ask for less at once, or allow more time."
    if isinstance(error, Cancelled):
        return Fault.CANCELLED, "Call again when it is wanted after all."
    if isinstance(error, (WorkerLost, ProtocolBreach)):
        return Fault.WORKER_LOST, "Call again; if it happens again with these arguments, change them."
    if isinstance(error, WorkerFault) and error.code in TOO_MUCH:
        return Fault.LIMIT_EXCEEDED, "Ask for less at once."
    if isinstance(error, RebuildFailed):
        return Fault.ROLLBACK_FAILED, "Start again from a saved file."
    return Fault.INTERNAL_ERROR, "Report it, with the worker's log."


def _sentence(findings: tuple[Finding, ...]) -> str:
    return "; ".join(dict.fromkeys(finding.message for finding in findings))


def _changes(changes: list[list[str]]) -> tuple[dict[str, str], ...]:
    return tuple({"kind": kind, "name": " / ".join(names), "change": change} for kind, *names, change in changes)


def _handles(changes: list[list[str]]) -> tuple[dict[str, str], ...]:
    """Stable handles of what the call made or changed: kind and name, which hold until a rename or a deletion."""
    alive = [change for change in changes if change[0] != "member" and change[-1] != "removed"]
    return tuple({"kind": kind, "name": name} for kind, name, *_ in alive[:MOST_HANDLES])
