"""How an IK constraint with a pole is to be turned so that its chain stays as it lies at rest."""

from __future__ import annotations

import math

from blendwright.tool_api.scene import Block, Kind
from blendwright.tools.constraint.dependencies import chain_of
from blendwright.tools.constraint.owner import Owner
from blendwright.tools.constraint.settings import InverseKinematicsSettings
from blendwright.tools.world_space import world_matrix

# A pole that is nearer to the line from the start of the chain to its end says nothing.
NO_SIDE = 1e-6


def rest_pole_angle(owner: Owner, settings: InverseKinematicsSettings) -> float | None:
    """The angle in degrees at which the chain does not turn about itself; None without a pole, or where it is in line with the chain.

    Blender turns the X axis of the chain's first bone towards the pole, and by this angle away from it."""
    if settings.pole_target is None:
        return None
    chain = chain_of(owner.part, settings.chain_count or 0, use_tail=settings.use_tail is not False)
    if not chain:
        return None
    end, first = chain[0].bone, chain[-1].bone
    pole = world_matrix(owner.scene, owner.object).inverted_safe() @ _pole(owner, settings)
    across = (end.tail_local - first.head_local).cross(pole - first.head_local)
    along = first.tail_local - first.head_local
    side = across.cross(along)
    if side.length < NO_SIDE:
        return None
    axis = first.matrix_local.to_3x3().col[0]
    turned = axis.angle(side)
    if axis.cross(side).dot(along) > 0.0:
        return -math.degrees(turned)
    return math.degrees(turned)


def _pole(owner: Owner, settings: InverseKinematicsSettings) -> Block:
    """Where the pole is in the world, bones at rest."""
    target = owner.scene.require(Kind.OBJECT, settings.pole_target or "", "/settings/pole_target")
    world = world_matrix(owner.scene, target)
    if settings.pole_subtarget and target.type == "ARMATURE":
        return world @ target.data.bones[settings.pole_subtarget].head_local
    return world.translation
