"""Tool object.set_origin"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from blendwright.tool_api.arguments import Args, Name, Result, Vector3, optional
from blendwright.tool_api.mentions import ObjectName
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE
from blendwright.tool_api.scene import Block, Kind, Scene
from blendwright.tool_api.tool import Example, Findings, Tool
from blendwright.tools.animation_data import channel_conflicts
from blendwright.tools.checks import conflict, differs, existing_object, required_object
from blendwright.tools.mesh_data import positions_of
from blendwright.tools.object import geometry_transform as geometry
from blendwright.tools.world_space import IDENTITY, world_matrix

BOX = (
    "mesh.create_primitive",
    {"kind": "cube", "name": "Box", "location": [1, 2, 3], "rotation_euler_deg": [0, 0, 30]},
)
TIP = ("object.create_empty", {"name": "Tip", "location": [0, 0, 2]})
CHILD = ("object.create_empty", {"name": "Child", "location": [0, 0, 2], "parent": "Box"})
TWIN = ("object.duplicate", {"object": "Box", "new_name": "Twin"})

# Distances below this part of the largest coordinate are rounding errors of single precision.
NEGLIGIBLE = 2e-6


class SetOriginArgs(Args):
    object: ObjectName = Field(description="Name of the mesh, curve, surface or lattice object.")
    to: Literal["geometry", "bounds", "bottom", "point", "object"] = Field(
        description="geometry: the mean of its points. bounds: the centre of its box along its own axes. bottom: the centre of "
        "the underside of its box in the world. point: the argument point. object: the origin of target. Modifiers are ignored."
    )
    point: Vector3 | None = optional("For point: the position in the world, in metres.")
    target: ObjectName | None = optional("For object: the object whose origin is used.")
    make_single_user: bool = Field(
        default=False, description="If other objects share the geometry: give this object a copy of it."
    )
    data_name: Name | None = geometry.DATA_NAME

    @model_validator(mode="after")
    def _match_arguments(self) -> SetOriginArgs:
        for name, kind in (("point", "point"), ("target", "object")):
            if (getattr(self, name) is not None) != (self.to == kind):
                context = {"name": name, "kind": kind}
                raise PydanticCustomError("origin_place", "give {name} if, and only if, to is {kind}", context)
        return self


class OriginSet(Result):
    object: str = Field(description="Name of the object.")
    data: str = Field(description="Name of its geometry.")
    changed: bool = Field(description="False if the origin was already there.")
    origin: tuple[float, float, float] = Field(description="Position of the origin in the world, in metres.")


class SetOrigin(Tool[SetOriginArgs, OriginSet]):
    """Move the origin (pivot) of an object to its centre, its underside, a point or another object; the geometry stays in
    place.

    Children stay in place too.
    """

    name = "object.set_origin"
    promises = SAFE_IDEMPOTENT_WRITE.writes_to(*geometry.WRITTEN_KINDS).needs("object_write", "mesh_write")
    examples = (
        Example({"object": "Box", "to": "bottom"}, BOX, CHILD),
        Example({"object": "Box", "to": "point", "point": [0, 0, 0]}, BOX),
        Example({"object": "Box", "to": "object", "target": "Tip"}, BOX, TIP),
        Example(
            {"object": "Twin", "to": "geometry", "make_single_user": True},
            BOX,
            ("object.set_origin", {"object": "Box", "to": "point", "point": [5, 5, 5]}),
            TWIN,
        ),
    )

    def check(self, scene: Scene, args: SetOriginArgs) -> Findings:
        obj = yield from existing_object(scene, args.object, "/object", *geometry.GEOMETRY_KINDS)
        if args.target is not None:
            yield from scene.missing(Kind.OBJECT, args.target, "/target")
            if scene.find(Kind.OBJECT, args.target) is None:
                return
        if obj is None:
            return
        if not _points(obj) and args.to in ("geometry", "bounds", "bottom"):
            message = f"'{args.object}' has no points, so it has no {args.to}"
            yield conflict(message, "/to", "Give a point or a target, or add geometry first.")
            return
        if abs(world_matrix(scene, obj).determinant()) < 1e-12:
            message = f"'{args.object}' has zero scale, so world positions cannot be converted to its local space"
            yield conflict(message, "/object", "Set another scale first with object.transform.")
            return
        offset = _offset(scene, args, obj)
        if _is_negligible(scene, obj, offset):
            return
        yield from channel_conflicts(scene, obj, "location", "/object")
        yield from geometry.child_problems(scene, obj, "/object")
        yield from geometry.sharing_problems(scene, obj, args.make_single_user, args.data_name)
        yield from geometry.flatness_problems(obj, _shift(scene, offset), "/to")

    def apply(self, scene: Scene, args: SetOriginArgs) -> OriginSet:
        obj = required_object(scene, args.object, "/object")
        offset = _offset(scene, args, obj)
        changed = not _is_negligible(scene, obj, offset)
        if changed:
            change = _shift(scene, offset)
            movement = geometry.Movement(scene)
            movement.expect(obj, change, "/object")
            data = geometry.writable_data(scene, obj, args.data_name)
            scene.set(obj, "location", obj.location + obj.matrix_basis.to_3x3() @ offset)
            geometry.move_geometry(scene, obj, change, data)
            movement.refuse_moved_objects()
        origin = tuple(value + 0.0 for value in world_matrix(scene, obj).translation)
        return OriginSet(object=args.object, data=obj.data.name, changed=changed, origin=origin)

    def verify(self, scene: Scene, args: SetOriginArgs, result: OriginSet) -> Findings:
        obj = required_object(scene, args.object, "/object")
        is_there = args.target == args.object or _is_negligible(scene, obj, _offset(scene, args, obj), loose=10.0)
        yield from differs("that its origin is there", True, is_there, "/to")


def _offset(scene: Scene, args: SetOriginArgs, obj: Block) -> Block:
    """Return the requested position of the origin in the object's own space."""
    matrix = world_matrix(scene, obj)
    if args.point is not None:
        return matrix.inverted() @ scene.vector(args.point)
    if args.target is not None:
        return matrix.inverted() @ world_matrix(scene, scene.require(Kind.OBJECT, args.target, "/target")).translation
    points = _points(obj)
    if args.to == "geometry":
        return scene.vector([_mean(points[axis::3]) for axis in range(3)])
    if args.to == "bounds":
        return scene.vector([_middle(points[axis::3]) for axis in range(3)])
    corners = [matrix @ scene.vector(points[index : index + 3]) for index in range(0, len(points), 3)]
    center = [_middle([corner[axis] for corner in corners]) for axis in range(2)]
    return matrix.inverted() @ scene.vector([*center, min(corner.z for corner in corners)])


def _points(obj: Block) -> Sequence[float]:
    """Return the local coordinates of an object's points as one flat sequence."""
    if obj.type == "MESH":
        return positions_of(obj.data)
    flat = array("d")
    if obj.type == "LATTICE":
        for point in obj.data.points:
            flat.extend(point.co_deform)
        return flat
    for spline in obj.data.splines:
        for point in (*spline.bezier_points, *spline.points):
            flat.extend(point.co[:3])
    return flat


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _middle(values: Sequence[float]) -> float:
    return (min(values) + max(values)) / 2


def _shift(scene: Scene, offset: Block) -> Block:
    change = scene.matrix(IDENTITY)
    change.translation = -offset
    return change


def _is_negligible(scene: Scene, obj: Block, offset: Block, loose: float = 1.0) -> bool:
    """Return True if a distance is a rounding error, so that a repetition writes nothing. `loose` widens the limit."""
    matrix = world_matrix(scene, obj)
    largest = max(1.0, matrix.translation.length, *map(abs, _points(obj)))
    distance: float = (matrix.to_3x3() @ offset).length
    return distance <= NEGLIGIBLE * loose * largest
