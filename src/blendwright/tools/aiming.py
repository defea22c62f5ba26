"""The `look_at` argument of tools that create an object, and the rotation that it results in."""

from __future__ import annotations

import math
from collections.abc import Sequence

from pydantic import ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from blendwright.tool_api import Findings, Kind, Point, Scene
from blendwright.tool_api.arguments import Vector3, optional
from blendwright.tool_api.mentions import ObjectName
from blendwright.tools.camera_views import MIN_DIRECTION_LENGTH, view_axes
from blendwright.tools.checks import conflict, existing_object
from blendwright.tools.object_creation import ObjectPlacement
from blendwright.tools.world_space import world_matrix

AT = "/look_at"
# Largest distance between the wanted and the actual viewing direction, both as unit vectors.
MAX_DIRECTION_ERROR = 1e-3
Rows = Sequence[Sequence[float]]


class AimedPlacement(ObjectPlacement):
    """Arguments of tools that create an object whose local -Z axis is its viewing direction."""

    look_at: ObjectName | Vector3 | None = optional(
        "Object (its origin) or world point that the new object's -Z points to, with Y up. Replaces rotation_euler_deg."
    )

    @field_validator("look_at")
    @classmethod
    def _one_rotation(cls, value: str | Vector3 | None, info: ValidationInfo) -> str | Vector3 | None:
        if value is not None and any(info.data.get("rotation_euler_deg", ())):
            raise PydanticCustomError("two_rotations", "give either look_at or rotation_euler_deg, not both")
        return value


def aim_problems(scene: Scene, args: AimedPlacement) -> Findings:
    """Yield findings that explain why the new object cannot look at `args.look_at`."""
    if args.look_at is None:
        return
    if isinstance(args.look_at, str):
        target = yield from existing_object(scene, args.look_at, AT)
        if target is None:
            return
    if args.parent is not None and scene.find(Kind.OBJECT, args.parent) is None:
        return  # the check of `parent` reports this
    if math.dist(_world_position(scene, args), _target_position(scene, args.look_at)) < MIN_DIRECTION_LENGTH:
        message = f"'{args.name}' would be at the same point that it should look at"
        yield conflict(message, AT, "Give it another location, or another point.")
    elif _misses_target(scene, args):
        message = f"its parent '{args.parent}' is mirrored or scaled unevenly, so a rotation cannot aim it"
        yield conflict(message, AT, "Leave out parent, and set it later with object.set_parent.")


def aimed_rotation(scene: Scene, args: AimedPlacement) -> tuple[float, ...]:
    """Return the XYZ Euler angles in radians that aim the new object, relative to its parent.

    The caller must have checked that `args.look_at` is set.
    """
    assert args.look_at is not None
    axes_rows = _world_axes(scene, args)
    if args.parent is not None:
        axes_rows = _product(_parent_rows(scene, args.parent), axes_rows, inverse=True)
    columns = [_unit(column) for column in zip(*axes_rows, strict=True)]
    return _euler(list(zip(*columns, strict=True)))


def _world_axes(scene: Scene, args: AimedPlacement) -> Rows:
    """Return the rows of the 3x3 matrix whose columns are the new object's axes in world space."""
    assert args.look_at is not None
    position = _world_position(scene, args)
    target = _target_position(scene, args.look_at)
    axes = view_axes((position[0] - target[0], position[1] - target[1], position[2] - target[2]))
    return list(zip(*axes, strict=True))


def _world_position(scene: Scene, args: AimedPlacement) -> Point:
    if args.parent is None:
        return args.location
    matrix = world_matrix(scene, scene.require(Kind.OBJECT, args.parent, "/parent"))
    x, y, z = matrix @ scene.vector(args.location)
    return (x, y, z)


def _target_position(scene: Scene, look_at: str | Vector3) -> Point:
    if not isinstance(look_at, str):
        return look_at
    x, y, z = world_matrix(scene, scene.require(Kind.OBJECT, look_at, AT)).translation
    return (x, y, z)


def _misses_target(scene: Scene, args: AimedPlacement) -> bool:
    """Return True when no rotation can aim the object because its parent shears or mirrors it."""
    if args.parent is None:
        return False
    local = scene.euler(aimed_rotation(scene, args)).to_matrix()
    world_rows = _product(_parent_rows(scene, args.parent), [list(row) for row in local])
    actual_back = _unit([row[2] for row in world_rows])
    wanted_back = [row[2] for row in _world_axes(scene, args)]
    return math.dist(actual_back, wanted_back) > MAX_DIRECTION_ERROR


def _parent_rows(scene: Scene, parent: str) -> Rows:
    matrix = world_matrix(scene, scene.require(Kind.OBJECT, parent, "/parent"))
    return [list(row) for row in matrix.to_3x3()]


def _product(left: Rows, right: Rows, *, inverse: bool = False) -> Rows:
    if inverse:
        rows = _inverse(left)
    else:
        rows = left
    return [[sum(row[i] * right[i][j] for i in range(3)) for j in range(3)] for row in rows]


def _inverse(rows: Rows) -> Rows:
    (a, b, c), (d, e, f), (g, h, i) = rows
    determinant = a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)
    if abs(determinant) < MIN_DIRECTION_LENGTH**3:
        return rows
    adjugate = (
        (e * i - f * h, c * h - b * i, b * f - c * e),
        (f * g - d * i, a * i - c * g, c * d - a * f),
        (d * h - e * g, b * g - a * h, a * e - b * d),
    )
    return [[value / determinant for value in row] for row in adjugate]


def _euler(rows: Rows) -> tuple[float, ...]:
    """Return the XYZ Euler angles in radians of a rotation matrix, in Blender's convention."""
    horizontal = math.hypot(rows[0][0], rows[1][0])
    y = math.atan2(-rows[2][0], horizontal)
    if horizontal > MIN_DIRECTION_LENGTH:
        return (math.atan2(rows[2][1], rows[2][2]), y, math.atan2(rows[1][0], rows[0][0]))
    return (math.atan2(-rows[1][2], rows[1][1]), y, 0.0)


def _unit(vector: Sequence[float]) -> list[float]:
    length = math.hypot(*vector)
    if length > 0.0:
        return [part / length for part in vector]
    return list(vector)
