from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from blendwright.tool_api import Block, Example, Findings, Kind, Point, Scene, Tool
from blendwright.tool_api.arguments import Args, Result, optional
from blendwright.tool_api.mentions import Mention, NewObjectName, ObjectName, Role, mentions
from blendwright.tool_api.promises import SAFE_ONE_TIME_WRITE
from blendwright.tools.animation.curve_writing import open_curves, set_key
from blendwright.tools.animation_data import curves
from blendwright.tools.bounding_boxes import NOTHING, around, subject_points
from blendwright.tools.checks import conflict, differs, existing_object, existing_objects
from blendwright.tools.object.set_parent import SetParent, SetParentArgs
from blendwright.tools.scene.set_frame_range import SetFrameRange, SetFrameRangeArgs
from blendwright.tools.settings import write_settings

CAMERA = ("camera.create", {"name": "Camera", "location": [4, -6, 3], "rotation_euler_deg": [65, 0, 35]})
CUBE = ("mesh.create_primitive", {"kind": "cube", "name": "Box"})
PARENTING, RANGE = SetParent(), SetFrameRange()


class TurntableArgs(Args):
    object: ObjectName | None = optional(
        "Camera that circles the objects. Default: the scene's active camera. Not with turn OBJECTS."
    )
    objects: Annotated[list[ObjectName], Field(max_length=1000)] = Field(
        default=[],
        description="Objects in the centre, or objects that turn. Without any, for turn CAMERA: all rendered objects.",
    )
    turn: Literal["CAMERA", "OBJECTS"] = Field(
        default="CAMERA",
        description="CAMERA: the camera circles the objects. OBJECTS: the objects turn, with light and camera fixed.",
    )
    name: NewObjectName = Field(
        default="Turntable", description="Name of the new object, an empty that turns; must be free."
    )
    start: int = Field(default=1, ge=0, le=1_000_000, description="First frame.")
    frames: int = Field(default=120, ge=2, le=48_000, description="Number of frames of all turns together.")
    turns: int = Field(default=1, ge=1, le=100, description="Number of whole turns, so that the end matches the start.")
    clockwise: bool = Field(default=False, description="True to turn clockwise as seen from above.")
    set_range: bool = Field(default=True, description="Also set the scene's first and last frame to the loop.")

    @field_validator("turn")
    @classmethod
    def _names_what_turns(cls, value: str, info: ValidationInfo) -> str:
        if value == "OBJECTS" and not info.data.get("objects"):
            raise PydanticCustomError("no_objects", "turn OBJECTS needs objects")
        if value == "OBJECTS" and info.data.get("object") is not None:
            raise PydanticCustomError("no_camera", "turn OBJECTS moves no camera: leave object out")
        return value


class TurntableMade(Result):
    object: str = Field(description="Name of the empty that turns.")
    followers: list[str] = Field(description="Children of the empty: the camera, or the objects.")
    center: Point = Field(description="World position of the empty.")
    frame_start: int = Field(description="First frame of the loop.")
    frame_end: int = Field(description="Last frame of the loop; the next frame would equal the first one.")


