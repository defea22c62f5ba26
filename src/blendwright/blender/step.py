"""One step inside Blender: check, capture, apply, verify, fingerprint, then keep or revert.

The order is fixed here and no tool can skip a part of it. A step that is not kept is taken back by its declared way, and the
hash from before proves it; where it cannot be proven the answer says so, and the core rebuilds the scene elsewhere.
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

# Membership in a collection is a leaf of its own in the fingerprint; writing it is writing the collection.
MEMBER_KIND = str(Kind.COLLECTION)
# A rehearsal is taken back at once, and a cross-check compares hashes at once.
ANSWERED_AT_ONCE = frozenset({"rehearse", "cross_check", "prompt", "disposable"})
# Soft-deleted datablocks cost memory; removing them all at once is cheap, one at a time is not.
MOST_TOMBSTONES = 512


class StepRun:
    """One run of one step, which may end checked, applied, verified and kept, and not hashed yet.

    Hashing several in a row takes half the time of hashing each between two others, so a worker that has more requests
    waiting leaves it. Nobody sees the scene in between: whoever touches the same datablocks has it hashed first.
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
        self._start: str | None = None if self._hashing is Hashing.MAY_WAIT else state.root()
        self._mode: StepMode
        if disposable:
            self._mode = DisposableProcess()
        elif memfile:
            self._mode = MemfileUndo(state)
        else:
            self._mode = RecordedWrites(self._scene)
        self._written = False
        self._stages: Iterator[None] | None = None
        self._made: Any = None
        self._finished: StepAnswer | None = None
        self._changes: list[list[str]] = []
        self._result: dict[str, Any] | None = None
        self._ms: dict[str, float] = {}

    @property
    def waits(self) -> bool:
        """Whether the step was applied and verified, and its hash is left for later."""
        return self._hashing is Hashing.WAITS

    @property
    def _before(self) -> str:
        """The hash from before the step; nothing of the step itself is in the fingerprint until it is sealed."""
        if self._start is None:
            self._start = self._state.root()
        return self._start

    def answer(self) -> StepAnswer | None:
        """The answer, or None when the step was kept and waits to be hashed."""
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
        """Hash a step that waited. An outermost place: it cannot be taken back any more, so the core must rebuild."""
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
        """The answer of a step that waits, hashed now at the latest."""
        self._state.hash_deferred()
        assert self._finished is not None
        return self._finished

    def _findings(self) -> tuple[Finding, ...]:
        """Run the step as far as it goes; empty when all is as promised. An outermost place: a tool may raise anything."""
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
            self._take(self._tool.apply(self._scene, self._args))
        finally:
            self._ms["execute"] = _ms_since(started)
        return self.verify()

    # ------------------------------------------------------------------ phases, for one step or for several in turn

    def check(self) -> tuple[Finding, ...]:
        started = perf_counter()
        findings = tuple(self._tool.check(self._scene, self._args))
        self._ms["plan"] = _ms_since(started)
        return findings

    def advance(self) -> None:
        """One stage of applying it more, while there are some."""
        if self.applied:
            return
        started = perf_counter()
        self._written = True
        if self._stages is None:
            self._stages = self._tool.stages(self._scene, self._args)
        try:
            next(self._stages)
        except StopIteration as done:
            self._take(done.value)
        finally:
            self._ms["execute"] = self._ms.get("execute", 0.0) + _ms_since(started)

    @property
    def applied(self) -> bool:
        return self._made is not None

    def _take(self, made: Any) -> None:
        self._scene.protect_unused()
        self._made = made
        self._result = made.model_dump(mode="json")

    def verify(self) -> tuple[Finding, ...]:
        """What is not as promised. A step that may wait is not hashed yet after it."""
        tool, scene = self._tool, self._scene
        started = perf_counter()
        try:
            writes = tool.safety_level is not SafetyLevel.READ_ONLY
            asked = writes or self._request.get("verify")
            if asked:
                findings = tuple(tool.verify(scene, self._args, self._made))
            else:
                findings = ()
            may_wait = self._hashing is Hashing.MAY_WAIT and not findings
            if may_wait and self._kinds(scene.undo_log.written()) <= set(tool.writes):
                self._hashing = Hashing.WAITS
                return ()
            self._seal()
            return tuple(_verification_finding(finding) for finding in findings) + self._broken_promises()
        finally:
            self._ms["verify"] = _ms_since(started)

    def keep(self) -> None:
        """It stands: nobody takes it back any more. What waits is hashed later."""
        self._scene.undo_log.keep()
        if self.waits:
            self._state.defer(self.touched(), self._finish)
        if self._state.tombstone_count > MOST_TOMBSTONES:
            self._state.purge()

    def touched(self) -> AbstractSet[fp.Key]:
        return self._scene.undo_log.touched()

    def take_back(self) -> None:
        """As if it had never been begun: of a step that is not kept. Raises RuntimeError where that cannot be proven."""
        if not self._written:
            return
        before = self._before
        self._scene.undo_log.revert()
        if self._state.root() != before:
            raise RuntimeError(f"{self._tool.name} was taken back and left another hash (mcp_call_id {self._call})")

    def _seal(self) -> None:
        self._start = self._before  # the last moment at which it can be known
        self._changes = self._mode.seal()

    def _broken_promises(self) -> tuple[Finding, ...]:
        """A tool that did what it does not declare; its author's mistake, so it is never the caller's to repair."""
        after = self._state.root()
        if self._tool.safety_level is SafetyLevel.READ_ONLY and after != self._before:
            return (Finding(Fault.INTERNAL_ERROR, f"{self._tool.name} is read-only and changed {self._changes[:3]}"),)
        written = (change for change in self._changes if not self._scene.undo_log.marked(tuple(change[:-1])))
        undeclared = self._kinds(written) - set(self._tool.writes)
        if undeclared:
            message = f"{self._tool.name} wrote {sorted(undeclared)}, which it does not declare"
            return (Finding(Fault.INTERNAL_ERROR, message),)
        if self._request.get("cross_check") and self._state.full_root() != after:
            return (Finding(Fault.INTERNAL_ERROR, f"{self._tool.name} wrote something that it did not report"),)
        return ()

    @staticmethod
    def _kinds(keys: Iterable[Sequence[str]]) -> set[str]:
        return {MEMBER_KIND if key[0] == fp.MEMBERSHIP else key[0] for key in keys}

    # ------------------------------------------------------------------ taking back

    def _revert(self) -> str:
        method = self._mode.method
        if method is None:
            return REVERT_FAILED
        before = self._before  # asked for while nothing of the step is in the fingerprint
        try:
            if "verify" not in self._ms:
                self._seal()  # the tool raised; its caller still learns what had been done and is taken back
            self._mode.revert()
        except Exception:
            # An outermost place: whatever goes wrong here, the core rebuilds the scene.
            _log.exception("%s could not be reverted by %s (mcp_call_id %s)", self._tool.name, method, self._call)
            return REVERT_FAILED
        # Where under-reporting is looked for, only a full hash proves anything.
        if (self._state.full_root() if self._request.get("cross_check") else self._state.root()) == before:
            return method.value
        _log.error("%s reverted by %s left another hash (mcp_call_id %s)", self._tool.name, method, self._call)
        return REVERT_FAILED

    # ------------------------------------------------------------------ the answer

    def _report(self, findings: tuple[Finding, ...], reverted: str | None) -> StepAnswer:
        if reverted is None or reverted == REVERT_FAILED:
            after = self._state.root()
        else:
            after = self._before
        return {
            "ok": not findings,
            "fault": findings[0].fault.value if findings else None,
            "message": "; ".join(finding.message for finding in findings),
            "findings": [finding.to_json() for finding in findings],
            "result": None if findings else self._result,
            "changes": self._changes,
            "before": self._before,
            "after": after,
            "reverted_by": reverted,
            "artifacts": self._scene.artifacts if not findings else [],
            "plan_ms": self._ms.get("plan"),
            "execute_ms": self._ms.get("execute"),
            "verify_ms": self._ms.get("verify"),
        }


