"""A plan as every layer below the dialects knows it: operations, what they wait for, and the policies that differ by dialect."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

TieBreak = Literal["id", "position"]
OnFailure = Literal["stop", "skip_dependents"]
Boundary = Literal["operation", "plan"]


@dataclass(frozen=True, slots=True)
class Operation:
    """One tool call of a plan. `pointer` is its place in the document, for findings; `safety_level` is what the plan declares."""

    id: str
    tool: str
    args: Mapping[str, Any]
    depends_on: tuple[str, ...]
    safety_level: str | None
    position: int
    pointer: str


@dataclass(frozen=True, slots=True)
class Plan:
    """What a dialect parses its text into. The executor never knows which dialect it was: what differs is data here."""

    dialect: str
    request_id: str
    operations: tuple[Operation, ...]
    tie_break: TieBreak
    on_failure: OnFailure
    boundary: Boundary = "operation"


@dataclass(frozen=True, slots=True)
class Schedule:
    """The operations of a valid plan in the order in which they run; `hash` is equal for equal graphs and registries."""

    plan: Plan
    order: tuple[Operation, ...]
    hash: str
