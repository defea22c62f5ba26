"""The outcome of one tool call, with scene hashes as proof. Contracts render it without changing its meaning."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from blendwright.values.faults import Fault
from blendwright.values.findings import Finding

DeterminismClass = Literal["deterministic", "seeded", "nondeterministic"]
# The phases of a tool call, in order. Their index is their number in the execution model.
PHASES = ("parse", "validate_input", "gate", "plan", "execute", "verify", "return")


@dataclass(frozen=True, slots=True)
class PhaseTrace:
    """A phase of a call; `ms` is its duration in milliseconds, or None if the call did not reach it."""

    name: str
    ms: float | None

    def to_json(self) -> dict[str, Any]:
        return {"phase": PHASES.index(self.name), "name": self.name, "ms": self.ms}


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a call; `fault` is None exactly if it succeeded.

    Hashes are None if no Blender ran, ids if no tool was found.
    """

    tool: str
    version: int
    fault: Fault | None = None
    message: str = ""
    findings: tuple[Finding, ...] = ()
    result: Mapping[str, Any] | None = None
    handles: tuple[Mapping[str, str], ...] = ()
    changes: tuple[Mapping[str, str], ...] = ()
    determinism_class: str | None = None
    seed: int | None = None
    seeds: Mapping[str, int] | None = None
    """The seeds by operation for the outcome of a plan; None for a single call."""
    tolerance: float | None = None
    fingerprint_before: str | None = None
    fingerprint_after: str | None = None
    reverted_by: str | None = None
    partial: Mapping[str, Any] | None = None
    recoverable: bool | None = None
    """True if a repair can fix a plan; None for a single call, where the fault decides."""
    artifacts: tuple[str, ...] = ()
    snapshot: Mapping[str, Any] | None = None
    trace: tuple[PhaseTrace, ...] = field(default=())
    request_id: str | None = None
    mcp_call_id: str | None = None
    blender_mutation_id: str | None = None
    notes: tuple[str, ...] = ()
    """Notes for the caller, in sentences; they are not problems."""

    @property
    def ok(self) -> bool:
        return self.fault is None

    @property
    def cancelled(self) -> bool:
        """True if someone cancelled the call, even if it also failed for another reason."""
        if self.fault is None:
            return False
        return self.fault is Fault.CANCELLED or any(finding.fault is Fault.CANCELLED for finding in self.findings)

    def with_(self, **changes: Any) -> Outcome:
        return replace(self, **changes)
