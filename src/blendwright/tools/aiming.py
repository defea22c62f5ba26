"""Objects that are made looking at something: the argument, and the rotation that it comes to."""

from __future__ import annotations

import math
from collections.abc import Sequence

from pydantic import ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from blendwright.tool_api import Findings, Kind, Point, Scene
from blendwright.tool_api.arguments import Vector3, optional
from blendwright.tool_api.mentions import ObjectName
from blendwright.tools.camera_views import NEAREST, view_axes
from blendwright.tools.checks import conflict, existing_object
from blendwright.tools.object_creation import ObjectPlacement
from blendwright.tools.world_space import world_matrix

AT = "/look_at"
# Of the direction that it looks in, as a unit vector.
STRAYED = 1e-3
Rows = Sequence[Sequence[float]]


class AimedPlacement(ObjectPlacement):
    """Arguments of tools that create an object which looks along its -Z."""

    look_at: ObjectName | Vector3 | None = optional(
        "Object (its origin) or point in the world that its -Z points to, Y up; instead of rotation_euler_deg."
    )

    @field_validator("look_at")
    @classmethod
    def _one_rotation(cls, value: str | Vector3 | None, info: ValidationInfo) -> str | Vector3 | None:
        if value is not None and any(info.data.get("rotation_euler_deg", ())):
            raise PydanticCustomError("two_rotations", "give either look_at or rotation_euler_deg")
        return value


def aim_problems(scene: Scene, args: AimedPlacement) -> Findings:
    """Why it cannot look there."""
    if args.look_at is None:
        return
    if isinstance(args.look_at, str):
        target = yield from existing_object(scene, args.look_at, AT)
        if target is None:
            return
    if args.parent is not None and scene.find(Kind.OBJECT, args.parent) is None:
        return  # which is said of the parent
    if math.dist(_standing(scene, args), _aim(scene, args.look_at)) < NEAREST:
        message = f"'{args.name}' would stand at the very point it is to look at"
        yield conflict(message, AT, "Give it another location, or another point.")
    elif _strayed(scene, args):
        message = f"its parent '{args.parent}' is mirrored or scaled unevenly, so a rotation cannot aim it"
        yield conflict(message, AT, "Leave out parent, and set it later with object.set_parent.")


def aimed_rotation(scene: Scene, args: AimedPlacement) -> tuple[float, ...]:
    """Its XYZ angles in radians, in the space of its parent."""
    assert args.look_at is not None
    turned = _axes_in_the_world(scene, args)
    if args.parent is not None:
        turned = _product(_parent_rows(scene, args.parent), turned, inverse=True)
    columns = [_unit(column) for column in zip(*turned, strict=True)]
    return _euler(list(zip(*columns, strict=True)))


def _axes_in_the_world(scene: Scene, args: AimedPlacement) -> Rows:
    """Rows of the matrix whose columns are its axes."""
    assert args.look_at is not None
    here, there = _standing(scene, args), _aim(scene, args.look_at)
    axes = view_axes((here[0] - there[0], here[1] - there[1], here[2] - there[2]))
    return list(zip(*axes, strict=True))


def _standing(scene: Scene, args: AimedPlacement) -> Point:
    if args.parent is None:
        return args.location
    matrix = world_matrix(scene, scene.require(Kind.OBJECT, args.parent, "/parent"))
    x, y, z = matrix @ scene.vector(args.location)
    return (x, y, z)


def _aim(scene: Scene, look_at: str | Vector3) -> Point:
    if not isinstance(look_at, str):
        return look_at
    x, y, z = world_matrix(scene, scene.require(Kind.OBJECT, look_at, AT)).translation
    return (x, y, z)


def _strayed(scene: Scene, args: AimedPlacement) -> bool:
    """Whether the rotation does not lead there, since its parent shears or mirrors what is in it."""
    if args.parent is None:
        return False
    local = scene.euler(aimed_rotation(scene, args)).to_matrix()
    turned = _product(_parent_rows(scene, args.parent), [list(row) for row in local])
    back = _unit([row[2] for row in turned])
    wanted = [row[2] for row in _axes_in_the_world(scene, args)]
    return math.dist(back, wanted) > STRAYED


def _parent_rows(scene: Scene, parent: str) -> Rows:
    matrix = world_matrix(scene, scene.require(Kind.OBJECT, parent, "/parent"))
    return [list(row) for row in matrix.to_3x3()]


def _product(one: Rows, other: Rows, *, inverse: bool = False) -> Rows:
    if inverse:
        first = _inverse(one)
    else:
        first = one
    return [[sum(row[i] * other[i][j] for i in range(3)) for j in range(3)] for row in first]


def _inverse(rows: Rows) -> Rows:
    (a, b, c), (d, e, f), (g, h, i) = rows
    determinant = a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)
    if abs(determinant) < NEAREST**3:
        return rows
    adjugate = (
        (e * i - f * h, c * h - b * i, b * f - c * e),
        (f * g - d * i, a * i - c * g, c * d - a * f),
        (d * h - e * g, b * g - a * h, a * e - b * d),
    )
    return [[value / determinant for value in row] for row in adjugate]


def _euler(rows: Rows) -> tuple[float, ...]:
    """XYZ angles of a rotation, as Blender takes them."""
    level = math.hypot(rows[0][0], rows[1][0])
    y = math.atan2(-rows[2][0], level)
    if level > NEAREST:
        return (math.atan2(rows[2][1], rows[2][2]), y, math.atan2(rows[1][0], rows[0][0]))
    return (math.atan2(-rows[1][2], rows[1][1]), y, 0.0)


def _unit(vector: Sequence[float]) -> list[float]:
    length = math.hypot(*vector)
    if length > 0.0:
        return [part / length for part in vector]
    return list(vector)
