"""Judges all gates of one modifier: first the tree, then one evaluation of it, then the geometry that it gave.

Blender does not report that an evaluation was given up, and keeps the warnings of the last one that was not. A gate is therefore
judged only when the gates that it builds on are passed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from blendwright.tool_api.arguments import Args, Result, optional
from blendwright.tool_api.scene import Block, GeometryFacts, Kind, Scene
from blendwright.tools.geonodes.structural_gates import StructuralGates, nodes_that_do_not_arrive
from blendwright.tools.modifier import stored_inputs
from blendwright.tools.modifier.inputs import sockets_of
from blendwright.tools.scene.plain_values import number

# Every tree has to pass these.
RequiredGate = Literal["OUTPUT_CONNECTED", "NO_INVALID_LINKS", "NO_CYCLES", "EVALUATES", "NON_EMPTY_GEOMETRY"]
# These are always reported, and required when they are requested.
AdvisoryGate = Literal["SINGLE_GROUP_IO", "NO_NODE_WARNINGS", "NO_UNUSED_NODES"]
# These are judged when they are requested.
GeometryGate = Literal[
    "MANIFOLD", "MIN_VERTICES", "MAX_VERTICES", "MIN_SIZE", "MAX_SIZE", "HAS_ATTRIBUTE", "NO_INSTANCES"
]
Gate = Literal[RequiredGate, AdvisoryGate, GeometryGate]
# Required where nodes are named that were added; nobody can ask for it otherwise.
AddedGate = Literal["ADDED_NODES_REACH_OUTPUT"]
ADDED: AddedGate = "ADDED_NODES_REACH_OUTPUT"
REQUIRED: tuple[Gate, ...] = get_args(RequiredGate)
ADVISORY: tuple[Gate, ...] = get_args(AdvisoryGate)
COUNTS = frozenset({"MIN_VERTICES", "MAX_VERTICES"})
SIZES = frozenset({"MIN_SIZE", "MAX_SIZE"})
MOST_ADDED = 250_000
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


class AddedNodes(Args):
    """Nodes that were added to a node group."""

    node_group: str | None = optional("Name of the node group; left out: the one that the modifier uses.")
    nodes: list[str] = Field(
        min_length=1, max_length=MOST_ADDED, description="Ids of nodes that must lead to its output."
    )


def _expected_value(gate: Gate) -> str:
    if gate in COUNTS:
        return "a whole number that is not negative"
    if gate in SIZES:
        return "a list of three lengths"
    if gate == "HAS_ATTRIBUTE":
        return "the name of an attribute"
    return "no value"


def _fits(gate: Gate, value: Any) -> bool:
    if gate in COUNTS:
        return isinstance(value, int) and not isinstance(value, bool) and value >= 0
    if gate in SIZES:
        return isinstance(value, list)
    if gate == "HAS_ATTRIBUTE":
        return isinstance(value, str) and bool(value)
    return value is None


Status = Literal["passed", "failed", "not_judged"]
# How a gate was judged, and what is wrong or why it could not be.
Outcome = tuple[Status, str]
PASSED: Outcome = ("passed", "")


class Verdict(Result):
    """What one gate says. One that builds on another that failed is not judged: its answer would mean nothing."""

    gate: Gate | AddedGate = Field(description="Name of the gate.")
    status: Status = Field(description="Whether it is passed.")
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


# node_warnings came with Blender 4.5.
WARNINGS_MIN = (4, 5, 0)
AXES = "XYZ"
STRUCTURAL: dict[Gate, Callable[[StructuralGates], str]] = {
    "OUTPUT_CONNECTED": StructuralGates.output_not_connected,
    "NO_INVALID_LINKS": StructuralGates.invalid_links,
    "NO_CYCLES": StructuralGates.cycles,
    "SINGLE_GROUP_IO": StructuralGates.several_group_nodes,
    "NO_UNUSED_NODES": StructuralGates.nodes_without_use,
}
# What must hold before a gate can be judged.
BASES: dict[Gate, tuple[Gate, ...]] = {
    "EVALUATES": ("OUTPUT_CONNECTED", "NO_CYCLES"),
    "NON_EMPTY_GEOMETRY": ("EVALUATES",),
    "NO_NODE_WARNINGS": ("EVALUATES",),
}


def report_gates(
    scene: Scene, modifier: Block, requested: Sequence[AskedGate], added: Sequence[AddedNodes] = ()
) -> GateReport:
    """Judge all gates of a modifier, and report them; `added` adds the gate of the nodes that were added."""
    obj, tree = modifier.id_data, modifier.node_group
    outcomes, facts = _usual_outcomes(
        scene, modifier, needs_open_edges=any(one.gate == "MANIFOLD" for one in requested)
    )
    if outcomes["EVALUATES"] == PASSED:
        usable = facts
    else:
        usable = None
    if added:
        outcomes[ADDED] = _added_nodes(scene, tree, added, outcomes["OUTPUT_CONNECTED"])

    usual: tuple[Gate | AddedGate, ...] = (*REQUIRED, *([ADDED] if added else ()), *ADVISORY)
    listed: list[tuple[Gate | AddedGate, Outcome]] = [(gate, outcomes[gate]) for gate in usual]
    listed += _requested_outcomes(requested, outcomes, usable)

    required = {*REQUIRED, ADDED, *(one.gate for one in requested)}
    verdicts = [
        Verdict(gate=gate, status=status, required=gate in required, message=message)
        for gate, (status, message) in listed
    ]
    blocking = _blocking(verdicts)
    return GateReport(
        success=not blocking,
        failed_gates=[verdict.gate for verdict in blocking],
        messages=[verdict.message for verdict in blocking],
        object=obj.name,
        modifier=modifier.name,
        node_group=tree.name,
        gates=verdicts,
        geometry=None if usable is None else _facts_as_json(usable),
    )


def _usual_outcomes(
    scene: Scene, modifier: Block, *, needs_open_edges: bool
) -> tuple[dict[Gate | AddedGate, Outcome], GeometryFacts | None]:
    """Judge the structure, and what builds on it. Returns the geometry too, None where nothing was evaluated."""
    structure = StructuralGates(modifier.node_group)
    outcomes: dict[Gate | AddedGate, Outcome] = {gate: _judged(judge(structure)) for gate, judge in STRUCTURAL.items()}
    facts: GeometryFacts | None = None
    for gate, bases in BASES.items():
        failed = [base for base in bases if outcomes[base] != PASSED]
        if failed:
            outcomes[gate] = "not_judged", f"Not judged: {failed[0]} is not passed."
        elif gate == "EVALUATES":
            facts = scene.geometry_facts(modifier.id_data, open_edges=needs_open_edges)
            problem = _not_evaluated(modifier.id_data, modifier, facts) or structure.not_runnable(scene.version)
            outcomes[gate] = _judged(problem)
        elif gate == "NON_EMPTY_GEOMETRY":
            assert facts is not None
            outcomes[gate] = _judged(_empty(facts))
        elif scene.version < WARNINGS_MIN:
            outcomes[gate] = "not_judged", "Not judged: this Blender does not tell its warnings."
        else:
            outcomes[gate] = _judged(_warnings(modifier))
    return outcomes, facts


def _requested_outcomes(
    requested: Sequence[AskedGate], judged: Mapping[Gate | AddedGate, Outcome], facts: GeometryFacts | None
) -> list[tuple[Gate | AddedGate, Outcome]]:
    """Judge the requested gates that were not judged yet. Without `facts` there is no geometry to judge."""
    outcomes: list[tuple[Gate | AddedGate, Outcome]] = []
    for asked in requested:
        if asked.gate in judged:
            continue
        if facts is None:
            outcomes.append((asked.gate, ("not_judged", "Not judged: EVALUATES is not passed.")))
        else:
            outcomes.append((asked.gate, _judged(_requested_gate(asked, facts))))
    return outcomes


def _blocking(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Return the required gates that failed. Without one, return those that could not be judged: that is no success either."""
    required = [verdict for verdict in verdicts if verdict.required]
    failed = [verdict for verdict in required if verdict.status == "failed"]
    return failed or [verdict for verdict in required if verdict.status == "not_judged"]


