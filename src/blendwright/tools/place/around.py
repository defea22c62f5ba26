"""Tool place.around"""

from __future__ import annotations

import math

from pydantic import Field

from blendwright.tool_api.arguments import Args, Result, renamed
from blendwright.tool_api.mentions import ObjectName
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE
from blendwright.tool_api.scene import Block, Kind, Point, Scene
from blendwright.tool_api.tool import Example, Findings, Tool
from blendwright.tools.animation_data import move_conflicts
from blendwright.tools.bounding_boxes import subject
from blendwright.tools.camera_views import mirrored_like, move_to, view_axes, view_matrix, zero_scale
from blendwright.tools.checks import conflict, differs, existing_object, existing_objects, required_object
from blendwright.tools.world_space import nearly_equal_matrices, world_matrix

BOX = ("mesh.create_primitive", {"kind": "cube", "name": "Box", "location": [2, 1, 0]})
KEY = ("light.create", {"name": "Key", "type": "AREA"})
PIVOT = ("object.create_empty", {"name": "Pivot"})


class AroundArgs(Args):
    object: ObjectName = Field(description="Name of the object to move: a light, a camera, an empty or any other.")
    objects: list[ObjectName] = renamed(
        "objects",
        "targets",
        default=[],
        max_length=1000,
        description="Objects at the centre. Default: everything that a render shows.",
    )
    azimuth_deg: float = Field(
        default=0.0, ge=-360.0, le=360.0, description="Angle seen from above: 0 in front (-Y), 90 to the right (+X)."
    )
    elevation_deg: float = Field(default=0.0, ge=-90.0, le=90.0, description="Angle above the horizon.")
    distance: float = Field(
        default=3.0,
        ge=0.0,
        le=1000.0,
        description="Distance from the centre of the targets, in radii of the sphere around them; 0 is the centre itself.",
    )
    face: bool = Field(
        default=True, description="Turn its -Z axis, in which lights shine and cameras look, to the centre."
    )


class Around(Result):
    object: str = Field(description="Name of the object.")
    location: Point = Field(description="World position after the call.")
    center: Point = Field(description="Centre of the targets.")
    radius: float = Field(description="Radius of the sphere around the targets, in metres.")
    changed: bool = Field(description="False if the object was already there.")


class PlaceAround(Tool[AroundArgs, Around]):
    """Put an object around others, by angles and a distance, and turn it to them. The distance scales with their size."""

    name = "place.around"
    promises = SAFE_IDEMPOTENT_WRITE.writes_to(Kind.OBJECT).needs("object_write")
    examples = (
        Example({"object": "Key", "objects": ["Box"], "azimuth_deg": 40, "elevation_deg": 35, "distance": 3}, BOX, KEY),
        Example({"object": "Pivot", "distance": 0, "face": False}, BOX, PIVOT),
        Example({"object": "Key", "azimuth_deg": -120, "elevation_deg": 20}, KEY),
    )

    def check(self, scene: Scene, args: AroundArgs) -> Findings:
        obj = yield from existing_object(scene, args.object, "/object")
        yield from existing_objects(scene, args.objects, "/objects")
        if args.object in args.objects:
            at = f"/objects/{args.objects.index(args.object)}"
            yield conflict(f"'{args.object}' cannot be placed around itself", at, "Leave it out of the targets.")
        if obj is not None:
            yield from zero_scale(scene, obj, "/object")
            yield from move_conflicts(scene, obj, "/object", turn=args.face)

    def apply(self, scene: Scene, args: AroundArgs) -> Around:
        obj = required_object(scene, args.object, "/object")
        targets = subject(scene, args.objects, args.object)
        changed = move_to(scene, obj, self._pose(scene, args, obj))
        location = world_matrix(scene, obj).translation
        return Around(
            object=args.object,
            location=(location[0], location[1], location[2]),
            center=targets.center,
            radius=targets.radius,
            changed=changed,
        )

    def verify(self, scene: Scene, args: AroundArgs, result: Around) -> Findings:
        obj = required_object(scene, args.object, "/object")
        in_place = nearly_equal_matrices(self._pose(scene, args, obj), world_matrix(scene, obj))
        yield from differs("that it is there (no constraint or animation moves it)", True, in_place, "/object")

    def _pose(self, scene: Scene, args: AroundArgs, obj: Block) -> Block:
        """Return the requested world matrix of the object."""
        targets = subject(scene, args.objects, args.object)
        azimuth, elevation = math.radians(args.azimuth_deg), math.radians(args.elevation_deg)
        horizontal = math.cos(elevation)
        direction = (math.sin(azimuth) * horizontal, -math.cos(azimuth) * horizontal, math.sin(elevation))
        distance = args.distance * targets.radius
        x, y, z = (center + part * distance for center, part in zip(targets.center, direction, strict=True))
        current = world_matrix(scene, obj)
        if args.face:
            return view_matrix(scene, mirrored_like(current, view_axes(direction)), (x, y, z), current)
        current.translation = (x, y, z)
        return current
