"""The trace of a call: how long each phase took."""

from __future__ import annotations

from time import perf_counter

from blendwright.values.outcome import PHASES, PhaseTrace


class PhaseClock:
    """Runs from the moment the call came in."""

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
        self._ms[phase] = None if ms is None else round(ms, 3)

    def trace(self) -> tuple[PhaseTrace, ...]:
        """Everything since the call came in that no other phase accounts for is the way there and back, and the commit."""
        spent = sum(ms or 0.0 for phase, ms in self._ms.items() if phase != "parse")
        self._ms["return"] = round(max(0.0, (perf_counter() - self._started) * 1000 - spent), 3)
        return tuple(PhaseTrace(phase, self._ms.get(phase)) for phase in PHASES)
