"""Checks whether the scene allows the settings of a constraint."""

from __future__ import annotations

from typing import Any

from blendwright.tool_api.scene import Block, Kind
from blendwright.tool_api.tool import Findings
from blendwright.tools.checks import conflict, existing_object
from blendwright.tools.constraint.blender_settings import AT, target_matrix
from blendwright.tools.constraint.dependencies import TARGETS, Node, chain_of, follows, target_node
from blendwright.tools.constraint.owner import Owner
from blendwright.tools.constraint.settings import (
    BONES_ONLY,
    CURVE_TYPES,
    OF_BONES,
    FollowPathSettings,
    LimitLocationSettings,
    LimitScaleSettings,
    TrackToSettings,
)
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding, did_you_mean


def problems(owner: Owner, settings: Any, constraint: Block | None = None) -> Findings:
    """Yield findings about these settings for this owner. `constraint` is the existing constraint, or None for a new
    one.
    """
    if settings.type in BONES_ONLY and owner.bone is None:
        message = f"{settings.type} works only on bones"
        yield conflict(message, f"{AT}/type", "Name the bone of an armature in the argument bone.")
        return
    for name, part in TARGETS:
        yield from _target_problems(owner, settings, constraint, name, part)
    yield from _space_problems(owner, settings, constraint)
    yield from _axis_problems(settings, constraint)
    yield from _limit_problems(settings, constraint)
    if settings.type == "IK":
        yield from _pole_problems(settings, constraint)
    if settings.type == "CHILD_OF" and settings.set_inverse is not False:
        target = _effective_target(owner, settings, constraint, "target")
        if target is not None:
            part = _effective(settings, constraint, "subtarget")
            yield from _inverse_problems(target, target_matrix(owner.scene, target, part))


def _effective_target(owner: Owner, settings: Any, constraint: Block | None, name: str) -> Block | None:
    """Return the target that the constraint will have after the call, or None."""
    requested = getattr(settings, name, None)
    if requested is not None:
        return owner.scene.find(Kind.OBJECT, requested)
    return getattr(constraint, name, None)


def _effective(settings: Any, constraint: Block | None, name: str) -> Any:
    """Return the value that a setting will have after the call."""
    requested = getattr(settings, name, None)
    if requested is not None:
        return requested
    return getattr(constraint, name, None)


def _target_problems(owner: Owner, settings: Any, constraint: Block | None, name: str, part: str) -> Findings:
    requested, requested_part = getattr(settings, name, None), getattr(settings, part, None)
    target = getattr(constraint, name, None)
    if requested is not None:
        types: tuple[str, ...] = ()
        if settings.type in CURVE_TYPES:
            types = ("CURVE",)
        target = yield from existing_object(owner.scene, requested, f"{AT}/{name}", *types)
    if target is None:
        return
    if requested_part:
        yield from _part_problems(target, requested_part, f"{AT}/{part}")
    if requested is None and requested_part is None and getattr(settings, "chain_count", None) is None:
        return
    effective_part = _effective(settings, constraint, part) or ""
    if target == owner.object and not (owner.bone is not None and effective_part):
        if owner.bone is None:
            message = "an object cannot be its own target"
        else:
            message = "the target is the bone's own armature, so its bone must be named"
        yield conflict(message, f"{AT}/{name}", "Name another object, or for a bone another bone of its armature.")
    elif follows(target_node(target, effective_part), _moved(owner, settings, constraint)):
        if effective_part and target.type == "ARMATURE":
            label = f"bone '{effective_part}' of '{target.name}'"
        else:
            label = f"'{target.name}'"
        message = f"{label} depends on {owner} or on a bone of its chain"
        fix = "Name a target whose position does not depend on this object or bone."
        if settings.type in BONES_ONLY:
            fix = "Name a target whose position does not depend on this bone, or use a smaller chain_count."
        yield conflict(message, f"{AT}/{name}", fix)


def _moved(owner: Owner, settings: Any, constraint: Block | None) -> list[Node]:
    """Return the nodes that a constraint moves: its owner, or the chain of bones."""
    if settings.type not in BONES_ONLY:
        return [owner.node]
    count = _effective(settings, constraint, "chain_count") or 0
    return [(owner.object, bone.name) for bone in chain_of(owner.part, count)]


