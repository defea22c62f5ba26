"""camera.set, and the settings of cameras: lens, sensor, clipping and depth of field, as arguments and as Blender keeps them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

from pydantic import ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from blendwright.tool_api import Block, Example, Findings, Kind, Scene
from blendwright.tool_api.arguments import Args, PositiveFloat, Vector2, optional, renamed
from blendwright.tool_api.mentions import ObjectName
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE
from blendwright.tools.checks import invalid
from blendwright.tools.settings import ObjectChanged, SetsObjectSettings, Setting, Settings
from blendwright.values.findings import Finding

# Argument -> Blender's property on the camera, where the value is the same.
PLAIN: dict[str, str] = {
    "projection": "type",
    "sensor_width_mm": "sensor_width",
    "sensor_height_mm": "sensor_height",
    "sensor_fit": "sensor_fit",
    "lens_mm": "lens",
    "ortho_scale": "ortho_scale",
    "clip_start": "clip_start",
    "clip_end": "clip_end",
}
# Blender's shortest focal length, and the sensor of a new camera: its fit, width and height in millimetres.
SHORTEST = 1.0
NEW = ("AUTO", 36.0, 24.0)


class CameraSettings(Args):
    """Settings of a camera; what is left out stays as it is (Blender's defaults on a new one)."""

    projection: Literal["PERSP", "ORTHO"] | None = optional("Perspective or orthographic.")
    lens_mm: float | None = optional("Focal length in millimetres; or give fov_deg.", ge=1.0, le=5000.0)
    fov_deg: float | None = optional(
        "Field of view across the longer side of the frame, in degrees; or give lens_mm.", ge=0.5, le=170.0
    )
    ortho_scale: PositiveFloat | None = optional("Width of an orthographic view in metres, across the longer side.")
    sensor_width_mm: float | None = optional("Width of the sensor in millimetres.", ge=1.0, le=1000.0)
    sensor_height_mm: float | None = optional("Height of the sensor in millimetres.", ge=1.0, le=1000.0)
    sensor_fit: Literal["AUTO", "HORIZONTAL", "VERTICAL"] | None = optional(
        "Which side of the frame the sensor fits; AUTO is the longer one."
    )
    shift: Vector2 | None = optional("Shift of the frame in X and Y, in parts of its longer side.")
    clip_start: float | None = optional("Nearest visible distance in metres.", ge=1e-6, le=1e9)
    clip_end: float | None = optional("Farthest visible distance in metres.", ge=1e-6, le=1e9)
    depth_of_field: bool | None = optional("Blur what is out of focus; on when a focus or f-stop is given.")
    focus_object: ObjectName | None = optional("Object whose origin is in focus.")
    focus_distance: float | None = optional("Distance in focus in metres, without focus_object.", ge=0.0, le=1e9)
    fstop: float | None = optional("Aperture: lower blurs more.", ge=0.01, le=1000.0)

    @field_validator("fov_deg")
    @classmethod
    def _one_lens(cls, value: float | None, info: ValidationInfo) -> float | None:
        if value is not None and info.data.get("lens_mm") is not None:
            raise PydanticCustomError("lens_or_fov", "lens_mm and fov_deg say the same thing: give one of them")
        return value

    @field_validator("clip_end")
    @classmethod
    def _clip_order(cls, value: float | None, info: ValidationInfo) -> float | None:
        start = info.data.get("clip_start")
        if value is not None and start is not None and value <= start:
            raise PydanticCustomError("clip_order", "clip_end must be more than clip_start")
        return value

    @field_validator("focus_distance")
    @classmethod
    def _one_focus(cls, value: float | None, info: ValidationInfo) -> float | None:
        if value is not None and info.data.get("focus_object") is not None:
            raise PydanticCustomError("one_focus", "focus_object takes the place of focus_distance: give one of them")
        return value

    @property
    def focuses(self) -> bool | None:
        """Whether depth of field is on, or None when nothing was said about it."""
        if self.depth_of_field is not None:
            return self.depth_of_field
        if any(value is not None for value in (self.focus_object, self.focus_distance, self.fstop)):
            return True
        return None


def camera_problems(scene: Scene, args: CameraSettings, camera: Block | None) -> Sequence[Finding]:
    """What speaks against the settings, given the camera they are for (None for one that is to be made)."""
    if args.focus_object:
        findings = list(scene.missing(Kind.OBJECT, args.focus_object, "/focus_object"))
    else:
        findings = []
    if args.clip_start is not None or args.clip_end is not None:
        if args.clip_start is not None:
            start = args.clip_start
        elif camera:
            start = camera.clip_start
        else:
            start = 0.1
        if args.clip_end is not None:
            end = args.clip_end
        elif camera:
            end = camera.clip_end
        else:
            end = 1000.0
        if end <= start:
            if args.clip_end is not None:
                at = "/clip_end"
            else:
                at = "/clip_start"
            message = f"it would see from {start:g} m to {end:g} m only"
            findings.append(invalid(message, at, "Give clip_start and clip_end together."))
    if args.fov_deg is not None and (lens := _lens(args, args.fov_deg, camera)) < SHORTEST:
        message = f"{args.fov_deg:g} degrees need a lens of {lens:.3g} mm on this sensor, and the shortest has {SHORTEST:g} mm"
        widest = math.degrees(2.0 * math.atan(_side(args, camera) / (2.0 * SHORTEST)))
        cure = f"Ask for at most {math.floor(widest * 10) / 10:g} degrees, or for a larger sensor."
        findings.append(invalid(message, "/fov_deg", cure))
    return findings


def camera_settings(scene: Scene, args: CameraSettings, camera: Block) -> Settings:
    """What was asked for, as Blender keeps it."""
    for argument, attribute in PLAIN.items():
        value = getattr(args, argument)
        if value is not None:
            yield Setting(camera, attribute, value, f"/{argument}")
    if args.fov_deg is not None:
        yield Setting(camera, "lens", _lens(args, args.fov_deg, camera), "/fov_deg")
    if args.shift is not None:
        yield Setting(camera, "shift_x", args.shift[0], "/shift/0")
        yield Setting(camera, "shift_y", args.shift[1], "/shift/1")
    if args.focuses is not None:
        yield Setting(camera.dof, "use_dof", args.focuses, "/depth_of_field")
    if args.focus_object is not None:
        yield Setting(camera.dof, "focus_object", scene.require(Kind.OBJECT, args.focus_object), "/focus_object")
    if args.focus_distance is not None:
        yield Setting(camera.dof, "focus_object", None, "/focus_distance")
        yield Setting(camera.dof, "focus_distance", args.focus_distance, "/focus_distance")
    if args.fstop is not None:
        yield Setting(camera.dof, "aperture_fstop", args.fstop, "/fstop")


def _side(args: CameraSettings, camera: Block | None) -> float:
    """The side of the sensor that a field of view goes across, in millimetres; a new camera has Blender's defaults."""
    fit, width, height = (camera.sensor_fit, camera.sensor_width, camera.sensor_height) if camera else NEW
    if (args.sensor_fit or fit) == "VERTICAL":
        return args.sensor_height_mm or height
    return args.sensor_width_mm or width


def _lens(args: CameraSettings, fov_deg: float, camera: Block | None) -> float:
    """The focal length that gives a field of view on the sensor's fitted side."""
    return _side(args, camera) / (2.0 * math.tan(math.radians(fov_deg) / 2.0))


CAMERA = ("camera.create", {"name": "Camera"})


class SetCameraArgs(CameraSettings):
    object: ObjectName = renamed("object", "name", description="Name of the camera object.")


class SetCamera(SetsObjectSettings[SetCameraArgs, ObjectChanged]):
    """Change settings of a camera; what is left out stays as it is."""

    name = "camera.set"
    # An object that was in focus may lose its last user.
    promises = SAFE_IDEMPOTENT_WRITE.writes_to(Kind.CAMERA, Kind.OBJECT).needs("object_write")
    examples = (
        Example({"object": "Camera", "lens_mm": 85}, CAMERA),
        Example({"object": "Camera", "projection": "ORTHO", "ortho_scale": 4, "shift": [0.1, 0]}, CAMERA),
        Example({"object": "Camera", "focus_distance": 3.5, "fstop": 2.8}, CAMERA),
    )

    object_types = ("CAMERA",)

    def problems(self, scene: Scene, args: SetCameraArgs, target: Block) -> Findings:
        return camera_problems(scene, args, target.data)

    def settings(self, scene: Scene, args: SetCameraArgs, target: Block) -> Settings:
        return camera_settings(scene, args, target.data)
