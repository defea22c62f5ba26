"""How one plan or call is run: what its caller asks for, the deadline that follows from it and from the contract, and its clock."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from time import monotonic, perf_counter
from typing import Any

from blendwright.engine.heartbeat import Waiting
from blendwright.policy.refusals import refusal
from blendwright.policy.session_contract import ContractTerms
from blendwright.tool_api.promises import Determinism
from blendwright.tool_api.tool import AnyTool
from blendwright.util.cancel import CancelToken
from blendwright.values.approval import Approver
from blendwright.values.errors import Cancelled, DeadlinePassed, WorkerError
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding
from blendwright.values.outcome import PHASES, PhaseTrace
from blendwright.values.report import OperationReport
from blendwright.wire.remote_scene import RemoteScene

Progress = Callable[[OperationReport], None]

# Past a deadline: what was answered in that very moment counts. Nobody waits for the end of a process, which may take its time to die.
LAST_MOMENT = 0.1


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What a caller may ask for. The contract of the session bounds all of it; None leaves it to the session."""

    timeout: float | None = None
    """Seconds for the whole plan, or for the call; more than the contract allows is refused."""
    cancel: CancelToken | None = None
    progress: Progress | None = None
    """Is called with the report of each operation, once that is durable."""
    determinism: Determinism | None = None
    """The weakest class of results that is accepted."""
    approver: Approver | None = None
    """Instead of the one that the session was opened with."""
    one_at_a_time: bool = False
    """Send an operation only after the one before it has ended."""
    call_seconds: float | None = None
    """Seconds for each call instead of those of the contract: for calls that the program makes on its own account."""
    background: bool = False
    """Nobody waits for it: the contract has a limit of its own for such runs, and for their calls."""
    waiting: Callable[[Waiting], None] | None = None
    """Is called every second or so while one call takes long, in another thread."""
    verify: bool = False
    """Read results back, also after read-only tools."""
    rehearse: str | None = None
    """Take the call back by this method ("inverse" or "memfile") and prove that the scene is as before. For single calls."""
    snapshot: bool = False
    """Add the scene as it is afterwards. For single calls."""
    parse_ms: float = 0.0
    """What reading the request took already, for the trace of a single call."""

    def too_long(self, terms: ContractTerms) -> tuple[Finding, ...]:
        """What speaks against the time that a run is to have."""
        if self.background:
            limit = "background_seconds"
        else:
            limit = "run_seconds"
        return too_much_time(self.timeout, getattr(terms.constraints, limit), limit)


DEFAULT_OPTIONS = RunOptions()


@dataclass(slots=True)
class RunDeadline:
    """When a run has to end: `call_seconds` is for one operation; `ends` is the moment, on the monotonic clock, for all of them."""

    call_seconds: float
    ends: float
    cancel: CancelToken | None
    calls_at_once: int
    terms: ContractTerms
    fixed_seconds: float | None = None
    """For each call, whatever tool it is; None where the contract says it for each."""

    @classmethod
    def from_now(cls, options: RunOptions, terms: ContractTerms) -> RunDeadline:
        if options.background:
            terms = terms.in_background()
        costs = terms.constraints
        if options.timeout is None:
            seconds = costs.run_seconds
        else:
            seconds = min(options.timeout, costs.run_seconds)
        if options.call_seconds is None:
            per_call = costs.call_seconds
        else:
            per_call = options.call_seconds
        if options.one_at_a_time:
            at_once = 1
        else:
            at_once = terms.limits.calls_at_once
        return cls(per_call, monotonic() + seconds, options.cancel, at_once, terms, options.call_seconds)

    def seconds_for(self, tool: AnyTool) -> float:
        """For one call of a tool that is sent by itself."""
        if self.fixed_seconds is None:
            return self.terms.seconds_for(tool)
        return self.fixed_seconds

    @property
    def cancelled(self) -> bool:
        return self.cancel is not None and self.cancel.cancelled

    def extend(self, seconds: float) -> None:
        self.ends += seconds

    def answer_of(self, future: Future[Any], worker: RemoteScene, since: float) -> Any:
        """What a worker answers to a call that it has had since that moment; one that takes too long, or is cancelled, is abandoned.

        Raises WorkerError: Cancelled, DeadlinePassed, or why the worker ended.
        """
        if self.cancelled and not future.done():
            worker.abandon()
        allowed = min(since + self.call_seconds, self.ends)
        try:
            return future.result(max(0.0, allowed - monotonic()))
        except TimeoutError:
            worker.abandon()
        except WorkerError as error:
            raise (Cancelled("cancelled while it ran") if self.cancelled else error) from error
        try:
            return future.result(LAST_MOMENT)
        except (WorkerError, TimeoutError) as error:
            if self.cancelled:
                raise Cancelled("cancelled while it ran") from error
            if monotonic() < self.ends:
                limit = "its time"
            else:
                limit = "the time of the run"
            raise DeadlinePassed(f"it did not end within {limit}") from error

    def passed(self) -> Finding | None:
        """Why nothing more may be begun."""
        if self.cancel is not None and self.cancel.cancelled:
            return Finding(Fault.CANCELLED, "the run was cancelled", "", "Run the plan again to complete it.")
        if monotonic() >= self.ends:
            message = "the time of the run is over"
            cure = "Allow more time; what is done will not be done again."
            return Finding(Fault.TOOL_TIMEOUT, message, "", cure, "run_seconds")
        return None


def too_much_time(timeout: float | None, most: float, setting: str) -> tuple[Finding, ...]:
    """What speaks against giving a run or a call so much time."""
    if timeout is None or timeout <= most:
        return ()
    message = f"it is to have {timeout:g} s, and {most:g} s are allowed"
    return (refusal("timeout", message, most=f"{most:g}", setting=setting),)


class PhaseClock:
    """How long each phase of a call took. Runs from the moment the call came in."""

    def __init__(self, parse_ms: float = 0.0) -> None:
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
        if ms is None:
            self._ms[phase] = None
        else:
            self._ms[phase] = round(ms, 3)

    def trace(self) -> tuple[PhaseTrace, ...]:
        """Everything since the call came in that no other phase accounts for is the way there and back, and the commit."""
        spent = sum(ms or 0.0 for phase, ms in self._ms.items() if phase != "parse")
        self._ms["return"] = round(max(0.0, (perf_counter() - self._started) * 1000 - spent), 3)
        return tuple(PhaseTrace(phase, self._ms.get(phase)) for phase in PHASES)
