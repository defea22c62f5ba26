"""Bones as arguments, and the layout of an armature that a list of bones results in.

This module does not access a scene; `armature_bones.py` reads and writes bones.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from blendwright.tool_api import Findings
from blendwright.tool_api.arguments import BoundedFloat, InnerName, LengthFloat, Vector3, optional
from blendwright.tools.checks import invalid
from blendwright.values.findings import did_you_mean

# Largest number of bones in one call.
MAX_BONES = 1000
# Smallest bone length in metres: Blender deletes shorter bones when it leaves edit mode.
MIN_BONE_LENGTH = 1e-5
# Relative tolerance for positions: Blender stores bones relative to their parents, so rounding errors add up along a
# chain.
POSITION_TOLERANCE = 1e-5
Point = tuple[float, float, float]
BoneName = Annotated[InnerName, Field(min_length=1)]


class BoneSpec(BaseModel):
    """Settings of one bone. Settings that are left out stay unchanged; on a new bone they have Blender's defaults."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False, defer_build=True)

    name: BoneName = Field(description="Name of the bone.")
    head: Vector3 | None = optional(
        "Start point, in the armature's local space. Default for a new bone: its parent's tail."
    )
    tail: Vector3 | None = optional("End point; required for a new bone. The bone's Y axis runs from head to tail.")
    roll_deg: BoundedFloat | None = optional("Rotation about the bone's own axis in degrees.")
    z_axis: Vector3 | None = optional(
        "Instead of roll_deg: direction that the Z axis should point to as closely as possible. A hinge then turns "
        "about X."
    )
    parent: InnerName | None = optional("Parent bone; an empty name removes the parent.")
    connected: bool | None = optional("True to keep its head at its parent's tail.")
    deform: bool | None = optional("Whether the bone deforms meshes; set it to false for controls and IK targets.")
    inherit_rotation: bool | None = optional("Whether it rotates with its parent.")
    inherit_scale: Literal["FULL", "FIX_SHEAR", "ALIGNED", "AVERAGE", "NONE"] | None = optional(
        "How the bone inherits its parent's scale."
    )
    envelope_distance: LengthFloat | None = optional("Distance that its envelope reaches, in metres.")
    head_radius: LengthFloat | None = optional("Radius of its envelope at the head, in metres.")
    tail_radius: LengthFloat | None = optional("Radius of its envelope at the tail, in metres.")
    collections: Annotated[list[BoneName], Field(max_length=50)] | None = optional(
        "Bone collections of the bone; missing ones are created."
    )

    @model_validator(mode="after")
    def _one_roll(self) -> BoneSpec:
        if self.roll_deg is not None and self.z_axis is not None:
            raise PydanticCustomError("two_rolls", "give roll_deg or z_axis, not both")
        if self.z_axis is not None and not any(self.z_axis):
            raise PydanticCustomError("no_direction", "a z_axis of [0, 0, 0] has no direction")
        return self


# Argument -> Blender's property on a bone.
PLAIN = {
    "deform": "use_deform",
    "inherit_rotation": "use_inherit_rotation",
    "inherit_scale": "inherit_scale",
    "envelope_distance": "envelope_distance",
    "head_radius": "head_radius",
    "tail_radius": "tail_radius",
}


@dataclass(frozen=True, slots=True)
class BoneLayout:
    """The rest position of a bone, actual or wanted."""

    name: str
    head: Point
    tail: Point
    parent: str = ""
    connected: bool = False


Layout = dict[str, BoneLayout]


def near(left: Sequence[float], right: Sequence[float]) -> bool:
    """Return True if two points are equal within the precision that a chain of bones keeps."""
    largest = max(1.0, *map(abs, left), *map(abs, right))
    return all(abs(a - b) <= POSITION_TOLERANCE * largest for a, b in zip(left, right, strict=True))


def plain_settings(spec: BoneSpec) -> Mapping[str, Any]:
    """Return the settings that the spec contains, by argument name."""
    values = {name: getattr(spec, name) for name in PLAIN}
    return {name: value for name, value in values.items() if value is not None}


def planned(existing: Layout, specs: Sequence[BoneSpec], removed: Iterable[str] = ()) -> tuple[Layout, Findings]:
    """Return the layout after the changes, and the findings about it. The layout is complete only without findings.

    `there` is the present layout, `specs` the requested bones, and `removed` the names of bones to remove.
    """
    removed_names = set(removed)
    layout: Layout = {}
    for name, bone in existing.items():
        if name in removed_names:
            continue
        if bone.parent in removed_names:
            layout[name] = replace(bone, parent="", connected=False)
        else:
            layout[name] = bone

    all_names = {*layout, *(spec.name for spec in specs)}
    pointers = {spec.name: f"/bones/{number}" for number, spec in enumerate(specs)}
    findings = [*_duplicate_names(specs), *_unknown_parents(layout, specs, all_names), *_incomplete(layout, specs)]
    if findings:
        return layout, findings
    wanted = {spec.name: spec for spec in specs}
    parents = {name: bone.parent for name, bone in layout.items()}
    parents |= {spec.name: spec.parent for spec in specs if spec.parent is not None}
    order = _parents_first([*layout, *(spec.name for spec in specs if spec.name not in layout)], parents)
    if order is None:
        for name in sorted(_names_in_cycles(parents)):
            if name in pointers:
                fix = "Remove the parent of one bone in this cycle."
                findings.append(invalid(f"'{name}' would be its own ancestor", f"{pointers[name]}/parent", fix))
        return layout, findings
    result: Layout = {}
    for name in order:
        bone = _resolved(name, layout.get(name), wanted.get(name), parents.get(name, ""), result)
        result[name] = bone
        findings += _misplaced(bone, wanted.get(name), result, pointers.get(name, "/bones"))
    return result, findings