class Turntable(Tool[TurntableArgs, TurntableMade]):
    """Make a turntable: a camera circles objects, or objects turn, in an endless loop.

    An empty in the centre turns about Z. The camera or the objects become its children and keep their positions. First
    position the camera with camera.frame_objects; afterwards render with render.animation.
    """

    name = "camera.turntable"
    promises = SAFE_ONE_TIME_WRITE.writes_to(Kind.OBJECT, Kind.ACTION, Kind.SCENE, Kind.COLLECTION).needs(
        "object_write", "animation_write"
    )
    examples = (
        Example({"object": "Camera", "frames": 48}, CAMERA, CUBE),
        Example({"objects": ["Box"], "turn": "OBJECTS", "clockwise": True}, CUBE),
    )

    def mentions_for(self, args: TurntableArgs) -> Iterator[Mention]:
        yield from mentions(args)
        yield Mention(Role.MAKES, Kind.ACTION.blocks, f"{args.name}Action", surely=False, at="/name")

    def check(self, scene: Scene, args: TurntableArgs) -> Findings:
        yield from scene.name_conflicts(Kind.OBJECT, args.name, "/name")
        yield from scene.name_conflicts(Kind.ACTION, f"{args.name}Action", "/name")
        objects = yield from existing_objects(scene, args.objects, "/objects")
        if args.turn == "CAMERA":
            if args.object is None and scene.active.camera is None:
                fix = "Name a camera, or call camera.set_active first."
                yield conflict("the scene has no camera", "/object", fix)
            elif args.object is not None:
                yield from existing_object(scene, args.object, "/object", "CAMERA")
        if objects is None:
            return
        for at, child in self._followers(scene, args):
            if child.parent is not None:
                message = f"'{child.name}' already has the parent '{child.parent.name}'"
                yield conflict(message, at, "Name its parent instead, or remove the parent with object.set_parent.")

    def apply(self, scene: Scene, args: TurntableArgs) -> TurntableMade:
        center = _center(scene, args)
        children: list[str] = [child.name for _, child in self._followers(scene, args)]
        pivot = scene.create(Kind.OBJECT, args.name, None)
        pivot.location = center
        scene.link(scene.active.collection, pivot)
        for child in children:
            PARENTING.apply(scene, SetParentArgs(object=child, parent=args.name))
        curve = open_curves(scene, pivot, pivot).new("rotation_euler", index=2)
        for frame, angle in ((args.start, 0.0), (args.start + args.frames, _total_angle(args))):
            set_key(curve, frame, angle, "LINEAR", "AUTO", "VECTOR")
        curve.extrapolation = "LINEAR"
        pivot.rotation_euler[2] = curve.evaluate(scene.active.frame_current_final)
        last = args.start + args.frames - 1
        if args.set_range:
            span = SetFrameRangeArgs(start=args.start, end=last)
            write_settings(scene, RANGE.settings(scene, span, scene.active))
        return TurntableMade(
            object=args.name, followers=children, center=center, frame_start=args.start, frame_end=last
        )

    def verify(self, scene: Scene, args: TurntableArgs, result: TurntableMade) -> Findings:
        pivot = scene.require(Kind.OBJECT, args.name)
        for name in result.followers:
            parent = scene.require(Kind.OBJECT, name).parent
            parent_name = None
            if parent is not None:
                parent_name = parent.name
            yield from differs(f"the parent of '{name}'", args.name, parent_name, "/objects")
        (curve,) = curves(scene, pivot)
        for part in (0.0, 0.25, 1.0, 1.5):
            expected = _total_angle(args) * part
            yield from differs("its angle", expected, curve.evaluate(args.start + args.frames * part), "/frames")
        if args.set_range:
            span = (scene.active.frame_start, scene.active.frame_end)
            yield from differs("the frame range", (result.frame_start, result.frame_end), span, "/start")

    def _followers(self, scene: Scene, args: TurntableArgs) -> list[tuple[str, Block]]:
        """Return the objects that become children of the empty, each after the JSON pointer of its argument."""
        if args.turn == "CAMERA":
            if args.object is None:
                camera = scene.active.camera
            else:
                camera = scene.find(Kind.OBJECT, args.object)
            if camera is None:
                return []
            return [("/object", camera)]
        named = [(f"/objects/{number}", scene.require(Kind.OBJECT, name)) for number, name in enumerate(args.objects)]
        named_objects = {child for _, child in named}
        return [(at, child) for at, child in named if child.parent not in named_objects]


def _total_angle(args: TurntableArgs) -> float:
    """Return the angle in radians of all turns together; negative for clockwise."""
    angle = math.tau * args.turns
    if args.clockwise:
        return -angle
    return angle


def _center(scene: Scene, args: TurntableArgs) -> Point:
    if args.object is None:
        camera = scene.active.camera
    else:
        camera = scene.require(Kind.OBJECT, args.object)
    camera_name = ""
    if camera is not None:
        camera_name = camera.name
    points = subject_points(scene, args.objects, camera_name, [])
    return (around(points) or NOTHING).center
