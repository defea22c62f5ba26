"""Access to the bones of an armature object: lookup by name, and their positions."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from blendwright.tool_api import Block, Scene
from blendwright.tools.checks import conflict
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding, did_you_mean


def existing_bone(scene: Scene, obj: Block, name: str, at: str) -> Generator[Finding, None, Block | None]:
    """Return the pose bone of that name, or yield a finding and return None. For use in `check`.

    `at` is the JSON pointer of the argument to name.
    """
    if obj.type != "ARMATURE":
        yield conflict(f"'{obj.name}' is of type {obj.type}, which has no bones", at, "Name an armature.")
        return None
    if name not in obj.data.bones:
        names = [bone.name for bone in obj.data.bones]
        fix = did_you_mean(name, names, otherwise=f"It has {len(names)} bones.")
        yield Finding(Fault.TARGET_NOT_FOUND, f"'{obj.name}' has no bone named '{name}'", at, fix)
        return None
    return pose_bone(scene, obj, name)


def pose_bone(scene: Scene, obj: Block, name: str) -> Block:
    """Return the pose bone of that name, and build the pose first if Blender has not done so.

    A new armature object has no pose until Blender evaluates it, and a hidden one stays without a pose.
    """
    if obj.pose is None or name not in obj.pose.bones:
        scene.build_pose(obj)
    pose: Block = obj.pose
    return pose.bones[name]


def bone_ends(scene: Scene, obj: Block, name: str) -> tuple[Any, Any] | None:
    """Return the world positions of a posed bone's head and tail, after constraints and IK.

    Return None if Blender does not evaluate the object.
    """
    evaluated = scene.evaluated(obj)
    if not evaluated.is_evaluated:
        return None
    bone = evaluated.pose.bones[name]
    return evaluated.matrix_world @ bone.head, evaluated.matrix_world @ bone.tail