def _judged(wrong: str) -> Outcome:
    """The outcome of a gate that could be judged; an empty text when nothing is wrong."""
    if wrong:
        return ("failed", wrong)
    return PASSED


def _added_nodes(scene: Scene, tree: Block, added: Sequence[AddedNodes], connected: Outcome) -> Outcome:
    """Whether what was added arrives: at the output of its group, in a group that something uses."""
    if connected != PASSED:
        return "not_judged", "Not judged: OUTPUT_CONNECTED is not passed."
    wrong: list[str] = []
    for one in added:
        if one.node_group is None:
            group = tree
        else:
            group = scene.find(Kind.NODE_GROUP, one.node_group)
        if group is None or (group != tree and not scene.users(group)):
            if group is None:
                gone = "is not there any more"
            else:
                gone = "is used by no modifier and no other group"
            wrong.append(f"Nodes were added to '{one.node_group}', which {gone}. Use it, or do not add them.")
        else:
            wrong.append(nodes_that_do_not_arrive(group, one.nodes))
    return _judged(" ".join(filter(None, wrong)))


def _not_evaluated(obj: Block, modifier: Block, facts: GeometryFacts | None) -> str:
    if not modifier.show_viewport:
        return f"Modifier '{modifier.name}' is switched off. Turn show_viewport on with modifier.set."
    if facts is None:
        return f"'{obj.name}' is hidden or in no collection of the view layer. Show it, or link it to a collection."
    # Types without a value of their own (matrices, menus without items) have no property either.
    valued = [socket for socket in sockets_of(modifier.node_group) if hasattr(socket, "default_value")]
    lacking = [socket.name for socket in valued if not stored_inputs.has_input(modifier, socket.identifier)]
    if lacking:
        return f"The modifier has no value for {', '.join(lacking)}. Set it with geonodes.set_modifier_input."
    return ""


