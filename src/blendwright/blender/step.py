"""The execution of a step inside Blender: check, capture, apply, verify, fingerprint, then keep or revert.

The order is fixed here, and no tool can skip a part of it. A failed step is reverted by its declared method, and
its hash must equal the hash from before. If that fails, the answer reports it, and the core rebuilds the scene in
another process.
"""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from time import perf_counter
from typing import Any

import bpy
from pydantic import ValidationError

from blendwright.blender import fingerprint as fp
from blendwright.blender.scene import BpyScene, SceneState
from blendwright.blender.step_modes import (
    DisposableProcess,
    Hashing,
    MemfileUndo,
    RecordedWrites,
    StepMode,
    uses_memfile,
)
from blendwright.tool_api.promises import Revert, SafetyLevel
from blendwright.tool_api.scene import Kind
from blendwright.tool_api.tool import AnyTool
from blendwright.values.errors import StepError
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding, pointer_of
from blendwright.wire.methods import REVERT_FAILED, StepAnswer, StepRequest

_log = logging.getLogger(__name__)

# The fingerprint has a leaf of its own for a membership in a collection. Writing it counts as writing the
# collection.
MEMBER_KIND = str(Kind.COLLECTION)
# Requests that need the hash at once: a rehearsal is reverted at once, and a cross-check compares hashes at once.
ANSWERED_AT_ONCE = frozenset({"rehearse", "cross_check", "prompt", "disposable"})
# Soft-deleted datablocks to keep. They cost memory, but removing many at once is cheaper than one at a time.
MAX_TOMBSTONES = 512


