"""Bones as arguments name them, and what an armature is to be like by a list of them.

This module knows no scene: `armature_bones.py` reads and writes.
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

MOST_BONES = 1000
# Blender drops shorter bones when it leaves edit mode.
SHORTEST = 1e-5
# Bones are kept relative to their parents, and a chain of them adds up what single precision loses.
LOOSE = 1e-5
Point = tuple[float, float, float]
BoneName = Annotated[InnerName, Field(min_length=1)]


class BoneSpec(BaseModel):
    """One bone. What is left out stays as it is, and is Blender's default on a new bone."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False, defer_build=True)

    name: BoneName = Field(description="Name of the bone.")
    head: Vector3 | None = optional(
        "Where it begins, in the armature's own space; at its parent's tail when left out on a new bone."
    )
    tail: Vector3 | None = optional("Where it ends; needed on a new bone. Its Y axis runs from head to tail.")
    roll_deg: BoundedFloat | None = optional("Turn about its own length in degrees.")
    z_axis: Vector3 | None = optional(
        "Instead of roll_deg: where its Z axis looks, as far as it can. A hinge then turns about X."
    )
    parent: InnerName | None = optional("Bone that it follows; an empty name means none.")
    connected: bool | None = optional("Its head sticks to its parent's tail.")
    deform: bool | None = optional("Whether it moves meshes; turn it off for controls and IK targets.")
    inherit_rotation: bool | None = optional("Turn with its parent.")
    inherit_scale: Literal["FULL", "FIX_SHEAR", "ALIGNED", "AVERAGE", "NONE"] | None = optional(
        "How it takes over its parent's scale."
    )
    envelope_distance: LengthFloat | None = optional("How far its envelope reaches, in metres.")
    head_radius: LengthFloat | None = optional("Radius of its envelope at the head, in metres.")
    tail_radius: LengthFloat | None = optional("Radius of its envelope at the tail, in metres.")
    collections: Annotated[list[BoneName], Field(max_length=50)] | None = optional(
        "Bone collections that it is in, made where missing."
    )

    @model_validator(mode="after")
    def _one_roll(self) -> BoneSpec:
        if self.roll_deg is not None and self.z_axis is not None:
            raise PydanticCustomError("two_rolls", "give roll_deg or z_axis, not both")
        if self.z_axis is not None and not any(self.z_axis):
            raise PydanticCustomError("no_direction", "a z_axis of [0, 0, 0] has no direction")
        return self


# Settings by their names here, and by those of Blender's bones.
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
    """Where a bone is, or is to be, at rest."""

    name: str
    head: Point
    tail: Point
    parent: str = ""
    connected: bool = False


Layout = dict[str, BoneLayout]


def near(one: Sequence[float], other: Sequence[float]) -> bool:
    """The same place, as far as a chain of bones keeps it."""
    reach = max(1.0, *(abs(value) for value in (*one, *other)))
    return all(abs(a - b) <= LOOSE * reach for a, b in zip(one, other, strict=True))


def plain_settings(spec: BoneSpec) -> Mapping[str, Any]:
    """The settings that are given, by their names here."""
    return {name: value for name in PLAIN if (value := getattr(spec, name)) is not None}


def planned(there: Layout, specs: Sequence[BoneSpec], removed: Iterable[str] = ()) -> tuple[Layout, Findings]:
    """What the bones are to be like, and what is wrong with that; the layout is whole only where nothing is."""
    gone = set(removed)
    layout = {
        name: replace(bone, parent="", connected=False) if bone.parent in gone else bone
        for name, bone in there.items()
        if name not in gone
    }
    known = {*layout, *(spec.name for spec in specs)}
    places = {spec.name: f"/bones/{number}" for number, spec in enumerate(specs)}
    findings = [*_doubled(specs), *_unknown_parents(layout, specs, known), *_incomplete(layout, specs)]
    if findings:
        return layout, findings
    wanted = {spec.name: spec for spec in specs}
    parents = {name: bone.parent for name, bone in layout.items()}
    parents |= {spec.name: spec.parent for spec in specs if spec.parent is not None}
    order = _parents_first([*layout, *(spec.name for spec in specs if spec.name not in layout)], parents)
    if order is None:
        return layout, [
            invalid(
                f"'{name}' would follow itself", f"{places[name]}/parent", "Let one bone of the circle follow none."
            )
            for name in sorted(_in_circles(parents))
            if name in places
        ]
    result: Layout = {}
    for name in order:
        bone = _resolved(name, layout.get(name), wanted.get(name), parents.get(name, ""), result)
        result[name] = bone
        findings += _misplaced(bone, wanted.get(name), result, places.get(name, "/bones"))
    return result, findings


