"""A plan as every layer below the dialects knows it: operations, what they wait for, and the policies that differ by dialect."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from blendwright.values.findings import Finding

TieBreak = Literal["id", "position"]
OnFailure = Literal["stop", "skip_dependents"]
OnUnknownTool = Literal["refuse", "fail_operation"]
Boundary = Literal["operation", "plan"]
Field = Literal["id", "tool", "args", "depends_on", "safety_level", "other"]

SOUND: frozenset[Field] = frozenset()


@dataclass(frozen=True, slots=True)
class Places:
    """Where the fields of an operation stand in its document, as pointers relative to the operation."""

    id: str = "/operation_id"
    tool: str = "/tool_name"
    args: str = "/args"
    depends_on: str = "/depends_on"
    safety_level: str = "/safety_level"


PLACES = Places()


@dataclass(frozen=True, slots=True)
class Operation:
    """One tool call of a plan. `pointer` is its place in the document, for findings; `safety_level` is what the plan declares.

    `unsound` names the fields that do not fit the dialect's schema and hold something neutral here instead. An operation
    whose id is unsound goes by its pointer, which no proper id can equal.
    """

    id: str
    tool: str
    args: Mapping[str, Any]
    depends_on: tuple[str, ...]
    safety_level: str | None
    position: int
    pointer: str
    places: Places = PLACES
    unsound: frozenset[Field] = SOUND


@dataclass(frozen=True, slots=True)
class Plan:
    """What a dialect parses its text into. The executor never knows which dialect it was: what differs is data here.

    `findings` is what the dialect found wrong with the document; a plan that has some never becomes a valid one, but its
    operations are still there as far as they can be read, so that everything else that is wrong is found too.
    """

    dialect: str
    request_id: str
    operations: tuple[Operation, ...]
    tie_break: TieBreak
    on_failure: OnFailure
    boundary: Boundary = "operation"
    on_unknown_tool: OnUnknownTool = "refuse"
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class Schedule:
    """The operations of a valid plan in the order in which they run.

    `hash` is equal for equal operations, registries and baselines, whatever the order in the document where ids break ties.
    """

    plan: Plan
    order: tuple[Operation, ...]
    hash: str
