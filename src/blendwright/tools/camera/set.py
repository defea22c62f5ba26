"""camera.set"""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import Field

from blendwright.tool_api.arguments import Name
from blendwright.tool_api.effects import Kind
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE
from blendwright.tool_api.scene import Scene
from blendwright.tool_api.tool import Example, Requires, Tool
from blendwright.tools.camera_settings import CameraSettings, camera_problems, camera_settings
from blendwright.tools.results import ObjectChanged
from blendwright.tools.settings import animation_conflicts, settings_differ, write_settings
from blendwright.tools.typed import wrong_type
from blendwright.values.findings import Finding

CAMERA = ("camera.create", {"name": "Camera"})


class SetCameraArgs(CameraSettings):
    name: Name = Field(description="Name of the camera object.")


class SetCamera(Tool[SetCameraArgs, ObjectChanged]):
    """Change settings of a camera; what is left out stays as it is."""

    name = "camera.set"
    version = 1
    promises = SAFE_IDEMPOTENT_WRITE
    # An object that was in focus may lose its last user.
    writes = (Kind.CAMERA, Kind.OBJECT)
    requires = Requires(blender_min=(4, 2, 0), capabilities=("object_write",))
    examples = (
        Example({"name": "Camera", "lens_mm": 85}, given=(CAMERA,)),
        Example({"name": "Camera", "projection": "ORTHO", "ortho_scale": 4, "shift": [0.1, 0]}, given=(CAMERA,)),
        Example({"name": "Camera", "focus_distance": 3.5, "fstop": 2.8}, given=(CAMERA,)),
    )

    def check(self, scene: Scene, args: SetCameraArgs) -> Iterator[Finding]:
        yield from scene.missing(Kind.OBJECT, args.name, "/name")
        obj = scene.find(Kind.OBJECT, args.name)
        if obj is None:
            return
        wrong = wrong_type(obj, ("CAMERA",), "/name")
        trouble = wrong or camera_problems(scene, args, obj.data)
        yield from trouble
        if not trouble:
            yield from animation_conflicts(scene, camera_settings(scene, args, obj.data))

    def apply(self, scene: Scene, args: SetCameraArgs) -> ObjectChanged:
        camera = scene.require(Kind.OBJECT, args.name, "/name").data
        return ObjectChanged(object=args.name, changed=write_settings(scene, camera_settings(scene, args, camera)))

    def verify(self, scene: Scene, args: SetCameraArgs, result: ObjectChanged) -> Iterator[Finding]:
        yield from settings_differ(camera_settings(scene, args, scene.require(Kind.OBJECT, args.name, "/name").data))