def _empty(facts: GeometryFacts) -> str:
    if facts.elements:
        return ""
    if facts.loose_instances:
        loose = f" {facts.loose_instances} instances of nothing are in it."
    else:
        loose = ""
    return (
        f"The tree gives no geometry: no vertices, curves, points or volumes.{loose} Look for counts of 0, selections "
        "that take everything away, sources that are not linked, and an empty object where its own mesh is used."
    )


def _warnings(modifier: Block) -> str:
    warnings = [f"{warning.type.capitalize()}: {warning.message}" for warning in modifier.node_warnings]
    if not warnings:
        return ""
    return f"Blender warns: {'; '.join(sorted(set(warnings))[:5])}. Change the nodes that these are about."


def _requested_gate(request: AskedGate, facts: GeometryFacts) -> str:
    value: Any = request.value
    match request.gate:
        case "MANIFOLD":
            return _not_manifold(facts)
        case "MIN_VERTICES" if facts.vertices < value:
            return f"There are {facts.vertices} vertices, at least {value} are wanted. Add geometry or subdivide."
        case "MAX_VERTICES" if facts.vertices > value:
            return f"There are {facts.vertices} vertices, at most {value} are wanted. Lower counts or resolutions."
        case "MIN_SIZE" | "MAX_SIZE":
            return _wrong_size(request, facts)
        case "HAS_ATTRIBUTE" if value not in facts.attributes:
            names = ", ".join(sorted(name for name in facts.attributes if not name.startswith(".")))
            return (
                f"There is no attribute '{value}'. Store it with Store Named Attribute. There are: {names or 'none'}."
            )
        case "NO_INSTANCES" if facts.loose_instances:
            return f"{facts.loose_instances} instances are left. Put Realize Instances before the output."
        case _:
            return ""


def _not_manifold(facts: GeometryFacts) -> str:
    if not facts.faces:
        return "There are no faces, so nothing is closed. Make a mesh with faces."
    if facts.open_edges:
        return (
            f"{facts.open_edges} edges have not exactly two faces. Close holes, merge by distance, remove loose edges."
        )
    return ""


def _wrong_size(request: AskedGate, facts: GeometryFacts) -> str:
    least = request.gate == "MIN_SIZE"
    limits: Any = request.value
    wrong = [
        f"{axis} is {size:.6g}, {'at least' if least else 'at most'} {limit:.6g} is wanted"
        for axis, size, limit in zip(AXES, facts.size, limits, strict=True)
        if not (size >= limit - 1e-6 if least else size <= limit + 1e-6)
    ]
    if wrong:
        return f"The size does not fit: {'; '.join(wrong)}. Scale it, or change the lengths."
    return ""


def _facts_as_json(facts: GeometryFacts) -> dict[str, int | list[float | None]]:
    counts = ("vertices", "edges", "faces", "curves", "points", "volumes", "strokes", "loose_instances")
    counted: dict[str, int | list[float | None]] = {name: getattr(facts, name) for name in counts}
    return {**counted, "size": [number(round(length, 6)) for length in facts.size]}
