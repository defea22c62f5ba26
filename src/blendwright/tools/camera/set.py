"""camera.set"""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import Field

from blendwright.tool_api.arguments import Name
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE
from blendwright.tool_api.scene import Block, Kind, Scene
from blendwright.tool_api.tool import Example
from blendwright.tools.camera_settings import CameraSettings, camera_problems, camera_settings
from blendwright.tools.settings import ObjectChanged, SetsObjectSettings, Setting
from blendwright.values.findings import Finding

CAMERA = ("camera.create", {"name": "Camera"})


class SetCameraArgs(CameraSettings):
    name: Name = Field(description="Name of the camera object.")


class SetCamera(SetsObjectSettings[SetCameraArgs, ObjectChanged]):
    """Change settings of a camera; what is left out stays as it is."""

    name = "camera.set"
    # An object that was in focus may lose its last user.
    promises = SAFE_IDEMPOTENT_WRITE.writes_to(Kind.CAMERA, Kind.OBJECT).needs("object_write")
    examples = (
        Example({"name": "Camera", "lens_mm": 85}, CAMERA),
        Example({"name": "Camera", "projection": "ORTHO", "ortho_scale": 4, "shift": [0.1, 0]}, CAMERA),
        Example({"name": "Camera", "focus_distance": 3.5, "fstop": 2.8}, CAMERA),
    )

    object_types = ("CAMERA",)

    def problems(self, scene: Scene, args: SetCameraArgs, target: Block) -> Iterable[Finding]:
        return camera_problems(scene, args, target.data)

    def settings(self, scene: Scene, args: SetCameraArgs, target: Block) -> Iterable[Setting]:
        return camera_settings(scene, args, target.data)
