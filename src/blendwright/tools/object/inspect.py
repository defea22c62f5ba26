"""Tool object.inspect, with the conversion of Blender structs to plain data: settings and datablocks by name."""

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

# Properties that other fields report, that concern the user interface, or that vary with the last evaluation.
LEFT_OUT = frozenset({
    "rna_type", "name", "type", "show_expanded", "is_active", "is_override_data", "persistent_uid", "execution_time",
    "use_pin_to_last", "properties",
})  # fmt: skip
PLAIN = ("BOOLEAN", "INT", "FLOAT", "STRING", "ENUM")
CUBE = ("mesh.create_primitive", {"kind": "cube", "name": "Box", "location": [0, 0, 1]})
# Numbers beyond single precision are null, because JSON cannot express them.
Numbers = list[Number]


class InspectArgs(Args):
    object: ObjectName = renamed("object", "name", description="Name of the object.")


class Bounds(Result):
    minimum: Numbers = Field(description="Smallest X, Y and Z in metres.")
    maximum: Numbers = Field(description="Largest X, Y and Z in metres.")


class ModifierReport(Result):
    name: str = Field(description="Name of the modifier.")
    type: str = Field(description="Blender's type of modifier.")
    settings: dict[str, Any] = Field(description="Settings by Blender's names; datablocks by their names.")
    inputs: dict[str, Any] = Field(description="Inputs of a geometry-nodes modifier, by socket identifier.")


class ConstraintReport(Result):
    name: str = Field(description="Name of the constraint.")
    type: str = Field(description="Blender's type of constraint.")
    settings: dict[str, Any] = Field(description="Settings by Blender's names; datablocks by their names.")


class BoneReport(Result):
    name: str = Field(description="Name of the bone.")
    parent: str | None = Field(description="Name of the parent bone, if any.")
    head: Numbers = Field(description="Position of the head at rest, in the armature's own space.")
    tail: Numbers = Field(description="Position of the tail at rest.")
    deform: bool = Field(description="Whether the bone deforms meshes.")
    constraints: list[ConstraintReport] = Field(description="Constraints of the bone, first to last.")
    properties: dict[str, Any] = Field(description="Custom properties of the bone.")


class ObjectReport(Result):
    object: str = Field(description="Name of the object.")
    type: str = Field(description="Blender's type of object.")
    data: str | None = Field(description="Name of the object's data, if any.")
    location: Numbers = Field(description="Position in metres, in the space of its parent.")
    rotation_mode: str = Field(description="The rotation that Blender uses: an Euler order, QUATERNION or AXIS_ANGLE.")
    rotation_euler_deg: Numbers = Field(description="Rotation about X, Y and Z in degrees, in every mode.")
    rotation_quaternion: Numbers = Field(description="Rotation as W, X, Y, Z, in every mode.")
    scale: Numbers = Field(description="Scale along X, Y and Z.")
    matrix_world: list[Numbers] = Field(description="World matrix, row by row.")
    dimensions: Numbers = Field(
        description="Size along the object's axes in metres, with modifiers and instances; without them if hidden."
    )
    bounds: Bounds | None = Field(
        description="Bounding box in the world, with modifiers and instances; without them if the object is hidden. Null for "
        "an object without extent."
    )
    parent: str | None = Field(description="Name of the parent, if any.")
    children: list[str] = Field(description="Names of the child objects.")
    collections: list[str] = Field(description="Names of the collections that contain the object.")
    materials: list[str | None] = Field(description="Names of the materials in the object's slots, in order.")
    modifiers: list[ModifierReport] = Field(description="Modifiers, first to last.")
    constraints: list[ConstraintReport] = Field(description="Constraints, first to last.")
    properties: dict[str, Any] = Field(description="Custom properties.")
    bones: list[BoneReport] = Field(description="Bones of an armature, parents first.")
    vertex_groups: list[str] = Field(description="Names of the vertex groups.")
    shape_keys: dict[str, Number] = Field(description="Shape keys with their values, the basis first.")
    visible_viewport: bool = Field(description="Whether viewports show the object.")
    visible_render: bool = Field(description="Whether renders show the object.")
    content_hash: str = Field(description="Content hash of the object, in hex.")
    data_hash: str | None = Field(description="Content hash of the object's own data, in hex.")