class StepRun:
    """A run of one step. It may end checked, applied, verified and kept, with its hash still missing.

    Hashing several steps together takes half the time, so a worker with more waiting requests defers the hash. No
    other code sees the scene in between: a step that touches the same datablocks first causes the hashing.
    """

    def __init__(self, state: SceneState, tool: AnyTool, args: Any, request: StepRequest, outbox: Path) -> None:
        self._state = state
        self._tool = tool
        self._args = args
        self._request = request
        self._call = request.get("call")
        self._scene = BpyScene(state, request.get("files", {}), outbox, request.get("seconds"))
        disposable = request.get("disposable", False)
        memfile = uses_memfile(tool, args, request)
        if memfile or disposable:
            state.spacers.remove()
        if may_wait(tool, args, request):
            self._hashing = Hashing.MAY_WAIT
        else:
            self._hashing = Hashing.AT_ONCE
        self._start: str | None = None
        if self._hashing is not Hashing.MAY_WAIT:
            self._start = state.root()
        self._mode: StepMode
        if disposable:
            self._mode = DisposableProcess()
        elif memfile:
            self._mode = MemfileUndo(state)
        else:
            self._mode = RecordedWrites(self._scene)
        self._written = False
        self._stages: Iterator[None] | None = None
        self._tool_result: Any = None
        self._finished: StepAnswer | None = None
        self._changes: list[list[str]] = []
        self._result: dict[str, Any] | None = None
        self._ms: dict[str, float] = {}

    @property
    def waits(self) -> bool:
        """True when the step was applied and verified, and its hash is deferred."""
        return self._hashing is Hashing.WAITS

    @property
    def _before(self) -> str:
        """The hash from before the step. Until the step is sealed, the fingerprint contains nothing of it."""
        if self._start is None:
            self._start = self._state.root()
        return self._start

    def answer(self) -> StepAnswer | None:
        """Run the step and return its answer, or None when the step was kept and waits for its hash."""
        findings = self._findings()
        if not findings and "rehearse" not in self._request:
            self.keep()
            if self.waits:
                return None
            return self._report((), None)
        if self._written:
            reverted = self._revert()
        else:
            reverted = None
        return self._report(findings, reverted)

    def _finish(self) -> None:
        """Hash a waiting step. Errors end here: the step can no longer be reverted, so the core must rebuild the
        scene.
        """
        started = perf_counter()
        try:
            self._start = self._state.root()
            self._seal()
        except Exception as error:
            _log.exception("%s could not be hashed (mcp_call_id %s)", self._tool.name, self._call)
            self._finished = self._report((_exception_finding(error),), REVERT_FAILED)
            return
        self._ms["verify"] += _ms_since(started)
        self._finished = self._report((), None)

    def finish(self) -> StepAnswer:
        """Return the answer of a waiting step. Hash it now if necessary."""
        self._state.hash_deferred()
        assert self._finished is not None
        return self._finished

    def _findings(self) -> tuple[Finding, ...]:
        """Run the step and return its findings, or an empty tuple after a success. Catches any exception of the
        tool.
        """
        try:
            return self._attempt()
        except StepError as error:
            return (error.finding,)
        except Exception as error:
            _log.exception("%s raised (mcp_call_id %s)", self._tool.name, self._call)
            return (_exception_finding(error),)

    def _attempt(self) -> tuple[Finding, ...]:
        findings = self.check()
        if findings:
            return findings
        started = perf_counter()
        try:
            self._written = True
            self._mode.begin(self._tool.name)
            self._store_result(self._tool.apply(self._scene, self._args))
        finally:
            self._ms["execute"] = _ms_since(started)
        return self.verify()

    # ------------------------------------------------------------------ phases, for one step or for several
    # alternately

    def check(self) -> tuple[Finding, ...]:
        started = perf_counter()
        findings = tuple(self._tool.check(self._scene, self._args))
        self._ms["plan"] = _ms_since(started)
        return findings

    def advance(self) -> None:
        """Run the next stage of applying the step, if there is one."""
        if self.applied:
            return
        started = perf_counter()
        self._written = True
        if self._stages is None:
            self._stages = self._tool.stages(self._scene, self._args)
        try:
            next(self._stages)
        except StopIteration as done:
            self._store_result(done.value)
        finally:
            self._ms["execute"] = self._ms.get("execute", 0.0) + _ms_since(started)

    @property
    def applied(self) -> bool:
        return self._tool_result is not None

    def _store_result(self, tool_result: Any) -> None:
        self._scene.protect_unused()
        self._tool_result = tool_result
        self._result = tool_result.model_dump(mode="json")

    def verify(self) -> tuple[Finding, ...]:
        """Return the findings about unmet promises. A step that may wait has no hash yet afterwards."""
        tool, scene = self._tool, self._scene
        started = perf_counter()
        try:
            writes = tool.safety_level is not SafetyLevel.READ_ONLY
            if writes or self._request.get("verify"):
                findings = tuple(tool.verify(scene, self._args, self._tool_result))
            else:
                findings = ()
            may_wait = self._hashing is Hashing.MAY_WAIT and not findings
            if may_wait and self._kinds(scene.undo_log.written()) <= set(tool.writes):
                self._hashing = Hashing.WAITS
                return ()
            self._seal()
            verification_findings = tuple(_verification_finding(finding) for finding in findings)
            return verification_findings + self._broken_promises()
        finally:
            self._ms["verify"] = _ms_since(started)

    def keep(self) -> None:
        """Keep the step for good. A waiting step is hashed later."""
        self._scene.undo_log.keep()
        if self.waits:
            self._state.defer(self.touched(), self._finish)
        if self._state.tombstone_count > MAX_TOMBSTONES:
            self._state.purge()

    def touched(self) -> AbstractSet[fp.Key]:
        return self._scene.undo_log.touched()

    def take_back(self) -> None:
        """Revert a step that is not kept. Raises RuntimeError when the hash then differs from the hash before."""
        if not self._written:
            return
        before = self._before
        self._scene.undo_log.revert()
        if self._state.root() != before:
            raise RuntimeError(f"reverting {self._tool.name} left a different hash (mcp_call_id {self._call})")

    def _seal(self) -> None:
        self._start = self._before  # the last moment when it is known
        self._changes = self._mode.seal()

    def _broken_promises(self) -> tuple[Finding, ...]:
        """Return a finding if the tool did something undeclared. That is a mistake of the tool, which the caller
        cannot fix.
        """
        after = self._state.root()
        if self._tool.safety_level is SafetyLevel.READ_ONLY and after != self._before:
            return (Finding(Fault.INTERNAL_ERROR, f"{self._tool.name} is read-only, but changed {self._changes[:3]}"),)
        written = (change for change in self._changes if not self._scene.undo_log.marked(tuple(change[:-1])))
        undeclared = self._kinds(written) - set(self._tool.writes)
        if undeclared:
            message = f"{self._tool.name} wrote {sorted(undeclared)} without declaring them"
            return (Finding(Fault.INTERNAL_ERROR, message),)
        if self._request.get("cross_check") and self._state.full_root() != after:
            return (Finding(Fault.INTERNAL_ERROR, f"{self._tool.name} made a write that it did not report"),)
        return ()

    @staticmethod
    def _kinds(keys: Iterable[Sequence[str]]) -> set[str]:
        kinds: set[str] = set()
        for key in keys:
            if key[0] == fp.MEMBERSHIP:
                kinds.add(MEMBER_KIND)
            else:
                kinds.add(key[0])
        return kinds

    # ------------------------------------------------------------------ taking back

    def _revert(self) -> str:
        method = self._mode.method
        if method is None:
            return REVERT_FAILED
        before = self._before  # read while the fingerprint contains nothing of the step
        try:
            if "verify" not in self._ms:
                self._seal()  # the tool raised; the answer still lists the changes, which are then reverted
            self._mode.revert()
        except Exception:
            # After any error here, the core rebuilds the scene.
            _log.exception("%s could not be reverted by %s (mcp_call_id %s)", self._tool.name, method, self._call)
            return REVERT_FAILED
        # A cross-check looks for unreported writes, so it needs a full hash.
        if self._request.get("cross_check"):
            reached = self._state.full_root()
        else:
            reached = self._state.root()
        if reached == before:
            return method.value
        _log.error("reverting %s by %s left a different hash (mcp_call_id %s)", self._tool.name, method, self._call)
        return REVERT_FAILED

    # ------------------------------------------------------------------ the answer

    def _report(self, findings: tuple[Finding, ...], reverted: str | None) -> StepAnswer:
        if reverted is None or reverted == REVERT_FAILED:
            after = self._state.root()
        else:
            after = self._before
        if findings:
            fault = findings[0].fault.value
            result = None
            artifacts: list[str] = []
        else:
            fault = None
            result = self._result
            artifacts = self._scene.artifacts

        return {
            "ok": not findings,
            "fault": fault,
            "message": "; ".join(finding.message for finding in findings),
            "findings": [finding.to_json() for finding in findings],
            "result": result,
            "changes": self._changes,
            "before": self._before,
            "after": after,
            "reverted_by": reverted,
            "artifacts": artifacts,
            "plan_ms": self._ms.get("plan"),
            "execute_ms": self._ms.get("execute"),
            "verify_ms": self._ms.get("verify"),
        }


