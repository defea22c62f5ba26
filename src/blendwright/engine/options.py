"""The options of one plan or call, the deadline that follows from them and from the contract, and the clock of its
phases.
"""

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

# Seconds after a deadline in which an arriving answer still counts. Blendwright does not wait for the end of the
# process.
LAST_ANSWER_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The options of one run. The contract of the session limits all of them; None selects the session's value."""

    timeout: float | None = None
    """Seconds for the whole plan or call. Blendwright refuses more than the contract allows."""
    cancel: CancelToken | None = None
    progress: Progress | None = None
    """Called with the report of each operation once that report is durable."""
    determinism: Determinism | None = None
    """The weakest determinism class that the caller accepts."""
    approver: Approver | None = None
    """Replaces the approver of the session."""
    one_at_a_time: bool = False
    """Send an operation only after the previous one has ended."""
    call_seconds: float | None = None
    """Seconds for each call in place of the contract's limits, for calls that Blendwright makes for its own
    purposes.
    """
    background: bool = False
    """No client waits for this run. The contract has separate limits for background runs and their calls."""
    waiting: Callable[[Waiting], None] | None = None
    """Called about once per second, in another thread, while one call takes long."""
    verify: bool = False
    """Read results back, also after read-only tools."""
    rehearse: str | None = None
    """Revert the call by this method ("inverse" or "memfile") and prove that the scene is as before. For single
    calls.
    """
    snapshot: bool = False
    """Add a snapshot of the resulting scene. For single calls."""
    parse_ms: float = 0.0
    """Milliseconds that parsing the request took, for the trace of a single call."""

    def too_long(self, terms: ContractTerms) -> tuple[Finding, ...]:
        """Return a finding if the requested time exceeds the limit of the contract."""
        if self.background:
            limit = "background_seconds"
        else:
            limit = "run_seconds"
        return too_much_time(self.timeout, getattr(terms.constraints, limit), limit)


DEFAULT_OPTIONS = RunOptions()


@dataclass(slots=True)
class RunDeadline:
    """The deadline of a run: `call_seconds` limits one operation; `ends` is the end of the run on the monotonic
    clock.
    """

    call_seconds: float
    ends: float
    cancel: CancelToken | None
    calls_at_once: int
    terms: ContractTerms
    fixed_seconds: float | None = None
    """Seconds for every call of every tool; None applies the contract's limit for each tool."""

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
        """Return the seconds for one call of a tool that is sent alone."""
        if self.fixed_seconds is None:
            return self.terms.seconds_for(tool)
        return self.fixed_seconds

    @property
    def cancelled(self) -> bool:
        return self.cancel is not None and self.cancel.cancelled

    def extend(self, seconds: float) -> None:
        self.ends += seconds

    def answer_of(self, future: Future[Any], worker: RemoteScene, since: float) -> Any:
        """Return the worker's answer to a call that it received at `since`. Abandon the worker on a timeout or
        cancellation.

        Raises WorkerError: Cancelled, DeadlinePassed, or the reason why the worker ended.
        """
        if self.cancelled and not future.done():
            worker.abandon()
        allowed = min(since + self.call_seconds, self.ends)
        try:
            return future.result(max(0.0, allowed - monotonic()))
        except TimeoutError:
            worker.abandon()
        except WorkerError as error:
            if self.cancelled:
                raise Cancelled("cancelled while it ran") from error
            raise

        try:
            return future.result(LAST_ANSWER_SECONDS)
        except (WorkerError, TimeoutError) as error:
            if self.cancelled:
                raise Cancelled("cancelled while it ran") from error
            if monotonic() < self.ends:
                limit = "its time limit"
            else:
                limit = "the time limit of the run"
            raise DeadlinePassed(f"the call did not end within {limit}") from error

    def passed(self) -> Finding | None:
        """Return the finding that ends the run (cancelled or out of time), or None while operations may still
        begin.
        """
        if self.cancel is not None and self.cancel.cancelled:
            return Finding(Fault.CANCELLED, "the run was cancelled", "", "Run the plan again to complete it.")
        if monotonic() >= self.ends:
            message = "the time limit of the run is over"
            cure = "Allow more time. Completed operations will not run again."
            return Finding(Fault.TOOL_TIMEOUT, message, "", cure, "run_seconds")
        return None


def too_much_time(timeout: float | None, max_seconds: float, setting: str) -> tuple[Finding, ...]:
    """Return a finding if `timeout` exceeds `max_seconds`, the value of the contract's `setting`."""
    if timeout is None or timeout <= max_seconds:
        return ()
    message = f"{timeout:g} s were requested, but at most {max_seconds:g} s are allowed"
    return (refusal("timeout", message, most=f"{max_seconds:g}", setting=setting),)


class PhaseClock:
    """A clock of the phases of a call, which starts when the call arrives."""

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
        """Return the duration of each phase. "return" is the remaining time: transport and commit."""
        spent = sum(ms or 0.0 for phase, ms in self._ms.items() if phase != "parse")
        self._ms["return"] = round(max(0.0, (perf_counter() - self._started) * 1000 - spent), 3)
        return tuple(PhaseTrace(phase, self._ms.get(phase)) for phase in PHASES)
