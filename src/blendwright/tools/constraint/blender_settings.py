"""Checks settings of constraints against the scene, writes them to Blender, compares what Blender holds with them, and sums up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import Field

from blendwright.tool_api.arguments import Result
from blendwright.tool_api.scene import Block, Kind, Scene
from blendwright.tool_api.tool import Findings
from blendwright.tools.animation_data import channel_conflicts
from blendwright.tools.checks import conflict, differs, existing_object
from blendwright.tools.constraint.settings import (
    FollowPathSettings,
    LimitLocationSettings,
    LimitScaleSettings,
    TrackToSettings,
    properties,
)
from blendwright.tools.world_space import IDENTITY, matrix_rows, nearly_equal_matrices, world_matrix
from blendwright.values.errors import StepError
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding, did_you_mean

AT = "/settings"
# A curve that is followed becomes a path.
WRITTEN_KINDS = (Kind.OBJECT, Kind.CURVE)


class ConstraintResult(Result):
    """A constraint as it is now."""

    object: str = Field(description="Name of the object.")
    constraint: str = Field(description="Name of the constraint.")
    stack: list[str] = Field(description="Names of all constraints of the object, in the order in which they work.")
    changed: bool = Field(description="False when everything was as asked already.")
    location: tuple[float, float, float] = Field(description="Where the object stands in the world now, in metres.")


def constraint_result(scene: Scene, obj: Block, constraint: str, *, changed: bool) -> ConstraintResult:
    location = tuple(value + 0.0 for value in world_matrix(scene, obj).translation)
    stack = [each.name for each in obj.constraints]
    return ConstraintResult(object=obj.name, constraint=constraint, stack=stack, changed=changed, location=location)


def missing_constraint(obj: Block, name: str, at: str) -> Sequence[Finding]:
    """A finding when the object has no constraint of that name."""
    names = [constraint.name for constraint in obj.constraints]
    if name in names:
        return ()
    listed = "It has " + (", ".join(f"'{there}'" for there in names) or "none") + "."
    cure = did_you_mean(name, names, otherwise=listed)
    return (Finding(Fault.TARGET_NOT_FOUND, f"object '{obj.name}' has no constraint named '{name}'", at, cure),)


def problems(scene: Scene, obj: Block, settings: Any, constraint: Block | None = None) -> Findings:
    """What the scene has against these settings on that object; `constraint` is the one that is there already."""
    target = None if constraint is None else getattr(constraint, "target", None)
    if (name := getattr(settings, "target", None)) is not None:
        types = ("CURVE",) if isinstance(settings, FollowPathSettings) else ()
        target = yield from existing_object(scene, name, f"{AT}/target", *types)
        if target is not None and depends_on(target, obj):
            message = (
                f"'{name}' is '{obj.name}' itself, or follows it"
                if target != obj
                else "an object cannot be its own target"
            )
            yield conflict(message, f"{AT}/target", "Name an object whose place does not depend on this one.")
    if (part := getattr(settings, "subtarget", None)) and target is not None:
        yield from _part_problems(target, part)
    yield from _axis_problems(settings, constraint)
    yield from _limit_problems(settings, constraint)
    if settings.type == "CHILD_OF" and settings.set_inverse is not False and target is not None:
        yield from _inverse_problems(target, _target_matrix(scene, target, settings, constraint))


def depends_on(one: Block, other: Block, seen: set[Block] | None = None) -> bool:
    """Whether the place of an object follows from that of another: it is the same, or a parent or constraint leads there."""
    seen = set() if seen is None else seen
    if one == other:
        return True
    if one in seen:
        return False
    seen.add(one)
    return any(depends_on(leader, other, seen) for leader in _leaders(one))


def _leaders(obj: Block) -> Iterator[Block]:
    if obj.parent is not None:
        yield obj.parent
    for constraint in obj.constraints:
        if (target := getattr(constraint, "target", None)) is not None:
            yield target


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
        if isinstance(settings, FollowPathSettings) and not target.data.use_path:
            # Blender turns it on when the target is set, which nobody would record.
            scene.set(target.data, "use_path", True)
        constraint.target = target
    for each in properties(settings):
        setattr(constraint, each.attribute, each.value)
    if settings.type == "CHILD_OF":
        # Blender would set the inverse itself, when it evaluates the scene next.
        constraint.set_inverse_pending = False
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
        if isinstance(settings, FollowPathSettings) and target is not None:
            yield from differs("that the curve is a path", True, target.data.use_path, f"{AT}/target")
    for each in properties(settings):
        yield from differs(f"its {each.name}", each.value, getattr(constraint, each.attribute), f"{AT}/{each.name}")
    if settings.type == "CHILD_OF" and set_inverse is not None and constraint.target is not None:
        expected = matrix_rows(_inverse(scene, constraint, set_inverse))
        if not nearly_equal_matrices(expected, matrix_rows(constraint.inverse_matrix)):
            yield from differs("that its inverse is set", True, False, f"{AT}/set_inverse")


def common_differences(obj: Block, constraint: Block, common: Mapping[str, Any], index: int | None) -> Findings:
    """How influence and the like, and its place in the stack where one is given, differ from what was requested."""
    for name, value in common.items():
        yield from differs(f"its {name}", value, getattr(constraint, name), f"/{name}")
    if index is not None:
        yield from differs("its place", index, obj.constraints.find(constraint.name), "/index")


def refuse_jump(scene: Scene, obj: Block, before: Block) -> None:
    """Raises when an object that was to stay in place has moved."""
    if not nearly_equal_matrices(matrix_rows(before), matrix_rows(world_matrix(scene, obj))):
        message = f"'{obj.name}' would not stay in place: the inverse of a part of the axes is none"
        cure = "Let it follow in all axes, or set set_inverse to false."
        raise StepError.of(Fault.SCENE_CONFLICT, message, at=f"{AT}/set_inverse", cure=cure)


def _inverse(scene: Scene, constraint: Block, wanted: bool) -> Block:
    if not wanted or constraint.target is None:
        return scene.matrix(IDENTITY)
    return _matrix_of(scene, constraint.target, constraint.subtarget).inverted()


def _target_matrix(scene: Scene, target: Block, settings: Any, constraint: Block | None) -> Block:
    part = settings.subtarget if settings.subtarget is not None or constraint is None else constraint.subtarget
    return _matrix_of(scene, target, part)


def _matrix_of(scene: Scene, target: Block, part: str | None) -> Block:
    matrix = world_matrix(scene, target)
    if part and target.type == "ARMATURE" and part in target.pose.bones:
        return matrix @ scene.evaluated(target).pose.bones[part].matrix
    return matrix


def _inverse_problems(target: Block, matrix: Block) -> Findings:
    if abs(matrix.determinant()) < 1e-12:
        message = f"'{target.name}' has a scale of zero, so that it has no inverse"
        yield conflict(message, f"{AT}/set_inverse", "Give the target a scale, or set set_inverse to false.")


def _part_problems(target: Block, part: str) -> Findings:
    if target.type == "ARMATURE":
        word, names = "bone", [bone.name for bone in target.data.bones]
    elif target.type in ("MESH", "LATTICE"):
        word, names = "vertex group", [group.name for group in target.vertex_groups]
    else:
        message = f"'{target.name}' is of type {target.type}, which has no parts to follow"
        yield conflict(message, f"{AT}/subtarget", "Leave subtarget out, or name an armature or a mesh.")
        return
    if part not in names:
        cure = did_you_mean(part, names, otherwise=f"It has {len(names)}.")
        yield Finding(Fault.TARGET_NOT_FOUND, f"'{target.name}' has no {word} named '{part}'", f"{AT}/subtarget", cure)


def _axis_problems(settings: Any, constraint: Block | None) -> Findings:
    """An axis that points somewhere cannot be the one that points up, also where only one of them is given."""
    if constraint is None or not isinstance(settings, (TrackToSettings, FollowPathSettings)):
        return
    name = "track_axis" if isinstance(settings, TrackToSettings) else "forward_axis"
    given = getattr(settings, name)
    pointing = given if given is not None else getattr(constraint, name)
    up = settings.up_axis if settings.up_axis is not None else constraint.up_axis
    if (given is None) != (settings.up_axis is None) and pointing[-1] == up[-1]:
        at = f"{AT}/{name if given is not None else 'up_axis'}"
        yield conflict(f"{name} and up_axis would both be {up[-1]}", at, "Give both, of different axes.")


def _limit_problems(settings: Any, constraint: Block | None) -> Findings:
    """A limit that is given alone must go with the other one that is there."""
    if constraint is None or not isinstance(settings, (LimitLocationSettings, LimitScaleSettings)):
        return
    for end, other, sign in (("minimum", "max", 1), ("maximum", "min", -1)):
        limits = getattr(settings, end)
        if limits is None or getattr(settings, "maximum" if end == "minimum" else "minimum") is not None:
            continue
        for axis, value in zip("xyz", limits, strict=True):
            present = getattr(constraint, f"{other}_{axis}")
            if value is not None and getattr(constraint, f"use_{other}_{axis}") and sign * (value - present) > 0:
                message = f"the {end} of {axis.upper()} would be beyond the other limit, which is {present:g}"
                yield conflict(message, f"{AT}/{end}", "Give minimum and maximum together.")
