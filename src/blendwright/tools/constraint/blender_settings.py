"""Settings of constraints in Blender: checks against the scene, writing, comparison, and the tools' result."""

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
from blendwright.tools.constraint.properties import Property, properties
from blendwright.tools.constraint.settings import CURVE_TYPES, InverseKinematicsSettings
from blendwright.tools.world_space import IDENTITY, matrix_rows, nearly_equal_matrices, world_matrix
from blendwright.values.errors import StepError
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding, did_you_mean

AT = "/settings"
# Smallest rest length in metres: Blender treats 0 as unset and computes a length itself.
MIN_REST_LENGTH = 1e-3
# Kinds that change: following a curve turns on its path option.
WRITTEN_KINDS = (Kind.OBJECT, Kind.CURVE)


class ConstraintResult(Result):
    """The constraint after the call."""

    object: str = Field(description="Name of the object.")
    bone: str | None = Field(
        default=None, description="Name of the bone that has the constraint, or null if the object has it."
    )
    constraint: str = Field(description="Name of the constraint.")
    stack: list[str] = Field(description="Names of all constraints in the stack, in evaluation order.")
    changed: bool = Field(description="False if everything was already as requested.")
    location: tuple[float, float, float] = Field(
        description="World position of the object, or of the bone's head, after the call, in metres."
    )


def constraint_result(owner: Owner, constraint: str, *, changed: bool) -> ConstraintResult:
    return ConstraintResult(
        object=owner.object.name,
        bone=owner.bone,
        constraint=constraint,
        stack=[item.name for item in owner.constraints],
        changed=changed,
        location=tuple(value + 0.0 for value in owner.matrix().translation),
    )


def missing_constraint(owner: Owner, name: str, at: str) -> Sequence[Finding]:
    """Return a finding if the owner has no constraint of that name."""
    names = [constraint.name for constraint in owner.constraints]
    if name in names:
        return ()
    otherwise = "It has " + (", ".join(f"'{existing}'" for existing in names) or "none") + "."
    fix = did_you_mean(name, names, otherwise=otherwise)
    return (Finding(Fault.TARGET_NOT_FOUND, f"{owner} has no constraint named '{name}'", at, fix),)


def animated_settings(scene: Scene, constraint: Block, settings: Any, common: Mapping[str, Any]) -> Findings:
    """Yield findings for settings that keyframes or drivers would overwrite."""
    requested: list[Property] = []
    if settings is not None:
        requested = properties(settings)
    for item in requested:
        path = constraint.path_from_id(item.attribute)
        yield from channel_conflicts(scene, constraint.id_data, path, f"{AT}/{item.name}")
    for name in common:
        yield from channel_conflicts(scene, constraint.id_data, constraint.path_from_id(name), f"/{name}")


def write(scene: Scene, constraint: Block, settings: Any, *, set_inverse: bool | None) -> None:
    """Write the given settings to a constraint. The caller has opened the object for writing."""
    target_name = getattr(settings, "target", None)
    if target_name is not None:
        target = scene.require(Kind.OBJECT, target_name)
        if settings.type in CURVE_TYPES and not target.data.use_path:
            # Blender turns this on when the target is set; writing it here records the change.
            scene.set(target.data, "use_path", True)
        constraint.target = target
    pole_name = getattr(settings, "pole_target", None)
    if pole_name is not None:
        constraint.pole_target = scene.require(Kind.OBJECT, pole_name)
    for item in properties(settings):
        setattr(constraint, item.attribute, item.value)
    if settings.type == "CHILD_OF":
        # Otherwise Blender would set the inverse at its next evaluation of the scene.
        constraint.set_inverse_pending = False
        if constraint.owner_space != "WORLD":  # on a bone Blender's default is pose space
            constraint.owner_space = "WORLD"
        if set_inverse is not None:
            constraint.inverse_matrix = _inverse(scene, constraint, set_inverse)


def differences(scene: Scene, constraint: Block, settings: Any, *, set_inverse: bool | None = None) -> Findings:
    """Yield findings where a constraint differs from the given settings."""
    yield from differs("its type", settings.type, constraint.type, f"{AT}/type")
    if settings.type != constraint.type:
        return
    target_name = getattr(settings, "target", None)
    if target_name is not None:
        target: Block = constraint.target
        yield from differs("its target", target_name, _name_of(target), f"{AT}/target")
        if settings.type in CURVE_TYPES and target is not None:
            yield from differs("that the curve is a path", True, target.data.use_path, f"{AT}/target")
    pole_name = getattr(settings, "pole_target", None)
    if pole_name is not None:
        yield from differs("its pole target", pole_name, _name_of(constraint.pole_target), f"{AT}/pole_target")
    for item in properties(settings):
        yield from differs(f"its {item.name}", item.value, getattr(constraint, item.attribute), f"{AT}/{item.name}")
    if settings.type == "CHILD_OF" and set_inverse is not None and constraint.target is not None:
        expected = matrix_rows(_inverse(scene, constraint, set_inverse))
        if not nearly_equal_matrices(expected, matrix_rows(constraint.inverse_matrix)):
            yield from differs("that its inverse is set", True, False, f"{AT}/set_inverse")


def _name_of(block: Block | None) -> str | None:
    if block is None:
        return None
    return block.name


def common_differences(owner: Owner, constraint: Block, common: Mapping[str, Any], index: int | None) -> Findings:
    """Yield findings where influence, enabled or the requested position in the stack (`index`) differs."""
    for name, value in common.items():
        yield from differs(f"its {name}", value, getattr(constraint, name), f"/{name}")
    if index is not None:
        yield from differs("its position in the stack", index, owner.constraints.find(constraint.name), "/index")


def refuse_jump(owner: Owner, before: Block) -> None:
    """Raise StepError if the owner moved, although a new Child Of constraint should keep its position."""
    if not nearly_equal_matrices(matrix_rows(before), matrix_rows(owner.matrix())):
        message = f"{owner} would not stay in place: the target's inverse has no effect on only some of the axes"
        fix = "Follow in all axes, or set set_inverse to false."
        raise StepError.of(Fault.SCENE_CONFLICT, message, at=f"{AT}/set_inverse", cure=fix)


def completed(owner: Owner, settings: Any) -> Any:
    """Return the settings of a new constraint, completed with values that depend on the scene."""
    settings = settings.for_new()
    if settings.type == "STRETCH_TO" and settings.rest_length is None and settings.target is not None:
        # Otherwise Blender would use the distance at its next evaluation of the scene.
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
    target_position = target_matrix(owner.scene, target, settings.subtarget).translation
    # Blender measures the length in the scale of the stretched object.
    _, _, scale = world.decompose()
    return max((target_position - world.translation).length / max(abs(scale.y), MIN_REST_LENGTH), MIN_REST_LENGTH)


def _inverse(scene: Scene, constraint: Block, wanted: bool) -> Block:
    if not wanted or constraint.target is None:
        return scene.matrix(IDENTITY)
    return target_matrix(scene, constraint.target, constraint.subtarget).inverted()


def target_matrix(scene: Scene, target: Block, part: str | None) -> Block:
    """Return the world matrix of a target, or of its bone named by `part`."""
    matrix = world_matrix(scene, target)
    if part and target.type == "ARMATURE" and part in target.pose.bones:
        return matrix @ scene.evaluated(target).pose.bones[part].matrix
    return matrix