def _space_problems(owner: Owner, settings: Any, constraint: Block | None) -> Findings:
    space = getattr(settings, "owner_space", None)
    if space in OF_BONES and owner.bone is None:
        yield conflict(f"{space} is a space for bones", f"{AT}/owner_space", "Use WORLD or LOCAL.")
    if getattr(settings, "target_space", None) in OF_BONES:
        target = _effective_target(owner, settings, constraint, "target")
        part = _effective(settings, constraint, "subtarget")
        if target is not None and not (target.type == "ARMATURE" and part):
            message = f"{settings.target_space} is a space for bones, but '{target.name}' is not a bone"
            yield conflict(message, f"{AT}/target_space", "Use WORLD or LOCAL, or name a bone as subtarget.")


def _pole_problems(settings: Any, constraint: Block | None) -> Findings:
    if settings.pole_target is None and getattr(constraint, "pole_target", None) is None:
        for name in ("pole_subtarget", "pole_angle_deg"):
            if getattr(settings, name) is not None:
                yield conflict("the constraint has no pole target", f"{AT}/{name}", "Add pole_target, or leave it out.")


def _inverse_problems(target: Block, matrix: Block) -> Findings:
    if abs(matrix.determinant()) < 1e-12:
        message = f"'{target.name}' has a scale of zero, so its matrix has no inverse"
        yield conflict(message, f"{AT}/set_inverse", "Give the target a scale, or set set_inverse to false.")


def _part_problems(target: Block, part: str, at: str) -> Findings:
    if target.type == "ARMATURE":
        word, names = "bone", [bone.name for bone in target.data.bones]
    elif target.type in ("MESH", "LATTICE"):
        word, names = "vertex group", [group.name for group in target.vertex_groups]
    else:
        message = f"'{target.name}' is of type {target.type}, which has no bones or vertex groups to follow"
        yield conflict(message, at, "Leave it out, or name an armature or a mesh.")
        return
    if part not in names:
        fix = did_you_mean(part, names, otherwise=f"It has {len(names)}.")
        yield Finding(Fault.TARGET_NOT_FOUND, f"'{target.name}' has no {word} named '{part}'", at, fix)


def _axis_problems(settings: Any, constraint: Block | None) -> Findings:
    """Yield a finding if the pointing axis and the up axis would be the same, with one of them from the existing
    constraint.
    """
    if constraint is None or not isinstance(settings, (TrackToSettings, FollowPathSettings)):
        return
    if isinstance(settings, TrackToSettings):
        name = "track_axis"
    else:
        name = "forward_axis"
    requested = getattr(settings, name)
    if (requested is None) == (settings.up_axis is None):
        return
    pointing = _effective(settings, constraint, name)
    up = _effective(settings, constraint, "up_axis")
    if pointing[-1] == up[-1]:
        at = f"{AT}/up_axis"
        if requested is not None:
            at = f"{AT}/{name}"
        yield conflict(f"{name} and up_axis would both be {up[-1]}", at, "Give both, with different axes.")


def _limit_problems(settings: Any, constraint: Block | None) -> Findings:
    """Yield findings if a minimum or maximum given alone contradicts the constraint's existing opposite limit."""
    if constraint is None or not isinstance(settings, (LimitLocationSettings, LimitScaleSettings)):
        return
    if settings.minimum is not None and settings.maximum is not None:
        return
    for end, opposite, sign in (("minimum", "max", 1), ("maximum", "min", -1)):
        limits = getattr(settings, end)
        if limits is None:
            continue
        for axis, value in zip("xyz", limits, strict=True):
            present = getattr(constraint, f"{opposite}_{axis}")
            if value is not None and getattr(constraint, f"use_{opposite}_{axis}") and sign * (value - present) > 0:
                message = f"the {end} of {axis.upper()} would be beyond the other limit, which is {present:g}"
                yield conflict(message, f"{AT}/{end}", "Give minimum and maximum together.")