def _resolved(name: str, old: BoneLayout | None, spec: BoneSpec | None, parent: str, done: Layout) -> BoneLayout:
    head = tail = None
    connected = False
    if old is not None:
        head, tail = old.head, old.tail
        connected = old.connected and old.parent == parent
    if spec is not None:
        if spec.connected is not None:
            connected = spec.connected
        head, tail = spec.head or head, spec.tail or tail
    is_at_parent = connected and not (spec is not None and spec.head is not None)
    if parent and (head is None or is_at_parent):
        head = done[parent].tail
    return BoneLayout(name, head or (0.0, 0.0, 0.0), tail or (0.0, 0.0, 0.0), parent, connected)


def _misplaced(bone: BoneLayout, spec: BoneSpec | None, done: Layout, at: str) -> Findings:
    if bone.connected and not bone.parent:
        yield invalid(f"'{bone.name}' has no parent to be connected to", f"{at}/connected", "Name its parent.")
    elif bone.connected and not near(bone.head, done[bone.parent].tail):
        tail = _shown(done[bone.parent].tail)
        message = f"'{bone.name}' is connected, but its head is not at the tail of '{bone.parent}', {tail}"
        yield invalid(message, f"{at}/head", "Leave head out, or set connected to false.")
    if math.dist(bone.head, bone.tail) < MIN_BONE_LENGTH:
        message = f"'{bone.name}' would have no length: head and tail are both {_shown(bone.tail)}"
        if spec is not None and spec.tail is not None:
            field = "tail"
        else:
            field = "head"
        yield invalid(message, f"{at}/{field}", "Move its tail away from its head.")
    elif spec is not None and spec.z_axis is not None and _parallel(bone, spec.z_axis):
        message = f"z_axis is parallel to '{bone.name}', whose Y axis has that direction"
        yield invalid(message, f"{at}/z_axis", "Give a direction across the bone.")


def _duplicate_names(specs: Sequence[BoneSpec]) -> Findings:
    first_numbers: dict[str, int] = {}
    for number, spec in enumerate(specs):
        if first_numbers.setdefault(spec.name, number) != number:
            message = f"/bones/{first_numbers[spec.name]} is already named '{spec.name}'"
            yield invalid(message, f"/bones/{number}/name", "Give each bone a unique name.")


def _unknown_parents(layout: Layout, specs: Sequence[BoneSpec], all_names: set[str]) -> Findings:
    for number, spec in enumerate(specs):
        if spec.parent and spec.parent not in all_names:
            fix = did_you_mean(spec.parent, sorted(all_names - {spec.name}), otherwise="Add that bone to the list.")
            yield invalid(f"no bone is named '{spec.parent}'", f"/bones/{number}/parent", fix)


def _incomplete(layout: Layout, specs: Sequence[BoneSpec]) -> Findings:
    for number, spec in enumerate(specs):
        if spec.name in layout:
            continue
        if spec.tail is None:
            yield invalid(f"a new bone needs 'tail'; '{spec.name}' is new", f"/bones/{number}/tail", "Add its tail.")
        if spec.head is None and not spec.parent:
            fix = "Add its head, or name the parent at whose tail it begins."
            yield invalid(f"a new bone without parent needs 'head'; '{spec.name}' is new", f"/bones/{number}/head", fix)


def _parents_first(names: Sequence[str], parents: Mapping[str, str]) -> list[str] | None:
    """Return the bones ordered so that each comes after its parent, otherwise in list order. Return None for a cycle of
    parents.
    """
    done: dict[str, None] = {}
    for name in names:
        chain: list[str] = []
        while name and name not in done:
            if name in chain:
                return None
            chain.append(name)
            name = parents.get(name, "")
        done.update(dict.fromkeys(reversed(chain)))
    return list(done)


def _names_in_cycles(parents: Mapping[str, str]) -> set[str]:
    in_cycles: set[str] = set()
    for name in parents:
        seen: list[str] = []
        while name and name not in seen:
            seen.append(name)
            name = parents.get(name, "")
        if name:
            in_cycles.update(seen[seen.index(name) :])
    return in_cycles


def _parallel(bone: BoneLayout, direction: Sequence[float]) -> bool:
    along = [b - a for a, b in zip(bone.head, bone.tail, strict=True)]
    dot = sum(a * b for a, b in zip(along, direction, strict=True))
    return abs(dot) > 0.9999 * math.hypot(*along) * math.hypot(*direction)


def _shown(point: Sequence[float]) -> str:
    return "(" + ", ".join(f"{value:.6g}" for value in point) + ")"
