from __future__ import annotations

import math
from array import array
from collections.abc import Iterable

from pydantic import Field

from blendwright.tool_api import Example, Findings, Kind, Point, Scene, Tool
from blendwright.tool_api.arguments import Args, optional, renamed
from blendwright.tool_api.mentions import (
    CollectionName,
    MaterialName,
    Mention,
    NewObjectName,
    ObjectName,
    Role,
    mentions,
)
from blendwright.tool_api.promises import SAFE_ONE_TIME_WRITE
from blendwright.tools.bounding_boxes import BoundingBox, subject
from blendwright.tools.checks import differs, existing_objects, missing_target_collection, target_collection
from blendwright.tools.mesh_data import Geometry, fill_mesh, geometry
from blendwright.tools.object_creation import ObjectMade

BOX = ("mesh.create_primitive", {"kind": "cube", "name": "Box", "location": [1, 0, 0]})
# Number of segments of the bend between floor and wall.
BEND_SEGMENTS = 24


class BackdropArgs(Args):
    name: NewObjectName = Field(description="Name of the new object; must be free.")
    objects: list[ObjectName] = renamed(
        "objects",
        "targets",
        default=[],
        max_length=1000,
        description="Objects on the backdrop. Without any: all rendered objects.",
    )
    size: float = Field(
        default=8.0, ge=2.0, le=100.0, description="Half of its width, in radii of the sphere around the objects."
    )
    collection: CollectionName | None = optional("Collection to link it to. Default: the scene's own collection.")
    material: MaterialName | None = optional("Name of an existing material. Default: no material.")


class CreateBackdrop(Tool[BackdropArgs, ObjectMade]):
    """Create a studio backdrop: a floor directly below the objects that bends smoothly into a wall behind them (+Y)."""

    name = "mesh.create_backdrop"
    promises = SAFE_ONE_TIME_WRITE.writes_to(Kind.OBJECT, Kind.MESH, Kind.COLLECTION).needs(
        "object_write", "mesh_write"
    )
    examples = (
        Example({"name": "Backdrop", "objects": ["Box"]}, BOX),
        Example({"name": "Backdrop", "size": 4}),
    )

    def mentions_for(self, args: BackdropArgs) -> Iterable[Mention]:
        yield from mentions(args)
        yield Mention(Role.MAKES, Kind.MESH.blocks, args.name, at="/name")

    def check(self, scene: Scene, args: BackdropArgs) -> Findings:
        yield from scene.name_conflicts(Kind.OBJECT, args.name, "/name")
        yield from scene.name_conflicts(Kind.MESH, args.name, "/name")
        yield from existing_objects(scene, args.objects, "/objects")
        yield from missing_target_collection(scene, args.collection)
        if args.material is not None:
            yield from scene.missing(Kind.MATERIAL, args.material, "/material")

    def apply(self, scene: Scene, args: BackdropArgs) -> ObjectMade:
        box = subject(scene, args.objects, args.name)
        mesh = scene.create(Kind.MESH, args.name)
        shape = sweep(box, args.size * box.radius)
        fill_mesh(mesh, shape)
        mesh.polygons.foreach_set("use_smooth", array("b", [1] * shape.face_count))
        if args.material is not None:
            mesh.materials.append(scene.require(Kind.MATERIAL, args.material, "/material"))
        obj = scene.create(Kind.OBJECT, args.name, mesh)
        x, y, _ = box.center
        obj.location = (x, y, box.low[2])
        scene.link(target_collection(scene, args.collection), obj)
        return ObjectMade(object=args.name, data=args.name, created=True)

    def verify(self, scene: Scene, args: BackdropArgs, result: ObjectMade) -> Findings:
        obj = scene.require(Kind.OBJECT, args.name, "/name")
        box = subject(scene, args.objects, args.name)
        yield from differs("its floor", box.low[2], obj.location.z, "/name")
        yield from differs("its number of faces", BEND_SEGMENTS + 2, len(obj.data.polygons), "/name")
        if args.material is not None:
            names = [material.name for material in obj.data.materials]
            yield from differs("its material", [args.material], names, "/material")


def sweep(box: BoundingBox, half: float) -> Geometry:
    """Return the backdrop's geometry: a profile from front to back, extruded to both sides by twice `half`.

    Its local origin is on the floor, below the centre of `box`.
    """
    depth = (box.high[1] - box.low[1]) / 2.0
    bend = half / 3.0
    wall = depth + max(box.radius, half / 2.0)
    profile = [(-2.0 * half, 0.0), (wall - bend, 0.0)]
    for segment in range(1, BEND_SEGMENTS + 1):
        angle = math.pi / 2.0 * segment / BEND_SEGMENTS
        profile.append((wall - bend + bend * math.sin(angle), bend - bend * math.cos(angle)))
    profile.append((wall, 2.0 * half))
    points: list[Point] = [(side * 2.0 * half, y, z) for y, z in profile for side in (-1.0, 1.0)]
    faces = [[2 * row, 2 * row + 1, 2 * row + 3, 2 * row + 2] for row in range(len(profile) - 1)]
    return geometry(points, faces)