def may_wait(tool: AnyTool, args: Any, request: StepRequest) -> bool:
    """Return True if the hash of the step may be computed after the step was kept."""
    inverse = tool.revert_for(args, bpy.app.version) is Revert.INVERSE
    return inverse and ANSWERED_AT_ONCE.isdisjoint(request)


class Stepper:
    """A runner of steps on one scene state."""

    def __init__(self, state: SceneState, tools: Mapping[str, AnyTool], outbox: Path) -> None:
        self._state = state
        self.tools = tools
        self._outbox = outbox

    def run(self, request: StepRequest) -> StepAnswer:
        """Run one step and return its answer, with the hash."""
        answer = self.begin(request)
        if isinstance(answer, StepRun):
            return answer.finish()
        return answer

    def begin(self, request: StepRequest) -> StepAnswer | StepRun:
        """Run one step. Return the unfinished StepRun if only hashing is deferred; its `finish()` returns the
        answer.
        """
        tool = self.tools[request["tool"]]
        run = self.prepared(tool, tool.args_model.model_validate(request["args"]), request)
        return run.answer() or run

    def prepared(self, tool: AnyTool, args: Any, request: StepRequest) -> StepRun:
        """Return a step that has not begun."""
        return StepRun(self._state, tool, args, request, self._outbox)


def _verification_finding(finding: Finding) -> Finding:
    """Return the finding as a failed postcondition, whatever fault the tool gave it."""
    cure = "Change the arguments: the result in Blender differs from them."
    return Finding(Fault.VERIFICATION_FAILED, finding.message, finding.pointer, cure)


def _exception_finding(error: Exception) -> Finding:
    if isinstance(error, ValidationError):
        # The result model refuses the result: a number in the scene became infinite or NaN.
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        pointer = pointer_of(first["loc"])
        message = f"the result cannot be written as JSON, because {pointer} is not a finite number: {first['msg']}"
        cure = "Look for numbers beyond single precision: very large sizes, scales and positions, also of parents."
        return Finding(Fault.EXECUTION_FAILED, message, "", cure)
    line = " ".join(f"{type(error).__name__}: {error}".split())[:500]
    cure = "Change the arguments. The worker's log has the full stack trace."
    return Finding(Fault.EXECUTION_FAILED, f"Blender raised {line}", "", cure)


def _ms_since(started: float) -> float:
    # Truncate to microseconds, because `round` can take longer than the measured time.
    return int((perf_counter() - started) * 1_000_000) / 1000