def may_wait(tool: AnyTool, args: Any, request: StepRequest) -> bool:
    """Whether the hash of a step can be left for later once it is kept."""
    inverse = tool.revert_for(args, bpy.app.version) is Revert.INVERSE
    return inverse and ANSWERED_AT_ONCE.isdisjoint(request)


class Stepper:
    """Runs steps against one scene state."""

    def __init__(self, state: SceneState, tools: Mapping[str, AnyTool], outbox: Path) -> None:
        self._state = state
        self.tools = tools
        self._outbox = outbox

    def run(self, request: StepRequest) -> StepAnswer:
        """One step, answered at once."""
        answer = self.begin(request)
        if isinstance(answer, StepRun):
            return answer.finish()
        return answer

    def begin(self, request: StepRequest) -> StepAnswer | StepRun:
        """One step. Where it was kept and only its hash is missing, that may wait: see `StepRun.finish`."""
        tool = self.tools[request["tool"]]
        run = self.prepared(tool, tool.args_model.model_validate(request["args"]), request)
        return run.answer() or run

    def prepared(self, tool: AnyTool, args: Any, request: StepRequest) -> StepRun:
        """A step of which nothing has been done."""
        return StepRun(self._state, tool, args, request, self._outbox)


def _verification_finding(finding: Finding) -> Finding:
    """What `verify` finds is a failed postcondition, whatever the tool calls it."""
    cure = "Change the arguments: Blender did not end up with what they ask for."
    return Finding(Fault.VERIFICATION_FAILED, finding.message, finding.pointer, cure)


def _exception_finding(error: Exception) -> Finding:
    if isinstance(error, ValidationError):
        # An answer that its own model refuses: something in the scene became infinite, or no number at all.
        [first, *_] = error.errors(include_url=False, include_context=False, include_input=False)
        pointer = pointer_of(first["loc"])
        message = f"the result has no JSON, since at {pointer} there is no finite number: {first['msg']}"
        cure = "Look for numbers beyond single precision: sizes, scales and places far out, also those of parents."
        return Finding(Fault.EXECUTION_FAILED, message, "", cure)
    line = " ".join(f"{type(error).__name__}: {error}".split())[:500]
    cure = "Change the arguments; the worker's log has the whole trace."
    return Finding(Fault.EXECUTION_FAILED, f"Blender raised {line}", "", cure)


def _ms_since(started: float) -> float:
    # To the microsecond; `round` takes longer than what is measured here at times.
    return int((perf_counter() - started) * 1_000_000) / 1000
