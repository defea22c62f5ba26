from __future__ import annotations

import math

from pydantic import Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from blendwright.tool_api import Block, Example, Findings, Kind, Point, Scene, Tool
from blendwright.tool_api.arguments import Args, Result, Vector3, optional, renamed
from blendwright.tool_api.mentions import ObjectName
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE
from blendwright.tools.animation_data import move_conflicts
from blendwright.tools.bounding_boxes import subject_points
from blendwright.tools.camera_views import (
    FROM,
    MIN_DIRECTION_LENGTH,
    Axes,
    Standpoint,
    View,
    frustum,
    mirrored_like,
    move_to,
    standpoint,
    view_axes,
    view_matrix,
    zero_scale,
)
from blendwright.tools.checks import close, differs, existing_object, existing_objects
from blendwright.tools.render.rendering import FrameNumber
from blendwright.tools.settings import Setting, animation_conflicts, write_settings
from blendwright.tools.world_space import world_matrix

CAMERA = ("camera.create", {"name": "Camera", "location": [4, -6, 3], "rotation_euler_deg": [65, 0, 35]})
CUBE = ("mesh.create_primitive", {"kind": "cube", "name": "Box"})
BALL = ("mesh.create_primitive", {"kind": "uv_sphere", "name": "Ball", "location": [4, 1, 0]})
# Rounding tolerance: the part of the frame by which a corner may be outside.
FRAME_TOLERANCE = 1e-3


class FrameObjectsArgs(Args):
    object: ObjectName = renamed("object", "name", description="Name of the camera object.")
    objects: list[ObjectName] = Field(
        default=[],
        max_length=10_000,
        description="Objects whose evaluated bounds should fill the frame. Without any: all rendered objects, or in "
        "an empty scene a cube of 2 m at the origin.",
    )
    view: View | None = optional("Side to look from. Default: the camera keeps its direction.")
    from_direction: Vector3 | None = optional("Instead of view: direction from the objects to the camera.")
    margin: float = Field(default=0.05, ge=0.0, le=0.45, description="Free part of the frame on each side.")
    frames: list[FrameNumber] = Field(
        default=[],
        max_length=100,
        description="Frames at which the objects should be in the frame. Without any: the current frame.",
    )

    @field_validator("from_direction")
    @classmethod
    def _a_direction(cls, value: Vector3 | None, info: ValidationInfo) -> Vector3 | None:
        if value is None:
            return value
        if info.data.get("view") is not None:
            raise PydanticCustomError("one_direction", "give either view or from_direction, not both")
        if math.hypot(*value) < MIN_DIRECTION_LENGTH:
            raise PydanticCustomError("no_direction", "from_direction must not be [0, 0, 0]")
        return value


class ObjectsFramed(Result):
    camera: str = Field(description="Name of the camera.")
    location: Point = Field(description="New position of the camera in the world.")
    distance: float = Field(description="Depth of the farthest corner along the viewing direction, in metres.")
    changed: bool = Field(description="False if the camera already framed them exactly like this.")


class FrameObjects(Tool[FrameObjectsArgs, ObjectsFramed]):
    """Move a camera so that objects fill the frame at the scene's resolution: along its present direction, or from a
    given side.

    An orthographic camera also gets a matching scale. The far clipping distance grows if the objects would be beyond
    it.
    """

    name = "camera.frame_objects"
    promises = SAFE_IDEMPOTENT_WRITE.writes_to(Kind.OBJECT, Kind.CAMERA).needs("object_write")
    examples = (
        Example({"object": "Camera", "objects": ["Box"]}, CAMERA, CUBE),
        Example({"object": "Camera", "objects": ["Box", "Ball"], "view": "ISO", "margin": 0.1}, CAMERA, CUBE, BALL),
        Example({"object": "Camera", "view": "ISO"}, CAMERA, CUBE),
        Example(
            {"object": "Plan", "objects": ["Box", "Ball"], "from_direction": [0, 0, 1]},
            CUBE,
            BALL,
            ("camera.create", {"name": "Plan", "projection": "ORTHO"}),
        ),
    )

    def check(self, scene: Scene, args: FrameObjectsArgs) -> Findings:
        obj = yield from existing_object(scene, args.object, "/object", "CAMERA")
        objects = yield from existing_objects(scene, args.objects, "/objects")
        if obj is None:
            return
        turns = args.view is not None or args.from_direction is not None
        conflicts = list(move_conflicts(scene, obj, "/object", turn=turns)) or list(zero_scale(scene, obj, "/object"))
        yield from conflicts
        if not conflicts and objects is not None:
            yield from animation_conflicts(scene, _optics(obj.data, self._aim(scene, args, obj)[1]))

    def apply(self, scene: Scene, args: FrameObjectsArgs) -> ObjectsFramed:
        obj = scene.require(Kind.OBJECT, args.object, "/object")
        axes, target = self._aim(scene, args, obj)
        changed = write_settings(scene, _optics(obj.data, target))
        changed = move_to(scene, obj, view_matrix(scene, axes, target.position, world_matrix(scene, obj))) or changed
        point = world_matrix(scene, obj).translation
        return ObjectsFramed(
            camera=args.object, location=(point[0], point[1], point[2]), distance=target.farthest, changed=changed
        )

    def verify(self, scene: Scene, args: FrameObjectsArgs, result: ObjectsFramed) -> Findings:
        obj = scene.require(Kind.OBJECT, args.object, "/object")
        sight = frustum(scene, obj.data)
        inverse = world_matrix(scene, obj).inverted()
        for point in subject_points(scene, args.objects, args.object, args.frames):
            x, y, z = inverse @ scene.vector(point)
            if sight.orthographic:
                depth = 1.0
            else:
                depth = -z
            across, along = (
                FRAME_TOLERANCE * (sight.right - sight.left) * depth,
                FRAME_TOLERANCE * (sight.top - sight.bottom) * depth,
            )
            inside = sight.left * depth - across <= x <= sight.right * depth + across
            inside = inside and sight.bottom * depth - along <= y <= sight.top * depth + along and z < 0.0
            if not inside:
                yield from differs(
                    "that all objects are in the frame (check for constraints or animation of the camera)",
                    True,
                    False,
                    "/object",
                )
                return

    def _aim(self, scene: Scene, args: FrameObjectsArgs, obj: Block) -> tuple[Axes, Standpoint]:
        """Return the camera's axes and its standpoint."""
        axes = self._axes(args, world_matrix(scene, obj))
        sight = frustum(scene, obj.data).within(args.margin)
        points = subject_points(scene, args.objects, args.object, args.frames)
        return axes, standpoint(points, axes, sight, obj.data.clip_start * 2.0)

    def _axes(self, args: FrameObjectsArgs, matrix: Block) -> Axes:
        direction: Point | None
        if args.view is not None:
            direction = FROM[args.view]
        else:
            direction = args.from_direction
        if direction is not None:
            return mirrored_like(matrix, view_axes(direction))
        columns = matrix.to_3x3().normalized().transposed()
        x, y, z = ((column[0], column[1], column[2]) for column in columns)
        return (x, y, z)


def _optics(camera: Block, target: Standpoint) -> list[Setting]:
    """Return the settings of the camera data that must change."""
    settings: list[Setting] = []
    if camera.type == "ORTHO" and not close(target.widen, 1.0):
        settings.append(Setting(camera, "ortho_scale", camera.ortho_scale * target.widen, "/object"))
    if target.farthest > camera.clip_end:
        settings.append(Setting(camera, "clip_end", target.farthest * 2.0, "/object"))
    return settings
