"""Owners of constraints: an object, or one bone of an armature."""

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

BONE = "Bone that has the constraint. Default: the object itself has it."


@dataclass(frozen=True, slots=True)
class Owner:
    """The object or bone that has constraints; `bone` is None for the object itself."""

    scene: Scene
    object: Block
    bone: str | None = None

    @property
    def part(self) -> Block:
        """Return the object or pose bone that has the constraints. Look it up at each access, because references become
        stale.
        """
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
        """Return the world matrix, including constraints if Blender evaluates the object."""
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
    """Return the owner that the arguments `object` and `bone` name, or yield findings and return None. For use in
    `check`.
    """
    obj = yield from existing_object(scene, args.object, "/object")
    if obj is None:
        return None
    if args.bone is not None and (yield from existing_bone(scene, obj, args.bone, "/bone")) is None:
        return None
    return Owner(scene, obj, args.bone)


def required_owner(scene: Scene, args: Any) -> Owner:
    """Return the owner that the arguments name; raise StepError if the object is missing. For use in `apply` and
    `verify`.
    """
    return Owner(scene, required_object(scene, args.object, "/object"), args.bone)


def constraint_mentions(args: Any) -> Iterable[Mention]:
    """Yield the mentions of the arguments; a bone's constraint includes the bone's name, because two bones may use one
    name.
    """
    for mention in mentions(args):
        if mention.kind == CONSTRAINT and args.bone is not None:
            yield mention._replace(name=f"{args.bone}: {mention.name}")
        else:
            yield mention
