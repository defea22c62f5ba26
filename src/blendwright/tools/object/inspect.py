"""object.inspect, and how structures inside Blender become plain data: settings by name, datablocks by their names."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, cast

from pydantic import Field

from blendwright.tool_api import Args, Block, Example, Findings, Kind, Result, Scene, Tool
from blendwright.tool_api.arguments import renamed
from blendwright.tool_api.mentions import ObjectName
from blendwright.tool_api.promises import READ_ONLY
from blendwright.tools.bounding_boxes import Reach
from blendwright.tools.checks import differs, existing_object
from blendwright.tools.modifier import stored_inputs
from blendwright.tools.object_creation import own_data
from blendwright.tools.scene.plain_values import number, vector3, vector4
from blendwright.tools.scene.snapshot_model import Number
from blendwright.tools.world_space import orientation, world_matrix

# Said elsewhere, about the user interface, or about how long the last evaluation took.
LEFT_OUT = frozenset({
    "rna_type", "name", "type", "show_expanded", "is_active", "is_override_data", "persistent_uid", "execution_time",
    "use_pin_to_last", "properties",
})  # fmt: skip
PLAIN = ("BOOLEAN", "INT", "FLOAT", "STRING", "ENUM")
CUBE = ("mesh.create_primitive", {"kind": "cube", "name": "Box", "location": [0, 0, 1]})
# Numbers beyond single precision are null: JSON has no word for them.
Numbers = list[Number]


class InspectArgs(Args):
    object: ObjectName = renamed("object", "name", description="Name of the object.")


class Bounds(Result):
    minimum: Numbers = Field(description="Smallest X, Y and Z in metres.")
    maximum: Numbers = Field(description="Largest X, Y and Z in metres.")


class ModifierReport(Result):
    name: str = Field(description="Name of the modifier.")
    type: str = Field(description="Blender's type of modifier.")
    settings: dict[str, Any] = Field(description="Its settings by Blender's names; datablocks by their names.")
    inputs: dict[str, Any] = Field(description="The inputs of a geometry-nodes modifier by socket identifier.")


class ConstraintReport(Result):
    name: str = Field(description="Name of the constraint.")
    type: str = Field(description="Blender's type of constraint.")
    settings: dict[str, Any] = Field(description="Its settings by Blender's names; datablocks by their names.")


class BoneReport(Result):
    name: str = Field(description="Name of the bone.")
    parent: str | None = Field(description="Name of the bone that it follows, if it follows one.")
    head: Numbers = Field(description="Where it begins at rest, in the armature's own space.")
    tail: Numbers = Field(description="Where it ends at rest.")
    deform: bool = Field(description="Whether it moves meshes.")
    constraints: list[ConstraintReport] = Field(description="Its constraints, first to last.")
    properties: dict[str, Any] = Field(description="Its custom properties.")


class ObjectReport(Result):
    object: str = Field(description="Name of the object.")
    type: str = Field(description="Blender's type of object.")
    data: str | None = Field(description="Name of its data, when it has any.")
    location: Numbers = Field(description="Position in metres, in the space of its parent.")
    rotation_mode: str = Field(description="Which rotation counts: an Euler order, QUATERNION or AXIS_ANGLE.")
    rotation_euler_deg: Numbers = Field(description="Its rotation about X, Y and Z in degrees, whatever the mode.")
    rotation_quaternion: Numbers = Field(description="Its rotation as W, X, Y, Z, whatever the mode.")
    scale: Numbers = Field(description="Scale along X, Y and Z.")
    matrix_world: list[Numbers] = Field(description="World matrix, row by row.")
    dimensions: Numbers = Field(
        description="Size along its own axes in metres, modifiers and instances included; without them when it is hidden."
    )
    bounds: Bounds | None = Field(
        description="Box around it in the world, modifiers and instances included; without them when it is hidden, null for "
        "what has no extent."
    )
    parent: str | None = Field(description="Name of its parent, when it has one.")
    children: list[str] = Field(description="Names of the objects that follow it.")
    collections: list[str] = Field(description="Names of the collections that hold it.")
    materials: list[str | None] = Field(description="Names of the materials in its slots, in order.")
    modifiers: list[ModifierReport] = Field(description="Its modifiers, first to last.")
    constraints: list[ConstraintReport] = Field(description="Its constraints, first to last.")
    properties: dict[str, Any] = Field(description="Its custom properties.")
    bones: list[BoneReport] = Field(description="The bones of an armature, parents first.")
    vertex_groups: list[str] = Field(description="Names of its vertex groups.")
    shape_keys: dict[str, Number] = Field(description="Its shape keys with their values, the basis first.")
    visible_viewport: bool = Field(description="Whether it is shown in viewports.")
    visible_render: bool = Field(description="Whether it is shown in renders.")
    content_hash: str = Field(description="Content hash of the object, in hex.")
    data_hash: str | None = Field(description="Content hash of its own data, in hex.")


class Inspect(Tool[InspectArgs, ObjectReport]):
    """Everything about one object: transform, size, bounds, parent, collections, materials, modifiers, constraints,
    bones, vertex groups, shape keys, custom properties, hashes."""

    name = "object.inspect"
    promises = READ_ONLY.needs("scene_read")
    examples = (
        Example({"object": "Box"}, CUBE),
        Example(
            {"object": "Rig"},
            ("armature.create", {"name": "Rig", "bones": [{"name": "Hand", "head": [0, 0, 0], "tail": [0, 0, 1]}]}),
        ),
    )

    def check(self, scene: Scene, args: InspectArgs) -> Findings:
        yield from existing_object(scene, args.object, "/object")

    def apply(self, scene: Scene, args: InspectArgs) -> ObjectReport:
        obj = scene.require(Kind.OBJECT, args.object, "/object")
        turn = orientation(scene, obj)
        reach = Reach(scene)
        return ObjectReport(
            object=obj.name,
            type=obj.type,
            data=None if obj.data is None else obj.data.name,
            location=_plain_value(obj.location),
            rotation_mode=obj.rotation_mode,
            rotation_euler_deg=[number(math.degrees(angle)) for angle in _angles(obj, turn)],
            rotation_quaternion=_plain_value(turn),
            scale=_plain_value(obj.scale),
            matrix_world=[list(vector4(row)) for row in world_matrix(scene, obj)],
            dimensions=list(vector3(reach.own_size(obj))),
            bounds=_bounds(reach, obj),
            parent=None if obj.parent is None else obj.parent.name,
            children=sorted(child.name for child in obj.children),
            collections=[home.name for home in scene.collections_of(obj)],
            materials=[None if slot.material is None else slot.material.name for slot in obj.material_slots],
            modifiers=[_modifier(modifier) for modifier in obj.modifiers],
            constraints=[_constraint(constraint) for constraint in obj.constraints],
            properties=_custom_properties(obj),
            bones=_bones(obj),
            vertex_groups=[group.name for group in obj.vertex_groups],
            shape_keys=_shape_keys(obj),
            visible_viewport=not obj.hide_viewport,
            visible_render=not obj.hide_render,
            content_hash=scene.content_hash(obj),
            data_hash=None if own_data(obj) is None else scene.content_hash(obj.data),
        )

    def verify(self, scene: Scene, args: InspectArgs, result: ObjectReport) -> Findings:
        obj = scene.require(Kind.OBJECT, args.object, "/object")
        yield from differs("its content hash", result.content_hash, scene.content_hash(obj), "/object")


def _angles(obj: Block, turn: Block) -> list[float]:
    return list(turn.to_euler() if obj.rotation_mode in ("QUATERNION", "AXIS_ANGLE") else obj.rotation_euler)


def _bounds(reach: Reach, obj: Block) -> Bounds | None:
    box = reach.bounds(obj)
    if box is None:
        return None
    return Bounds(minimum=list(vector3(box.low)), maximum=list(vector3(box.high)))


def _modifier(modifier: Block) -> ModifierReport:
    if modifier.type == "NODES":
        held = stored_inputs.all_of(modifier)
    else:
        held = {}
    inputs = {key: _plain_value(held[key]) for key in sorted(held)}
    return ModifierReport(name=modifier.name, type=modifier.type, settings=_plain_settings(modifier), inputs=inputs)


def _constraint(constraint: Block) -> ConstraintReport:
    return ConstraintReport(name=constraint.name, type=constraint.type, settings=_plain_settings(constraint))


def _bones(obj: Block) -> list[BoneReport]:
    if obj.type != "ARMATURE":
        return []
    posed: dict[str, Block]
    if obj.pose is None:
        posed = {}
    else:
        posed = {bone.name: bone for bone in obj.pose.bones}
    return [
        BoneReport(
            name=bone.name,
            parent=None if bone.parent is None else bone.parent.name,
            head=list(vector3(bone.head_local)),
            tail=list(vector3(bone.tail_local)),
            deform=bone.use_deform,
            constraints=[_constraint(each) for each in posed[bone.name].constraints] if bone.name in posed else [],
            properties=_custom_properties(posed[bone.name]) if bone.name in posed else {},
        )
        for bone in obj.data.bones
    ]


def _shape_keys(obj: Block) -> dict[str, Any]:
    keys: Block = getattr(obj.data, "shape_keys", None)
    if keys is None:
        return {}
    return {key.name: number(key.value) for key in keys.key_blocks}


def _plain_settings(struct: Block) -> dict[str, Any]:
    """The plain settings of a structure by name; a datablock that it points at is given by its name."""
    values: dict[str, Any] = {}
    for prop in sorted(struct.bl_rna.properties, key=lambda prop: prop.identifier):
        name: str = prop.identifier
        if name in LEFT_OUT or name.startswith("show_"):
            continue
        if prop.type in PLAIN:
            if not prop.is_readonly:
                values[name] = _plain_value(getattr(struct, name))
        elif prop.type == "POINTER":
            value = getattr(struct, name)
            if value is None or hasattr(value, "users"):
                if value is None:
                    values[name] = None
                else:
                    values[name] = value.name
    return values


def _custom_properties(struct: Block) -> dict[str, Any]:
    """The custom properties of a structure by name."""
    runtime = {prop.identifier for prop in struct.bl_rna.properties if prop.is_runtime}
    return {key: _plain_value(struct[key]) for key in sorted(struct.keys()) if key not in runtime}


def _plain_value(value: Any) -> Any:
    """A value as JSON can say it."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        # JSON has no infinity; Blender uses huge numbers for "no limit", which are finite.
        if value - value == 0.0:
            return value + 0.0
        return None
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, (set, frozenset)):
        return sorted(cast("Iterable[str]", value))
    if hasattr(value, "to_dict"):
        return _mapping(value.to_dict())
    if isinstance(value, Mapping):
        return _mapping(cast("Mapping[str, Any]", value))
    if hasattr(value, "users"):
        return value.name
    if hasattr(value, "to_list"):
        value = value.to_list()
    return [_plain_value(item) for item in value]


def _mapping(values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: _plain_value(values[key]) for key in sorted(values)}
