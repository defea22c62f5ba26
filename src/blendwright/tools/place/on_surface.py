"""place.on_surface"""

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
from blendwright.tools.place.movement import ancestors, does_not_settle, is_negligible, most_rounds, shift
from blendwright.tools.place.surface import Hit, surface_problems, vertical_hit

GROUND = ("mesh.create_primitive", {"kind": "uv_sphere", "name": "Hill", "radius": 5, "scale": [1, 1, 0.3]})
BOX = ("mesh.create_primitive", {"kind": "cube", "name": "Box", "size": 1, "location": [1, 0.5, 9]})
# Rotations closer to each other than this are the noise of single precision.
STEADY = 1e-5


class OnSurfaceArgs(Args):
    object: ObjectName = Field(description="Name of the object to move; its children go with it.")
    target: ObjectName = Field(description="Name of the object whose surface it rests on.")
    at: Vector2 | None = optional("World x and y of the place; the object's own when left out.")
    side: Literal["top", "bottom"] = Field(
        default="top", description="Stand on the uppermost surface, or hang below the lowest one."
    )
    contact: Literal["mesh", "bounds", "origin"] = Field(
        default="mesh", description="What touches: the outermost vertex, the bounding box, or the origin."
    )
    align_to_normal: bool = Field(
        default=False, description="Tilt the object's Z axis to the direction of the surface."
    )
    gap: BoundedFloat = Field(default=0.0, description="Distance to keep in metres; negative sinks in.")


class RestingOn(Result):
    """An object that rests on a surface."""

    object: str = Field(description="Name of the object.")
    moved: bool = Field(description="False when it was there already.")
    point: Point = Field(description="The point on the surface.")
    normal: Point = Field(description="Where the surface looks at that point.")
    location: Point = Field(description="Where the object's origin is now, in the world.")


class OnSurface(Tool[OnSurfaceArgs, RestingOn]):
    """Rest one object on another: move it straight up or down until it touches the other's surface at one place.

    The surface is the evaluated one, modifiers included, at the vertical through the place."""

    name = "place.on_surface"
    promises = SAFE_ACCUMULATING_WRITE.writes_to(Kind.OBJECT).needs("object_write")
    examples = (
        Example({"object": "Box", "target": "Hill"}, GROUND, BOX),
        Example({"object": "Box", "target": "Hill", "at": [2, 1], "align_to_normal": True, "gap": 0.01}, GROUND, BOX),
        Example({"object": "Box", "target": "Hill", "side": "bottom", "contact": "bounds"}, GROUND, BOX),
    )

    def idempotence_for(self, args: OnSurfaceArgs) -> Idempotence:
        # A tilted object's origin leaves the vertical it was put on, so without a fixed place a repetition finds another one.
        slides = args.align_to_normal and args.at is None
        if slides:
            return Idempotence.ACCUMULATING
        return Idempotence.IDEMPOTENT

    def check(self, scene: Scene, args: OnSurfaceArgs) -> Findings:
        obj, target = scene.find(Kind.OBJECT, args.object), scene.find(Kind.OBJECT, args.target)
        problems = list(evaluated_object(scene, args.object, "/object"))
        problems += surface_problems(scene, args.target, "/target")
        if obj is not None:
            problems += move_conflicts(scene, obj, "/object", turn=args.align_to_normal)
        if obj is not None and target is not None and obj in (target, *ancestors(target)):
            message = f"'{args.target}' moves along with '{args.object}', so the one cannot rest on the other"
            problems.append(conflict(message, "/target", "Name an object that stays where it is."))
        yield from problems
        if not problems and _hit(scene, args, obj) is None:
            message = f"there is no surface of '{args.target}' straight above or below {_spot(scene, args, obj)}"
            if args.at is not None:
                at = "/at"
            else:
                at = "/object"
            yield conflict(message, at, "Give a place 'at' that lies over the target.")

    def apply(self, scene: Scene, args: OnSurfaceArgs) -> RestingOn:
        obj, target = (scene.require(Kind.OBJECT, name) for name in (args.object, args.target))
        hit, moved = self._move_to_surface(scene, args, obj)
        rounds = most_rounds(obj, target)
        while rounds and _is_off(scene, args, obj, hit):
            rounds -= 1
            if not rounds:
                raise does_not_settle(args.object, "/object")
            hit, again = self._move_to_surface(scene, args, obj)
            moved |= again
        x, y, z = scene.evaluated(obj).matrix_world.translation
        return RestingOn(object=args.object, moved=moved, point=hit.point, normal=hit.normal, location=(x, y, z))

    def verify(self, scene: Scene, args: OnSurfaceArgs, result: RestingOn) -> Findings:
        obj = scene.require(Kind.OBJECT, args.object, "/object")
        off = _is_off(scene, args, obj, Hit(result.point, result.normal))
        yield from differs("that it rests on the surface", True, not off, "/object")

    def _move_to_surface(self, scene: Scene, args: OnSurfaceArgs, obj: Block) -> tuple[Hit, bool]:
        """Move it to where it touches the surface as things are now; whether it was elsewhere."""
        hit = _hit(scene, args, obj)
        if hit is None:
            raise does_not_settle(args.object, "/object")
        matrix = _resting_place(scene, args, obj, hit)
        if not args.align_to_normal:
            return hit, shift(scene, obj, matrix.translation - obj.matrix_world.translation)
        moved = not _is_there(matrix, obj.matrix_world)
        if moved:
            scene.set_world_matrix(obj, matrix)
        return hit, moved


