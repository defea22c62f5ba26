from __future__ import annotations

from blendwright.tool_api import Block, Example, Findings, Kind, Scene
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE
from blendwright.tools.aiming import AimedPlacement, aim_problems, aimed_rotation
from blendwright.tools.camera.set import CameraSettings, camera_problems, camera_settings
from blendwright.tools.object_creation import CreatesObject
from blendwright.tools.settings import Settings


class CreateCameraArgs(CameraSettings, AimedPlacement):
    pass


class CreateCamera(CreatesObject[CreateCameraArgs]):
    """Create a camera. It looks along its local -Z with Y up; aim it with look_at or camera.frame_objects.

    It does not become the scene's active camera; use camera.set_active for that.
    """

    name = "camera.create"
    promises = SAFE_IDEMPOTENT_WRITE.writes_to(Kind.OBJECT, Kind.CAMERA, Kind.COLLECTION).needs("object_write")
    examples = (
        Example({"name": "Camera", "location": [7, -7, 5], "rotation_euler_deg": [63, 0, 45], "lens_mm": 35}),
        Example(
            {"name": "Watching", "location": [4, -6, 3], "look_at": "Box"},
            ("mesh.create_primitive", {"kind": "cube", "name": "Box", "location": [1, 0, 1]}),
        ),
        Example({"name": "Wide", "fov_deg": 90, "sensor_width_mm": 24, "clip_start": 0.01, "clip_end": 500}),
        Example({"name": "Plan", "projection": "ORTHO", "ortho_scale": 12, "location": [0, 0, 10]}),
        Example(
            {
                "name": "Portrait",
                "lens_mm": 85,
                "focus_object": "Box",
                "fstop": 1.8,
                "location": [0, -4, 0],
                "rotation_euler_deg": [90, 0, 0],
            },
            ("mesh.create_primitive", {"kind": "cube", "name": "Box"}),
        ),
    )

    object_type = "CAMERA"

    def problems(self, scene: Scene, args: CreateCameraArgs) -> Findings:
        yield from camera_problems(scene, args, None)
        yield from aim_problems(scene, args)

    def rotation(self, scene: Scene, args: CreateCameraArgs) -> tuple[float, ...]:
        if args.look_at is None:
            return super().rotation(scene, args)
        return aimed_rotation(scene, args)

    def settings(self, scene: Scene, args: CreateCameraArgs, target: Block) -> Settings:
        return camera_settings(scene, args, target)