def _resolved(name: str, old: BoneLayout | None, spec: BoneSpec | None, parent: str, done: Layout) -> BoneLayout:
    if old is not None and old.parent == parent:
        connected = old.connected
    else:
        connected = False
    head, tail = (old.head, old.tail) if old is not None else (None, None)
    if spec is not None:
        if spec.connected is not None:
            connected = spec.connected
        head, tail = spec.head or head, spec.tail or tail
    follows = connected and not (spec is not None and spec.head is not None)
    if parent and (head is None or follows):
        head = done[parent].tail
    return BoneLayout(name, head or (0.0, 0.0, 0.0), tail or (0.0, 0.0, 0.0), parent, connected)


def _misplaced(bone: BoneLayout, spec: BoneSpec | None, done: Layout, at: str) -> Findings:
    if bone.connected and not bone.parent:
        yield invalid(f"'{bone.name}' has no parent to be connected to", f"{at}/connected", "Name its parent.")
    elif bone.connected and not near(bone.head, done[bone.parent].tail):
        place = _shown(done[bone.parent].tail)
        message = f"'{bone.name}' is connected, but its head is not at the tail of '{bone.parent}', {place}"
        yield invalid(message, f"{at}/head", "Leave head out, or set connected to false.")
    if math.dist(bone.head, bone.tail) < SHORTEST:
        message = f"'{bone.name}' would have no length: head and tail are both {_shown(bone.tail)}"
        if spec is not None and spec.tail is not None:
            field = "tail"
        else:
            field = "head"
        yield invalid(message, f"{at}/{field}", "Put its tail where it is to end.")
    elif spec is not None and spec.z_axis is not None and _parallel(bone, spec.z_axis):
        message = f"z_axis runs along '{bone.name}', whose Y axis is there"
        yield invalid(message, f"{at}/z_axis", "Give a direction across the bone.")


def _doubled(specs: Sequence[BoneSpec]) -> Findings:
    first: dict[str, int] = {}
    for number, spec in enumerate(specs):
        if first.setdefault(spec.name, number) != number:
            message = f"/bones/{first[spec.name]} is named '{spec.name}' already"
            yield invalid(message, f"/bones/{number}/name", "Give each bone a name of its own.")


def _unknown_parents(layout: Layout, specs: Sequence[BoneSpec], known: set[str]) -> Findings:
    for number, spec in enumerate(specs):
        if spec.parent and spec.parent not in known:
            cure = did_you_mean(spec.parent, sorted(known - {spec.name}), otherwise="Add that bone to the list.")
            yield invalid(f"there is no bone named '{spec.parent}'", f"/bones/{number}/parent", cure)


def _incomplete(layout: Layout, specs: Sequence[BoneSpec]) -> Findings:
    for number, spec in enumerate(specs):
        if spec.name in layout:
            continue
        if spec.tail is None:
            yield invalid(f"a new bone needs 'tail'; '{spec.name}' is new", f"/bones/{number}/tail", "Add its tail.")
        if spec.head is None and not spec.parent:
            cure = "Add its head, or name the parent at whose tail it begins."
            yield invalid(
                f"a new bone without parent needs 'head'; '{spec.name}' is new", f"/bones/{number}/head", cure
            )


def _parents_first(names: Sequence[str], parents: Mapping[str, str]) -> list[str] | None:
    """The bones in an order in which each comes after its parent, otherwise as they are listed; None where there is a circle."""
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


def _in_circles(parents: Mapping[str, str]) -> set[str]:
    found: set[str] = set()
    for name in parents:
        seen: list[str] = []
        while name and name not in seen:
            seen.append(name)
            name = parents.get(name, "")
        if name:
            found.update(seen[seen.index(name) :])
    return found


def _parallel(bone: BoneLayout, direction: Sequence[float]) -> bool:
    along = [b - a for a, b in zip(bone.head, bone.tail, strict=True)]
    dot = sum(a * b for a, b in zip(along, direction, strict=True))
    return abs(dot) > 0.9999 * math.hypot(*along) * math.hypot(*direction)


def _shown(point: Sequence[float]) -> str:
    return "(" + ", ".join(f"{value:.6g}" for value in point) + ")"
