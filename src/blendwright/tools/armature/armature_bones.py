"""Bones of an armature in Blender: reading, writing from a list, comparison with a list, and users of a bone."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from blendwright.tool_api import Block, Findings, Kind, Point, Scene
from blendwright.tools.armature.bones import PLAIN, BoneLayout, BoneSpec, Layout, near, plain_settings
from blendwright.tools.checks import differs

# Largest difference in radians between angles that count as equal.
ANGLE_TOLERANCE = 1e-4


def layout_of(armature: Block) -> Layout:
    """Return the rest positions and parents of an armature's bones, by name."""
    return {bone.name: _layout(bone) for bone in armature.bones}


def _layout(bone: Block) -> BoneLayout:
    parent = ""
    if bone.parent is not None:
        parent = bone.parent.name
    return BoneLayout(bone.name, _point(bone.head_local), _point(bone.tail_local), parent, bool(bone.use_connect))


def _point(vector: Sequence[float]) -> Point:
    """Return a vector as plain numbers, without negative zeros."""
    x, y, z = vector
    return x + 0.0, y + 0.0, z + 0.0


def write_bones(
    scene: Scene, armature: Block, wanted: Layout, specs: Sequence[BoneSpec], removed: Sequence[str] = ()
) -> None:
    """Change an armature's bones to a layout. All other settings are written only for the bones in `specs`.

    `wanted` must list parents before their children.
    """
    with scene.edit_bones(armature) as bones:
        for name in removed:
            bones.remove(bones[name])
        for name in wanted:
            if name not in bones:
                bones.new(name)
        for name, bone in wanted.items():
            _write_layout(bones, bones[name], bone)
        for spec in specs:
            _write_spec(scene, bones[spec.name], spec)
    for spec in specs:
        if spec.collections is not None:
            _assign_collections(armature, armature.bones[spec.name], spec.collections)


def _write_layout(bones: Block, edit_bone: Block, bone: BoneLayout) -> None:
    """Write a bone's parent, head and tail. Parents must come first, because a connected bone moves its parent's tail."""
    parent = None
    if bone.parent:
        parent = bones[bone.parent]
    if edit_bone.parent != parent:
        edit_bone.use_connect = False
        edit_bone.parent = parent
    if edit_bone.use_connect and not bone.connected:
        edit_bone.use_connect = False
    # Leave points that are already correct unchanged to the last digit.
    if not near(edit_bone.head, bone.head) or edit_bone.length == 0.0:
        edit_bone.head = bone.head
    if not near(edit_bone.tail, bone.tail):
        edit_bone.tail = bone.tail
    if bone.connected and not edit_bone.use_connect:
        edit_bone.use_connect = True


def _write_spec(scene: Scene, edit_bone: Block, spec: BoneSpec) -> None:
    if spec.roll_deg is not None:
        edit_bone.roll = math.radians(spec.roll_deg)
    elif spec.z_axis is not None:
        edit_bone.align_roll(scene.vector(spec.z_axis))
    for name, value in plain_settings(spec).items():
        setattr(edit_bone, PLAIN[name], value)


def _assign_collections(armature: Block, bone: Block, names: Sequence[str]) -> None:
    for collection in list(bone.collections):
        if collection.name not in names:
            collection.unassign(bone)
    present = {collection.name for collection in bone.collections}
    for name in names:
        collection = armature.collections_all.get(name) or armature.collections.new(name)
        if name not in present:
            collection.assign(bone)


def bone_differences(scene: Scene, armature: Block, wanted: Layout, specs: Sequence[BoneSpec]) -> Findings:
    """Yield findings where an armature differs from a layout, or its bones from their specs."""
    pointers = {spec.name: f"/bones/{number}" for number, spec in enumerate(specs)}
    actual_layout = layout_of(armature)
    for name in sorted(wanted.keys() - actual_layout.keys()):
        yield from differs(f"the presence of bone '{name}'", True, False, pointers.get(name, "/bones"))
    for name in sorted(actual_layout.keys() - wanted.keys()):
        yield from differs(f"the presence of bone '{name}'", False, True, "/bones")
    for name, bone in wanted.items():
        if name not in actual_layout:
            continue
        actual, at = actual_layout[name], pointers.get(name, "/bones")
        for part in ("head", "tail"):
            if not near(getattr(bone, part), getattr(actual, part)):
                yield from differs(
                    f"the {part} of '{name}'", getattr(bone, part), getattr(actual, part), f"{at}/{part}"
                )
        yield from differs(f"the parent of '{name}'", bone.parent, actual.parent, f"{at}/parent")
        yield from differs(f"that '{name}' is connected", bone.connected, actual.connected, f"{at}/connected")
    for spec in specs:
        if spec.name in actual_layout:
            yield from _spec_differences(scene, armature.bones[spec.name], spec, pointers[spec.name])


def _spec_differences(scene: Scene, bone: Block, spec: BoneSpec, at: str) -> Findings:
    for name, value in plain_settings(spec).items():
        yield from differs(f"{name} of '{bone.name}'", value, getattr(bone, PLAIN[name]), f"{at}/{name}")
    if spec.collections is not None:
        actual = sorted(collection.name for collection in bone.collections)
        yield from differs(
            f"the collections of '{bone.name}'", sorted(set(spec.collections)), actual, f"{at}/collections"
        )
    matrix = bone.matrix_local.to_3x3()
    if spec.roll_deg is not None:
        _, roll = bone.AxisRollFromMatrix(matrix)
        if abs(math.remainder(math.radians(spec.roll_deg) - roll, math.tau)) > ANGLE_TOLERANCE:
            yield from differs(f"the roll of '{bone.name}'", spec.roll_deg, math.degrees(roll), f"{at}/roll_deg")
    elif spec.z_axis is not None:
        z_axis = scene.vector(spec.z_axis)
        z_axis -= matrix.col[1] * z_axis.dot(matrix.col[1])
        if z_axis.angle(matrix.col[2], math.pi) > ANGLE_TOLERANCE * 10:
            yield from differs(f"the Z axis of '{bone.name}'", spec.z_axis, tuple(matrix.col[2]), f"{at}/z_axis")


def uses_of_bones(scene: Scene, armature: Block, names: set[str]) -> Iterator[tuple[str, str]]:
    """Yield each named bone that is in use, with a phrase that describes the use. Uses by the named bones themselves do
    not count.
    """
    for obj in scene.blocks(Kind.OBJECT):
        parent: Block = obj.parent
        if parent is not None and parent.data == armature and obj.parent_type == "BONE" and obj.parent_bone in names:
            yield obj.parent_bone, f"'{obj.name}' follows it"
        for owner, constraint in _constraints(obj):
            if obj.data == armature and owner in names:
                continue
            for target, part in _targets(constraint):
                if target is not None and target.data == armature and part in names:
                    yield part, f"constraint '{constraint.name}' of '{owner or obj.name}' aims at it"


def _constraints(obj: Block) -> Iterator[tuple[str, Any]]:
    yield from (("", constraint) for constraint in obj.constraints)
    if obj.pose is None:
        return
    for bone in obj.pose.bones:
        yield from ((bone.name, constraint) for constraint in bone.constraints)


def _targets(constraint: Block) -> Iterator[tuple[Block, str]]:
    yield getattr(constraint, "target", None), getattr(constraint, "subtarget", "")
    yield getattr(constraint, "pole_target", None), getattr(constraint, "pole_subtarget", "")
    targets: Any = getattr(constraint, "targets", ())
    yield from ((target.target, target.subtarget) for target in targets)
