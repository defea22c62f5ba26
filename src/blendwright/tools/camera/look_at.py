from __future__ import annotations

import math
from typing import Literal

from pydantic import Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from blendwright.tool_api import Block, Example, Findings, Kind, Point, Scene, Tool
from blendwright.tool_api.arguments import Args, Vector3, optional, renamed
from blendwright.tool_api.mentions import ObjectName
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE
from blendwright.tools.animation_data import move_conflicts
from blendwright.tools.bounding_boxes import corners
from blendwright.tools.camera_views import (
    MIN_DIRECTION_LENGTH,
    mirrored_like,
    move_to,
    view_axes,
    view_matrix,
    zero_scale,
)
from blendwright.tools.checks import conflict, differs, existing_object
from blendwright.tools.settings import ObjectChanged
from blendwright.tools.world_space import nearly_equal_matrices, world_matrix

CAMERA = ("camera.create", {"name": "Camera", "location": [4, -6, 3]})
CUBE = ("mesh.create_primitive", {"kind": "cube", "name": "Box", "location": [0, 0, 1]})


class LookAtArgs(Args):
    object: ObjectName = renamed("object", "name", description="Name of the camera, or of the light to aim.")
    target: ObjectName | None = optional("Object to look at. Alternative: point.")
    aim: Literal["ORIGIN", "CENTER"] = Field(
        default="ORIGIN", description="ORIGIN: the target's origin. CENTER: the centre of its bounds."
    )
    # Validated also when left out, because exactly one of target and point is required.
    point: Vector3 | None = optional("World point to look at. Alternative: target.", validate_default=True)
    roll_deg: float = Field(
        default=0.0,
        ge=-360.0,
        le=360.0,
        description="Rotation about the viewing direction in degrees, counter-clockwise as seen by the camera.",
    )

    @field_validator("point")
    @classmethod
    def _one_target(cls, value: Vector3 | None, info: ValidationInfo) -> Vector3 | None:
        if (value is None) == (info.data.get("target") is None):
            raise PydanticCustomError("one_target", "give exactly one of target and point")
        return value


class LookAt(Tool[LookAtArgs, ObjectChanged]):
    """Rotate a camera once so that it looks at an object or a point: -Z points there and Y is up. Its position stays."""

    name = "camera.look_at"
    promises = SAFE_IDEMPOTENT_WRITE.writes_to(Kind.OBJECT).needs("object_write")
    examples = (
        Example({"object": "Camera", "target": "Box"}, CAMERA, CUBE),
        Example({"object": "Camera", "point": [0, 0, 0], "roll_deg": 10}, CAMERA),
        Example(
            {"object": "Key", "target": "Box", "aim": "CENTER"},
            CUBE,
            ("light.create", {"name": "Key", "type": "SPOT", "location": [3, -3, 5]}),
        ),
    )

    def check(self, scene: Scene, args: LookAtArgs) -> Findings:
        obj = yield from existing_object(scene, args.object, "/object", "CAMERA", "LIGHT")
        target = None
        if args.target:
            target = yield from existing_object(scene, args.target, "/target")
        if obj is None or (args.target and target is None):
            return
        yield from zero_scale(scene, obj, "/object")
        yield from move_conflicts(scene, obj, "/object", turn=True, move=False)
        if math.dist(self._point(scene, args), world_matrix(scene, obj).translation) < MIN_DIRECTION_LENGTH:
            message = f"'{args.object}' is at the same point that it should look at"
            at = "/point"
            if target:
                at = "/target"
            yield conflict(message, at, "Move it away first.")

    def apply(self, scene: Scene, args: LookAtArgs) -> ObjectChanged:
        obj = scene.require(Kind.OBJECT, args.object, "/object")
        return ObjectChanged(object=args.object, changed=move_to(scene, obj, self._view(scene, args, obj)))

    def verify(self, scene: Scene, args: LookAtArgs, result: ObjectChanged) -> Findings:
        obj = scene.require(Kind.OBJECT, args.object, "/object")
        turned = nearly_equal_matrices(self._view(scene, args, obj), world_matrix(scene, obj))
        yield from differs("that it looks there (check for constraints or animation)", True, turned, "/object")

    def _view(self, scene: Scene, args: LookAtArgs, obj: Block) -> Block:
        matrix = world_matrix(scene, obj)
        position, point = matrix.translation, self._point(scene, args)
        back: Point = (position[0] - point[0], position[1] - point[1], position[2] - point[2])
        axes = mirrored_like(matrix, view_axes(back, args.roll_deg))
        return view_matrix(scene, axes, (position[0], position[1], position[2]), matrix)

    def _point(self, scene: Scene, args: LookAtArgs) -> Point:
        if args.point is not None:
            return args.point
        target = scene.require(Kind.OBJECT, args.target or "", "/target")
        if args.aim == "ORIGIN":
            position = world_matrix(scene, target).translation
            return (position[0], position[1], position[2])
        sides = list(zip(*corners(scene, [target]), strict=True))
        x, y, z = ((min(side) + max(side)) / 2.0 for side in sides)
        return (x, y, z)
