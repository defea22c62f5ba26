"""The outcome of one tool call: what happened, proven by hashes. Contracts render it; nobody re-interprets it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from blendwright.values.faults import Fault
from blendwright.values.findings import Finding

DeterminismClass = Literal["deterministic", "seeded", "nondeterministic"]
# The phases of a tool call, in order; their index is the number the execution model gives them.
PHASES = ("parse", "validate_input", "gate", "plan", "execute", "verify", "return")


@dataclass(frozen=True, slots=True)
class PhaseTrace:
    """One phase as it was run; `ms` is None for a phase that was not reached."""

    name: str
    ms: float | None

    def to_json(self) -> dict[str, Any]:
        return {"phase": PHASES.index(self.name), "name": self.name, "ms": self.ms}


@dataclass(frozen=True, slots=True)
class Outcome:
    """`fault` is None exactly when the call succeeded. Hashes are None when no Blender was asked, ids where there was no such tool."""

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
    """By operation, where this is the outcome of a plan; None for a single call."""
    tolerance: float | None = None
    fingerprint_before: str | None = None
    fingerprint_after: str | None = None
    reverted_by: str | None = None
    partial: Mapping[str, Any] | None = None
    recoverable: bool | None = None
    """Whether a plan can be repaired; None for a single call, where its fault says it."""
    artifacts: tuple[str, ...] = ()
    snapshot: Mapping[str, Any] | None = None
    trace: tuple[PhaseTrace, ...] = field(default=())
    request_id: str | None = None
    mcp_call_id: str | None = None
    blender_mutation_id: str | None = None
    notes: tuple[str, ...] = ()
    """What the caller should know although nothing is wrong, in sentences."""

    @property
    def ok(self) -> bool:
        return self.fault is None

    @property
    def cancelled(self) -> bool:
        """Whether it was called off, whatever else went wrong then."""
        return self.fault is not None and Fault.CANCELLED in {self.fault, *(finding.fault for finding in self.findings)}

    def with_(self, **changes: Any) -> Outcome:
        return replace(self, **changes)
