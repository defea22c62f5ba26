"""Checks settings of constraints against the scene, writes them to Blender, compares what Blender holds with them, and sums up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import Field

from blendwright.tool_api.arguments import Result
from blendwright.tool_api.scene import Block, Kind, Scene
from blendwright.tool_api.tool import Findings
from blendwright.tools.animation_data import channel_conflicts
from blendwright.tools.checks import differs
from blendwright.tools.constraint.inverse_kinematics import rest_pole_angle
from blendwright.tools.constraint.owner import Owner
from blendwright.tools.constraint.properties import properties
from blendwright.tools.constraint.settings import CURVE_TYPES, InverseKinematicsSettings
from blendwright.tools.world_space import IDENTITY, matrix_rows, nearly_equal_matrices, world_matrix
from blendwright.values.errors import StepError
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding, did_you_mean

AT = "/settings"
# Blender takes a length of nothing for none, and sets one.
SHORTEST = 1e-3
# A curve that is followed becomes a path.
WRITTEN_KINDS = (Kind.OBJECT, Kind.CURVE)


class ConstraintResult(Result):
    """A constraint as it is now."""

    object: str = Field(description="Name of the object.")
    bone: str | None = Field(default=None, description="Name of its bone that has the constraint, if one has.")
    constraint: str = Field(description="Name of the constraint.")
    stack: list[str] = Field(description="Names of all its constraints, in the order in which they work.")
    changed: bool = Field(description="False when everything was as asked already.")
    location: tuple[float, float, float] = Field(
        description="Where the object, or the head of the bone, stands in the world now, in metres."
    )


def constraint_result(owner: Owner, constraint: str, *, changed: bool) -> ConstraintResult:
    return ConstraintResult(
        object=owner.object.name,
        bone=owner.bone,
        constraint=constraint,
        stack=[each.name for each in owner.constraints],
        changed=changed,
        location=tuple(value + 0.0 for value in owner.matrix().translation),
    )


def missing_constraint(owner: Owner, name: str, at: str) -> Sequence[Finding]:
    """A finding when there is no constraint of that name."""
    names = [constraint.name for constraint in owner.constraints]
    if name in names:
        return ()
    listed = "It has " + (", ".join(f"'{there}'" for there in names) or "none") + "."
    cure = did_you_mean(name, names, otherwise=listed)
    return (Finding(Fault.TARGET_NOT_FOUND, f"{owner} has no constraint named '{name}'", at, cure),)


def animated_settings(scene: Scene, constraint: Block, settings: Any, common: Mapping[str, Any]) -> Findings:
    """Where a setting would not last, because keyframes or a driver have it."""
    for each in properties(settings) if settings is not None else ():
        path = constraint.path_from_id(each.attribute)
        yield from channel_conflicts(scene, constraint.id_data, path, f"{AT}/{each.name}")
    for name in common:
        yield from channel_conflicts(scene, constraint.id_data, constraint.path_from_id(name), f"/{name}")


def write(scene: Scene, constraint: Block, settings: Any, *, set_inverse: bool | None) -> None:
    """Write the given settings; the object must be open for writing."""
    if (name := getattr(settings, "target", None)) is not None:
        target = scene.require(Kind.OBJECT, name)
        if settings.type in CURVE_TYPES and not target.data.use_path:
            # Blender turns it on when the target is set, which nobody would record.
            scene.set(target.data, "use_path", True)
        constraint.target = target
    if (name := getattr(settings, "pole_target", None)) is not None:
        constraint.pole_target = scene.require(Kind.OBJECT, name)
    for each in properties(settings):
        setattr(constraint, each.attribute, each.value)
    if settings.type == "CHILD_OF":
        # Blender would set the inverse itself, when it evaluates the scene next.
        constraint.set_inverse_pending = False
        if constraint.owner_space != "WORLD":  # on a bone Blender begins in the space of its pose
            constraint.owner_space = "WORLD"
        if set_inverse is not None:
            constraint.inverse_matrix = _inverse(scene, constraint, set_inverse)


def differences(scene: Scene, constraint: Block, settings: Any, *, set_inverse: bool | None = None) -> Findings:
    """How a constraint differs from the given settings."""
    yield from differs("its type", settings.type, constraint.type, f"{AT}/type")
    if settings.type != constraint.type:
        return
    if (name := getattr(settings, "target", None)) is not None:
        target: Block = constraint.target
        yield from differs("its target", name, None if target is None else target.name, f"{AT}/target")
        if settings.type in CURVE_TYPES and target is not None:
            yield from differs("that the curve is a path", True, target.data.use_path, f"{AT}/target")
    if (name := getattr(settings, "pole_target", None)) is not None:
        pole: Block = constraint.pole_target
        yield from differs("its pole target", name, None if pole is None else pole.name, f"{AT}/pole_target")
    for each in properties(settings):
        yield from differs(f"its {each.name}", each.value, getattr(constraint, each.attribute), f"{AT}/{each.name}")
    if settings.type == "CHILD_OF" and set_inverse is not None and constraint.target is not None:
        expected = matrix_rows(_inverse(scene, constraint, set_inverse))
        if not nearly_equal_matrices(expected, matrix_rows(constraint.inverse_matrix)):
            yield from differs("that its inverse is set", True, False, f"{AT}/set_inverse")


def common_differences(owner: Owner, constraint: Block, common: Mapping[str, Any], index: int | None) -> Findings:
    """How influence and the like, and its place in the stack where one is given, differ from what was requested."""
    for name, value in common.items():
        yield from differs(f"its {name}", value, getattr(constraint, name), f"/{name}")
    if index is not None:
        yield from differs("its place", index, owner.constraints.find(constraint.name), "/index")


def refuse_jump(owner: Owner, before: Block) -> None:
    """Raises when what was to stay in place has moved."""
    if not nearly_equal_matrices(matrix_rows(before), matrix_rows(owner.matrix())):
        message = f"{owner} would not stay in place: the inverse of a part of the axes is none"
        cure = "Let it follow in all axes, or set set_inverse to false."
        raise StepError.of(Fault.SCENE_CONFLICT, message, at=f"{AT}/set_inverse", cure=cure)


def completed(owner: Owner, settings: Any) -> Any:
    """The settings of a new constraint, with those that only the scene can tell."""
    settings = settings.for_new()
    if settings.type == "STRETCH_TO" and settings.rest_length is None and settings.target is not None:
        # Blender would take the distance when it evaluates the scene next.
        return settings.model_copy(update={"rest_length": _rest_length(owner, settings)})
    if isinstance(settings, InverseKinematicsSettings) and settings.pole_angle_deg is None:
        angle = rest_pole_angle(owner, settings)
        if angle is None:
            return settings
        return settings.model_copy(update={"pole_angle_deg": angle})
    return settings


def _rest_length(owner: Owner, settings: Any) -> float:
    if owner.bone is not None:
        return owner.object.data.bones[owner.bone].length
    world = world_matrix(owner.scene, owner.object)
    target = owner.scene.require(Kind.OBJECT, settings.target, f"{AT}/target")
    place = target_matrix(owner.scene, target, settings.subtarget).translation
    # Blender reckons in the scale of what stretches.
    _, _, scale = world.decompose()
    return max((place - world.translation).length / max(abs(scale.y), SHORTEST), SHORTEST)


def _inverse(scene: Scene, constraint: Block, wanted: bool) -> Block:
    if not wanted or constraint.target is None:
        return scene.matrix(IDENTITY)
    return target_matrix(scene, constraint.target, constraint.subtarget).inverted()


def target_matrix(scene: Scene, target: Block, part: str | None) -> Block:
    """Where a target, or the bone of it that is meant, stands in the world."""
    matrix = world_matrix(scene, target)
    if part and target.type == "ARMATURE" and part in target.pose.bones:
        return matrix @ scene.evaluated(target).pose.bones[part].matrix
    return matrix
