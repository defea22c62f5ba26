"""What has constraints: an object, or one of the bones of an armature."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from dataclasses import dataclass
from typing import Any

from blendwright.tool_api.mentions import CONSTRAINT, Mention, mentions
from blendwright.tool_api.scene import Block, Scene
from blendwright.tools.bones import existing_bone, pose_bone
from blendwright.tools.checks import existing_object, required_object
from blendwright.tools.constraint.dependencies import Node
from blendwright.tools.world_space import world_matrix
from blendwright.values.findings import Finding

BONE = "Bone of an armature that has the constraint; the object itself when left out."


@dataclass(frozen=True, slots=True)
class Owner:
    """An object, and the name of its bone where that is meant."""

    scene: Scene
    object: Block
    bone: str | None = None

    @property
    def part(self) -> Block:
        """What the constraints are on: the object or the pose bone. Looked up each time, since references become stale."""
        if self.bone is None:
            return self.object
        return pose_bone(self.scene, self.object, self.bone)

    @property
    def constraints(self) -> Block:
        return self.part.constraints

    @property
    def node(self) -> Node:
        return self.object, self.bone or ""

    def __str__(self) -> str:
        if self.bone is None:
            return f"object '{self.object.name}'"
        return f"bone '{self.bone}' of '{self.object.name}'"

    def matrix(self) -> Block:
        """Where it stands in the world, constraints included as far as Blender evaluates it."""
        world = world_matrix(self.scene, self.object)
        if self.bone is None:
            return world
        evaluated = self.scene.evaluated(self.object)
        if evaluated.is_evaluated:
            bones = evaluated.pose.bones
        else:
            bones = self.object.pose.bones
        return world @ bones[self.bone].matrix


def existing_owner(scene: Scene, args: Any) -> Generator[Finding, None, Owner | None]:
    """For `check`: what the arguments `object` and `bone` name; findings and None where it is not there."""
    obj = yield from existing_object(scene, args.object, "/object")
    if obj is None:
        return None
    if args.bone is not None and (yield from existing_bone(scene, obj, args.bone, "/bone")) is None:
        return None
    return Owner(scene, obj, args.bone)


def required_owner(scene: Scene, args: Any) -> Owner:
    """For `apply` and `verify`."""
    return Owner(scene, required_object(scene, args.object, "/object"), args.bone)


def constraint_mentions(args: Any) -> Iterable[Mention]:
    """What the arguments name; constraints of two bones may have one name."""
    for mention in mentions(args):
        if mention.kind == CONSTRAINT and args.bone is not None:
            yield mention._replace(name=f"{args.bone}: {mention.name}")
        else:
            yield mention
