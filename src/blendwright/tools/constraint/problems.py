"""What the scene has against settings of a constraint."""

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
    """What speaks against these settings there; `constraint` is the one that is there already."""
    if settings.type in BONES_ONLY and owner.bone is None:
        message = f"{settings.type} is a constraint of bones"
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
        target = _present(owner, settings, constraint, "target")
        if target is not None:
            if settings.subtarget is not None:
                part = settings.subtarget
            else:
                part = getattr(constraint, "subtarget", None)
            yield from _inverse_problems(target, target_matrix(owner.scene, target, part))


def _present(owner: Owner, settings: Any, constraint: Block | None, name: str) -> Block | None:
    """The target that a constraint will have."""
    given = getattr(settings, name, None)
    if given is not None:
        return owner.scene.find(Kind.OBJECT, given)
    return getattr(constraint, name, None)


def _target_problems(owner: Owner, settings: Any, constraint: Block | None, name: str, part: str) -> Findings:
    given, given_part = getattr(settings, name, None), getattr(settings, part, None)
    target = getattr(constraint, name, None)
    if given is not None:
        if settings.type in CURVE_TYPES:
            types = ("CURVE",)
        else:
            types = ()
        target = yield from existing_object(owner.scene, given, f"{AT}/{name}", *types)
    if target is None:
        return
    if given_part:
        yield from _part_problems(target, given_part, f"{AT}/{part}")
    if given is None and given_part is None and getattr(settings, "chain_count", None) is None:
        return
    if given_part is not None:
        meant = given_part
    else:
        meant = getattr(constraint, part, "")
    if target == owner.object and not (owner.bone is not None and meant):
        if owner.bone is None:
            message = "an object cannot be its own target"
        else:
            message = "name the bone of it that is meant"
        yield conflict(message, f"{AT}/{name}", "Name another object, or for a bone another bone of its armature.")
    elif follows(target_node(target, meant), _moved(owner, settings, constraint)):
        if meant and target.type == "ARMATURE":
            label = f"bone '{meant}' of '{target.name}'"
        else:
            label = f"'{target.name}'"
        message = f"{label} follows {owner} itself, or a bone of its chain"
        cure = "Name a target whose place does not depend on this one"
        cure += ", or give a shorter chain_count." if settings.type in BONES_ONLY else "."
        yield conflict(message, f"{AT}/{name}", cure)


def _moved(owner: Owner, settings: Any, constraint: Block | None) -> list[Node]:
    """What a constraint moves: its owner, or the chain of bones."""
    if settings.type not in BONES_ONLY:
        return [owner.node]
    if settings.chain_count is not None:
        count = settings.chain_count
    else:
        count = getattr(constraint, "chain_count", 0)
    return [(owner.object, bone.name) for bone in chain_of(owner.part, count)]


def _space_problems(owner: Owner, settings: Any, constraint: Block | None) -> Findings:
    space = getattr(settings, "owner_space", None)
    if space in OF_BONES and owner.bone is None:
        yield conflict(f"{space} is a space of bones", f"{AT}/owner_space", "Use WORLD or LOCAL.")
    if getattr(settings, "target_space", None) in OF_BONES:
        target = _present(owner, settings, constraint, "target")
        if settings.subtarget is not None:
            part = settings.subtarget
        else:
            part = getattr(constraint, "subtarget", "")
        if target is not None and not (target.type == "ARMATURE" and part):
            message = f"{settings.target_space} is a space of bones, and '{target.name}' is no bone"
            yield conflict(message, f"{AT}/target_space", "Use WORLD or LOCAL, or name a bone as subtarget.")


def _pole_problems(settings: Any, constraint: Block | None) -> Findings:
    if settings.pole_target is None and getattr(constraint, "pole_target", None) is None:
        for name in ("pole_subtarget", "pole_angle_deg"):
            if getattr(settings, name) is not None:
                yield conflict("there is no pole target", f"{AT}/{name}", "Add pole_target, or leave it out.")


def _inverse_problems(target: Block, matrix: Block) -> Findings:
    if abs(matrix.determinant()) < 1e-12:
        message = f"'{target.name}' has a scale of zero, so that it has no inverse"
        yield conflict(message, f"{AT}/set_inverse", "Give the target a scale, or set set_inverse to false.")


def _part_problems(target: Block, part: str, at: str) -> Findings:
    if target.type == "ARMATURE":
        word, names = "bone", [bone.name for bone in target.data.bones]
    elif target.type in ("MESH", "LATTICE"):
        word, names = "vertex group", [group.name for group in target.vertex_groups]
    else:
        message = f"'{target.name}' is of type {target.type}, which has no parts to follow"
        yield conflict(message, at, "Leave it out, or name an armature or a mesh.")
        return
    if part not in names:
        cure = did_you_mean(part, names, otherwise=f"It has {len(names)}.")
        yield Finding(Fault.TARGET_NOT_FOUND, f"'{target.name}' has no {word} named '{part}'", at, cure)


def _axis_problems(settings: Any, constraint: Block | None) -> Findings:
    """An axis that points somewhere cannot be the one that points up, also where only one of them is given."""
    if constraint is None or not isinstance(settings, (TrackToSettings, FollowPathSettings)):
        return
    if isinstance(settings, TrackToSettings):
        name = "track_axis"
    else:
        name = "forward_axis"
    given = getattr(settings, name)
    if given is not None:
        pointing = given
    else:
        pointing = getattr(constraint, name)
    if settings.up_axis is not None:
        up = settings.up_axis
    else:
        up = constraint.up_axis
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