class Inspect(Tool[InspectArgs, ObjectReport]):
    """Return all facts about one object: transform, size, bounds, parent, collections, materials, modifiers, constraints,
    bones, vertex groups, shape keys, custom properties, hashes.
    """

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
        rotation = orientation(scene, obj)
        reach = Reach(scene)
        data_hash: str | None = None
        if own_data(obj) is not None:
            data_hash = scene.content_hash(obj.data)
        return ObjectReport(
            object=obj.name,
            type=obj.type,
            data=_name_or_none(obj.data),
            location=_plain_value(obj.location),
            rotation_mode=obj.rotation_mode,
            rotation_euler_deg=[number(math.degrees(angle)) for angle in _euler_angles(obj, rotation)],
            rotation_quaternion=_plain_value(rotation),
            scale=_plain_value(obj.scale),
            matrix_world=[list(vector4(row)) for row in world_matrix(scene, obj)],
            dimensions=list(vector3(reach.own_size(obj))),
            bounds=_bounds(reach, obj),
            parent=_name_or_none(obj.parent),
            children=sorted(child.name for child in obj.children),
            collections=[home.name for home in scene.collections_of(obj)],
            materials=[_name_or_none(slot.material) for slot in obj.material_slots],
            modifiers=[_modifier(modifier) for modifier in obj.modifiers],
            constraints=[_constraint(constraint) for constraint in obj.constraints],
            properties=_custom_properties(obj),
            bones=_bones(obj),
            vertex_groups=[group.name for group in obj.vertex_groups],
            shape_keys=_shape_keys(obj),
            visible_viewport=not obj.hide_viewport,
            visible_render=not obj.hide_render,
            content_hash=scene.content_hash(obj),
            data_hash=data_hash,
        )

    def verify(self, scene: Scene, args: InspectArgs, result: ObjectReport) -> Findings:
        obj = scene.require(Kind.OBJECT, args.object, "/object")
        yield from differs("its content hash", result.content_hash, scene.content_hash(obj), "/object")


def _name_or_none(block: Block | None) -> str | None:
    if block is None:
        return None
    return block.name


def _euler_angles(obj: Block, rotation: Block) -> list[float]:
    if obj.rotation_mode in ("QUATERNION", "AXIS_ANGLE"):
        return list(rotation.to_euler())
    return list(obj.rotation_euler)


def _bounds(reach: Reach, obj: Block) -> Bounds | None:
    box = reach.bounds(obj)
    if box is None:
        return None
    return Bounds(minimum=list(vector3(box.low)), maximum=list(vector3(box.high)))


def _modifier(modifier: Block) -> ModifierReport:
    stored: dict[str, Any] = {}
    if modifier.type == "NODES":
        stored = stored_inputs.all_of(modifier)
    inputs = {key: _plain_value(stored[key]) for key in sorted(stored)}
    return ModifierReport(name=modifier.name, type=modifier.type, settings=_plain_settings(modifier), inputs=inputs)


def _constraint(constraint: Block) -> ConstraintReport:
    return ConstraintReport(name=constraint.name, type=constraint.type, settings=_plain_settings(constraint))


def _bones(obj: Block) -> list[BoneReport]:
    if obj.type != "ARMATURE":
        return []
    pose_bones: dict[str, Block] = {}
    if obj.pose is not None:
        pose_bones = {bone.name: bone for bone in obj.pose.bones}
    return [_bone(bone, pose_bones.get(bone.name)) for bone in obj.data.bones]


def _bone(bone: Block, pose_bone: Block | None) -> BoneReport:
    constraints: list[ConstraintReport] = []
    properties: dict[str, Any] = {}
    if pose_bone is not None:
        constraints = [_constraint(constraint) for constraint in pose_bone.constraints]
        properties = _custom_properties(pose_bone)
    return BoneReport(
        name=bone.name,
        parent=_name_or_none(bone.parent),
        head=list(vector3(bone.head_local)),
        tail=list(vector3(bone.tail_local)),
        deform=bone.use_deform,
        constraints=constraints,
        properties=properties,
    )


def _shape_keys(obj: Block) -> dict[str, Any]:
    keys: Block = getattr(obj.data, "shape_keys", None)
    if keys is None:
        return {}
    return {key.name: number(key.value) for key in keys.key_blocks}


def _plain_settings(struct: Block) -> dict[str, Any]:
    """Return the plain settings of a struct by name. The name of a datablock replaces a reference to it."""
    values: dict[str, Any] = {}
    for prop in sorted(struct.bl_rna.properties, key=lambda prop: prop.identifier):
        name: str = prop.identifier
        if name in LEFT_OUT or name.startswith("show_"):
            continue
        if prop.type in PLAIN and not prop.is_readonly:
            values[name] = _plain_value(getattr(struct, name))
        elif prop.type == "POINTER":
            value = getattr(struct, name)
            if value is None or hasattr(value, "users"):
                values[name] = _name_or_none(value)
    return values


def _custom_properties(struct: Block) -> dict[str, Any]:
    """Return the custom properties of a struct by name."""
    runtime = {prop.identifier for prop in struct.bl_rna.properties if prop.is_runtime}
    return {key: _plain_value(struct[key]) for key in sorted(struct.keys()) if key not in runtime}


def _plain_value(value: Any) -> Any:
    """Return a value in a form that JSON can express. Numbers without a finite value become None."""
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
