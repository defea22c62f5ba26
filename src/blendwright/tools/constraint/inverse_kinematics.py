"""Pole angle of IK constraints that leaves a chain of bones in its rest position."""

from __future__ import annotations

import math

from blendwright.tool_api.scene import Block, Kind
from blendwright.tools.constraint.dependencies import chain_of
from blendwright.tools.constraint.owner import Owner
from blendwright.tools.constraint.settings import InverseKinematicsSettings
from blendwright.tools.world_space import world_matrix

# Smallest distance in metres of a pole from the chain's line at which it determines a direction.
MIN_POLE_OFFSET = 1e-6


def rest_pole_angle(owner: Owner, settings: InverseKinematicsSettings) -> float | None:
    """Return the pole angle in degrees with which the chain does not rotate about itself.

    Return None without a pole, or if the pole is in line with the chain. Blender rotates the X axis of the chain's
    first bone towards the pole, and by this angle away from it.
    """
    if settings.pole_target is None:
        return None
    chain = chain_of(owner.part, settings.chain_count or 0, use_tail=settings.use_tail is not False)
    if not chain:
        return None
    end, first = chain[0].bone, chain[-1].bone
    pole = world_matrix(owner.scene, owner.object).inverted_safe() @ _pole(owner, settings)
    normal = (end.tail_local - first.head_local).cross(pole - first.head_local)
    along = first.tail_local - first.head_local
    side = normal.cross(along)
    if side.length < MIN_POLE_OFFSET:
        return None
    axis = first.matrix_local.to_3x3().col[0]
    angle = axis.angle(side)
    if axis.cross(side).dot(along) > 0.0:
        return -math.degrees(angle)
    return math.degrees(angle)


def _pole(owner: Owner, settings: InverseKinematicsSettings) -> Block:
    """Return the pole's world position, with bones in rest position."""
    target = owner.scene.require(Kind.OBJECT, settings.pole_target or "", "/settings/pole_target")
    world = world_matrix(owner.scene, target)
    if settings.pole_subtarget and target.type == "ARMATURE":
        return world @ target.data.bones[settings.pole_subtarget].head_local
    return world.translation
