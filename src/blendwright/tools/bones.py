"""Bones of an armature object as tools name them: found or told to be missing, and where they stand."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from blendwright.tool_api import Block, Scene
from blendwright.tools.checks import conflict
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding, did_you_mean


def existing_bone(scene: Scene, obj: Block, name: str, at: str) -> Generator[Finding, None, Block | None]:
    """For `check`: the pose bone of that name; a finding and None where the object has none."""
    if obj.type != "ARMATURE":
        yield conflict(f"'{obj.name}' is of type {obj.type}, which has no bones", at, "Name an armature.")
        return None
    if name not in obj.data.bones:
        names = [bone.name for bone in obj.data.bones]
        cure = did_you_mean(name, names, otherwise=f"It has {len(names)} bones.")
        yield Finding(Fault.TARGET_NOT_FOUND, f"'{obj.name}' has no bone named '{name}'", at, cure)
        return None
    return pose_bone(scene, obj, name)


def pose_bone(scene: Scene, obj: Block, name: str) -> Block:
    """The pose bone of that name. A new armature object has no pose until it is evaluated; a hidden one has none for long."""
    if obj.pose is None or name not in obj.pose.bones:
        scene.build_pose(obj)
    pose: Block = obj.pose
    return pose.bones[name]


def bone_ends(scene: Scene, obj: Block, name: str) -> tuple[Any, Any] | None:
    """Where head and tail of a posed bone stand in the world, constraints and IK included; None where the object is not evaluated."""
    evaluated = scene.evaluated(obj)
    if not evaluated.is_evaluated:
        return None
    bone = evaluated.pose.bones[name]
    return evaluated.matrix_world @ bone.head, evaluated.matrix_world @ bone.tail
