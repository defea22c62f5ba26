"""The models of gates: their names, how one is requested, and the report on them."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from blendwright.tool_api.arguments import Args, Result, optional

Gate = Literal[
    "OUTPUT_CONNECTED",
    "NO_INVALID_LINKS",
    "NO_CYCLES",
    "EVALUATES",
    "NON_EMPTY_GEOMETRY",
    "SINGLE_GROUP_IO",
    "NO_NODE_WARNINGS",
    "NO_UNUSED_NODES",
    "MANIFOLD",
    "MIN_VERTICES",
    "MAX_VERTICES",
    "MIN_SIZE",
    "MAX_SIZE",
    "HAS_ATTRIBUTE",
    "NO_INSTANCES",
]
# Every tree has to pass these.
REQUIRED: tuple[Gate, ...] = ("OUTPUT_CONNECTED", "NO_INVALID_LINKS", "NO_CYCLES", "EVALUATES", "NON_EMPTY_GEOMETRY")
# These are always reported, and required when they are requested.
ADVISORY: tuple[Gate, ...] = ("SINGLE_GROUP_IO", "NO_NODE_WARNINGS", "NO_UNUSED_NODES")
COUNTS = frozenset({"MIN_VERTICES", "MAX_VERTICES"})
SIZES = frozenset({"MIN_SIZE", "MAX_SIZE"})
Number = Annotated[float, Field(ge=0.0)]


class AskedGate(Args):
    """A gate to require besides the usual ones."""

    gate: Gate = Field(description="Name of the gate.")
    value: int | Annotated[list[Number], Field(min_length=3, max_length=3)] | str | None = optional(
        "For MIN_VERTICES and MAX_VERTICES a number, for MIN_SIZE and MAX_SIZE three lengths in metres, "
        "for HAS_ATTRIBUTE a name; nothing for the others."
    )

    @model_validator(mode="after")
    def _fitting_value(self) -> Self:
        expected = _expected_value(self.gate)
        if not _fits(self.gate, self.value):
            raise PydanticCustomError("gate_value", "{gate} takes {wanted}", {"gate": self.gate, "wanted": expected})
        return self


def _expected_value(gate: Gate) -> str:
    if gate in COUNTS:
        return "a whole number that is not negative"
    if gate in SIZES:
        return "a list of three lengths"
    return "the name of an attribute" if gate == "HAS_ATTRIBUTE" else "no value"


def _fits(gate: Gate, value: Any) -> bool:
    if gate in COUNTS:
        return isinstance(value, int) and not isinstance(value, bool) and value >= 0
    if gate in SIZES:
        return isinstance(value, list)
    return isinstance(value, str) and bool(value) if gate == "HAS_ATTRIBUTE" else value is None


class Verdict(Result):
    """What one gate says. One that builds on another that failed is not judged: its answer would mean nothing."""

    gate: Gate = Field(description="Name of the gate.")
    status: Literal["passed", "failed", "not_judged"] = Field(description="Whether it is passed.")
    required: bool = Field(description="Whether the tree has to pass it.")
    message: str = Field(default="", description="What is wrong and what to change, or why it was not judged.")


class GateReport(Result):
    """The envelope of the gates, with the verdicts one by one and what the geometry amounts to."""

    success: bool = Field(description="True when every required gate is passed.")
    failed_gates: list[str] = Field(description="The required gates that failed.")
    messages: list[str] = Field(description="For each of them, what is wrong and what to change.")
    object: str = Field(description="Name of the object.")
    modifier: str = Field(description="Name of the modifier.")
    node_group: str = Field(description="Name of the node group.")
    gates: list[Verdict] = Field(description="All verdicts, the advisory ones included.")
    geometry: dict[str, int | list[float | None]] | None = Field(
        description="Counts of vertices, edges, faces, curves, points, volumes, strokes and loose instances, and the size "
        "in metres (null where it is not finite); null when it was not evaluated."
    )
