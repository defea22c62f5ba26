"""Tool camera.set, and the settings of cameras as arguments: lens, sensor, clipping and depth of field."""

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

# Argument -> Blender's camera property with the same value.
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
# Blender's shortest focal length in millimetres.
MIN_LENS_MM = 1.0
# Sensor of a new camera: its fit, and its width and height in millimetres.
NEW_SENSOR = ("AUTO", 36.0, 24.0)
# Clipping distances of a new camera in metres.
DEFAULT_CLIP_M = (0.1, 1000.0)


class CameraSettings(Args):
    """Settings of a camera. Settings that are left out stay unchanged; a new camera has Blender's defaults."""

    projection: Literal["PERSP", "ORTHO"] | None = optional("Perspective or orthographic.")
    lens_mm: float | None = optional("Focal length in millimetres. Alternative: fov_deg.", ge=1.0, le=5000.0)
    fov_deg: float | None = optional(
        "Field of view across the longer side of the frame, in degrees. Alternative: lens_mm.", ge=0.5, le=170.0
    )
    ortho_scale: PositiveFloat | None = optional("Width of an orthographic view in metres, across the longer side.")
    sensor_width_mm: float | None = optional("Width of the sensor in millimetres.", ge=1.0, le=1000.0)
    sensor_height_mm: float | None = optional("Height of the sensor in millimetres.", ge=1.0, le=1000.0)
    sensor_fit: Literal["AUTO", "HORIZONTAL", "VERTICAL"] | None = optional(
        "Side of the frame that the sensor fits; AUTO is the longer one."
    )
    shift: Vector2 | None = optional("Shift of the frame in X and Y, as fractions of its longer side.")
    clip_start: float | None = optional("Nearest visible distance in metres.", ge=1e-6, le=1e9)
    clip_end: float | None = optional("Farthest visible distance in metres.", ge=1e-6, le=1e9)
    depth_of_field: bool | None = optional(
        "Blur objects that are out of focus. Default: true if a focus or fstop is given."
    )
    focus_object: ObjectName | None = optional("Object whose origin is in focus.")
    focus_distance: float | None = optional(
        "Distance in focus in metres. Not together with focus_object.", ge=0.0, le=1e9
    )
    fstop: float | None = optional("Aperture as f-number; a lower one blurs more.", ge=0.01, le=1000.0)

    @field_validator("fov_deg")
    @classmethod
    def _one_lens(cls, value: float | None, info: ValidationInfo) -> float | None:
        if value is not None and info.data.get("lens_mm") is not None:
            raise PydanticCustomError("lens_or_fov", "give either lens_mm or fov_deg, not both")
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
            raise PydanticCustomError("one_focus", "give either focus_object or focus_distance, not both")
        return value

    @property
    def focuses(self) -> bool | None:
        """Return True if depth of field should be on, False if off, and None if the arguments do not say."""
        if self.depth_of_field is not None:
            return self.depth_of_field
        if any(value is not None for value in (self.focus_object, self.focus_distance, self.fstop)):
            return True
        return None


def camera_problems(scene: Scene, args: CameraSettings, camera: Block | None) -> Sequence[Finding]:
    """Return findings about the settings for this camera, or for a new one if `camera` is None."""
    findings: list[Finding] = []
    if args.focus_object:
        findings += scene.missing(Kind.OBJECT, args.focus_object, "/focus_object")
    findings += _clip_problems(args, camera)
    if args.fov_deg is None:
        return findings

    lens = _lens(args, args.fov_deg, camera)
    if lens < MIN_LENS_MM:
        message = (
            f"{args.fov_deg:g} degrees need a lens of {lens:.3g} mm on this sensor; the minimum is {MIN_LENS_MM:g} mm"
        )
        widest = math.degrees(2.0 * math.atan(_side(args, camera) / (2.0 * MIN_LENS_MM)))
        fix = f"Choose at most {math.floor(widest * 10) / 10:g} degrees, or a larger sensor."
        findings.append(invalid(message, "/fov_deg", fix))
    return findings


def _clip_problems(args: CameraSettings, camera: Block | None) -> Findings:
    if args.clip_start is None and args.clip_end is None:
        return
    start, end = DEFAULT_CLIP_M
    if camera:
        start, end = camera.clip_start, camera.clip_end
    at = "/clip_start"
    if args.clip_start is not None:
        start = args.clip_start
    if args.clip_end is not None:
        end, at = args.clip_end, "/clip_end"
    if end <= start:
        message = f"clip_start {start:g} m is not less than clip_end {end:g} m"
        yield invalid(message, at, "Give clip_start and clip_end together.")


def camera_settings(scene: Scene, args: CameraSettings, camera: Block) -> Settings:
    """Yield the requested settings as Blender's properties."""
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
    """Return the length in millimetres of the sensor side that the field of view spans."""
    fit, width, height = NEW_SENSOR
    if camera:
        fit, width, height = camera.sensor_fit, camera.sensor_width, camera.sensor_height
    if (args.sensor_fit or fit) == "VERTICAL":
        return args.sensor_height_mm or height
    return args.sensor_width_mm or width


def _lens(args: CameraSettings, fov_deg: float, camera: Block | None) -> float:
    """Return the focal length in millimetres that results in this field of view."""
    return _side(args, camera) / (2.0 * math.tan(math.radians(fov_deg) / 2.0))


CAMERA = ("camera.create", {"name": "Camera"})


class SetCameraArgs(CameraSettings):
    object: ObjectName = renamed("object", "name", description="Name of the camera object.")


class SetCamera(SetsObjectSettings[SetCameraArgs, ObjectChanged]):
    """Change settings of a camera. Settings that are left out stay unchanged."""

    name = "camera.set"
    # The object previously in focus may lose its last user.
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