def _is_off(scene: Scene, args: OnSurfaceArgs, obj: Block, hit: Hit) -> bool:
    target = _resting_place(scene, args, obj, hit)
    way = (target.translation - scene.evaluated(obj).matrix_world.translation) / 16
    return not is_negligible(way, target.translation)


def _spot(scene: Scene, args: OnSurfaceArgs, obj: Block) -> tuple[float, float]:
    if args.at is not None:
        return args.at
    x, y, _ = scene.evaluated(obj).matrix_world.translation
    return x, y


def _hit(scene: Scene, args: OnSurfaceArgs, obj: Block) -> Hit | None:
    x, y = _spot(scene, args, obj)
    return vertical_hit(scene, scene.require(Kind.OBJECT, args.target, "/target"), x, y, args.side)


def _resting_place(scene: Scene, args: OnSurfaceArgs, obj: Block, hit: Hit) -> Block:
    """The world matrix with which the object touches the surface."""
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


def _lowest_point(scene: Scene, args: OnSurfaceArgs, obj: Block, turn: Block, away: Block) -> float:
    """How far the object's points lie along a direction from its origin, at the least, once it is turned."""
    if args.contact == "origin":
        return 0.0
    into = scene.evaluated(obj).matrix_world.inverted_safe()
    boxes = [into @ scene.vector(corner) for corner in Reach(scene).instance_corners(obj)]
    if args.contact == "bounds":
        boxes += [scene.vector(corner) for corner in own_box(scene, obj)]
    distances = [(turn @ corner).dot(away) for corner in boxes]
    if args.contact == "mesh":
        with shape(scene, obj) as mesh:
            if mesh is not None and len(mesh.vertices):
                upright = away.rotation_difference(scene.vector((0.0, 0.0, 1.0))).to_matrix().to_4x4()
                mesh.transform(upright @ turn)
                distances.append(min(positions_of(mesh)[2::3]))
    return min(distances, default=0.0)


def _is_there(target: Block, current: Block) -> bool:
    turned = max(
        abs(a - b)
        for one, other in zip(target.to_3x3(), current.to_3x3(), strict=True)
        for a, b in zip(one, other, strict=True)
    )
    return turned <= STEADY and is_negligible((target.translation - current.translation) / 8, target.translation)
