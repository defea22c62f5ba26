"""Tool place.on_surface"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from blendwright.tool_api.arguments import Args, BoundedFloat, Result, Vector2, optional
from blendwright.tool_api.mentions import ObjectName
from blendwright.tool_api.promises import SAFE_ACCUMULATING_WRITE, Idempotence
from blendwright.tool_api.scene import Block, Kind, Point, Scene
from blendwright.tool_api.tool import Example, Findings, Tool
from blendwright.tools.animation_data import move_conflicts
from blendwright.tools.bounding_boxes import Reach, own_box, shape
from blendwright.tools.checks import conflict, differs, evaluated_object
from blendwright.tools.mesh_data import positions_of
from blendwright.tools.place.movement import ancestors, does_not_settle, is_negligible, max_rounds, shift
from blendwright.tools.place.surface import Hit, surface_problems, vertical_hit

GROUND = ("mesh.create_primitive", {"kind": "uv_sphere", "name": "Hill", "radius": 5, "scale": [1, 1, 0.3]})
BOX = ("mesh.create_primitive", {"kind": "cube", "name": "Box", "size": 1, "location": [1, 0.5, 9]})
# Differences of rotation matrices below this are rounding errors of single precision.
MAX_ROTATION_ERROR = 1e-5


class OnSurfaceArgs(Args):
    object: ObjectName = Field(description="Name of the object to move; its children move with it.")
    target: ObjectName = Field(description="Name of the object on whose surface it rests.")
    at: Vector2 | None = optional("World x and y of the position. Default: the object's own.")
    side: Literal["top", "bottom"] = Field(
        default="top", description="Rest on the uppermost surface, or hang below the lowest one."
    )
    contact: Literal["mesh", "bounds", "origin"] = Field(
        default="mesh", description="What touches the surface: the outermost vertex, the bounding box, or the origin."
    )
    align_to_normal: bool = Field(
        default=False, description="Tilt the object's Z axis to the direction of the surface."
    )
    gap: BoundedFloat = Field(default=0.0, description="Distance to the surface in metres; negative sinks in.")


class RestingOn(Result):
    """An object that rests on a surface."""

    object: str = Field(description="Name of the object.")
    moved: bool = Field(description="False if the object was already there.")
    point: Point = Field(description="The point on the surface.")
    normal: Point = Field(description="Direction of the surface at that point.")
    location: Point = Field(description="World position of the object's origin after the call.")


class OnSurface(Tool[OnSurfaceArgs, RestingOn]):
    """Rest one object on another: move it straight up or down until it touches the other's surface.

    The tool uses the evaluated surface, with modifiers, on the vertical line through the position.
    """

    name = "place.on_surface"
    promises = SAFE_ACCUMULATING_WRITE.writes_to(Kind.OBJECT).needs("object_write")
    examples = (
        Example({"object": "Box", "target": "Hill"}, GROUND, BOX),
        Example({"object": "Box", "target": "Hill", "at": [2, 1], "align_to_normal": True, "gap": 0.01}, GROUND, BOX),
        Example({"object": "Box", "target": "Hill", "side": "bottom", "contact": "bounds"}, GROUND, BOX),
    )

    def idempotence_for(self, args: OnSurfaceArgs) -> Idempotence:
        # Tilting moves the origin off its vertical line, so without a fixed `at` a repetition finds another surface point.
        if args.align_to_normal and args.at is None:
            return Idempotence.ACCUMULATING
        return Idempotence.IDEMPOTENT

    def check(self, scene: Scene, args: OnSurfaceArgs) -> Findings:
        obj, target = scene.find(Kind.OBJECT, args.object), scene.find(Kind.OBJECT, args.target)
        problems = list(evaluated_object(scene, args.object, "/object"))
        problems += surface_problems(scene, args.target, "/target")
        if obj is not None:
            problems += move_conflicts(scene, obj, "/object", turn=args.align_to_normal)
        if obj is not None and target is not None and obj in (target, *ancestors(target)):
            message = f"'{args.target}' moves together with '{args.object}', so the one cannot rest on the other"
            problems.append(conflict(message, "/target", "Name an object that does not follow it."))
        yield from problems
        if not problems and _hit(scene, args, obj) is None:
            message = f"'{args.target}' has no surface straight above or below {_xy(scene, args, obj)}"
            if args.at is not None:
                at = "/at"
            else:
                at = "/object"
            yield conflict(message, at, "Give a position 'at' that is above or below the target.")

    def apply(self, scene: Scene, args: OnSurfaceArgs) -> RestingOn:
        obj = scene.require(Kind.OBJECT, args.object)
        target = scene.require(Kind.OBJECT, args.target)
        hit, moved = self._move_to_surface(scene, args, obj)
        rounds = max_rounds(obj, target)
        while rounds and _is_off(scene, args, obj, hit):
            rounds -= 1
            if not rounds:
                raise does_not_settle(args.object, "/object")
            hit, moved_again = self._move_to_surface(scene, args, obj)
            moved |= moved_again
        x, y, z = scene.evaluated(obj).matrix_world.translation
        return RestingOn(object=args.object, moved=moved, point=hit.point, normal=hit.normal, location=(x, y, z))

    def verify(self, scene: Scene, args: OnSurfaceArgs, result: RestingOn) -> Findings:
        obj = scene.require(Kind.OBJECT, args.object, "/object")
        is_off = _is_off(scene, args, obj, Hit(result.point, result.normal))
        yield from differs("that it rests on the surface", True, not is_off, "/object")

    def _move_to_surface(self, scene: Scene, args: OnSurfaceArgs, obj: Block) -> tuple[Hit, bool]:
        """Move the object to where it touches the present surface. Return the touched point and whether the object moved."""
        hit = _hit(scene, args, obj)
        if hit is None:
            raise does_not_settle(args.object, "/object")
        matrix = _resting_matrix(scene, args, obj, hit)
        if not args.align_to_normal:
            return hit, shift(scene, obj, matrix.translation - obj.matrix_world.translation)
        moved = not _is_close(matrix, obj.matrix_world)
        if moved:
            scene.set_world_matrix(obj, matrix)
        return hit, moved


def _is_off(scene: Scene, args: OnSurfaceArgs, obj: Block, hit: Hit) -> bool:
    target = _resting_matrix(scene, args, obj, hit)
    distance = (target.translation - scene.evaluated(obj).matrix_world.translation) / 16
    return not is_negligible(distance, target.translation)


def _xy(scene: Scene, args: OnSurfaceArgs, obj: Block) -> tuple[float, float]:
    if args.at is not None:
        return args.at
    x, y, _ = scene.evaluated(obj).matrix_world.translation
    return x, y


def _hit(scene: Scene, args: OnSurfaceArgs, obj: Block) -> Hit | None:
    x, y = _xy(scene, args, obj)
    return vertical_hit(scene, scene.require(Kind.OBJECT, args.target, "/target"), x, y, args.side)


def _resting_matrix(scene: Scene, args: OnSurfaceArgs, obj: Block, hit: Hit) -> Block:
    """Return the world matrix with which the object touches the surface."""
    matrix = scene.evaluated(obj).matrix_world.copy()
    if args.side == "top":
        sign = 1.0
    else:
        sign = -1.0
    away = scene.vector((0.0, 0.0, sign))
    if args.align_to_normal:
        away = scene.vector(hit.normal)
        axis = matrix.to_3x3().col[2].normalized()
        matrix = (axis.rotation_difference(away * sign).to_matrix() @ matrix.to_3x3()).to_4x4()
    matrix.translation = (0.0, 0.0, 0.0)
    lowest = _lowest_point(scene, args, obj, matrix, away)
    matrix.translation = scene.vector(hit.point) + away * (args.gap - lowest)
    return matrix


def _lowest_point(scene: Scene, args: OnSurfaceArgs, obj: Block, rotation: Block, away: Block) -> float:
    """Return the smallest distance of the rotated object's points from its origin along the direction `away`, in metres."""
    if args.contact == "origin":
        return 0.0
    to_local = scene.evaluated(obj).matrix_world.inverted_safe()
    corners = [to_local @ scene.vector(corner) for corner in Reach(scene).instance_corners(obj)]
    if args.contact == "bounds":
        corners += [scene.vector(corner) for corner in own_box(scene, obj)]
    distances = [(rotation @ corner).dot(away) for corner in corners]
    if args.contact == "mesh":
        with shape(scene, obj) as mesh:
            if mesh is not None and len(mesh.vertices):
                upright = away.rotation_difference(scene.vector((0.0, 0.0, 1.0))).to_matrix().to_4x4()
                mesh.transform(upright @ rotation)
                distances.append(min(positions_of(mesh)[2::3]))
    return min(distances, default=0.0)


def _is_close(target: Block, current: Block) -> bool:
    """Return True if two world matrices differ only by rounding errors."""
    for target_row, current_row in zip(target.to_3x3(), current.to_3x3(), strict=True):
        for target_value, current_value in zip(target_row, current_row, strict=True):
            if abs(target_value - current_value) > MAX_ROTATION_ERROR:
                return False
    return is_negligible((target.translation - current.translation) / 8, target.translation)
