"""camera.create"""

from __future__ import annotations

from collections.abc import Iterator

from blendwright.tool_api.effects import Kind
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE
from blendwright.tool_api.scene import Block, Scene
from blendwright.tool_api.tool import Example, Requires, Tool
from blendwright.tools.camera_settings import CameraSettings, camera_problems, camera_settings
from blendwright.tools.placement import (
    ObjectPlacement,
    create_object,
    missing_collection,
    name_conflicts,
    placement_differs,
)
from blendwright.tools.readback import differs
from blendwright.tools.results import ObjectMade
from blendwright.tools.settings import initialize_settings, settings_differ
from blendwright.values.findings import Finding


class CreateCameraArgs(CameraSettings, ObjectPlacement):
    pass


class CreateCamera(Tool[CreateCameraArgs, ObjectMade]):
    """Add a camera. It looks along its own -Z with Y up; aim it with camera.look_at or camera.frame_objects.

    It does not become the scene's camera: that is camera.set_active."""

    name = "camera.create"
    version = 1
    promises = SAFE_IDEMPOTENT_WRITE
    writes = (Kind.OBJECT, Kind.CAMERA, Kind.COLLECTION)
    requires = Requires(blender_min=(4, 2, 0), capabilities=("object_write",))
    examples = (
        Example({"name": "Camera", "location": [7, -7, 5], "rotation_euler_deg": [63, 0, 45], "lens_mm": 35}),
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
            given=(("mesh.create_primitive", {"kind": "cube", "name": "Box"}),),
        ),
    )

    def check(self, scene: Scene, args: CreateCameraArgs) -> Iterator[Finding]:
        yield from missing_collection(scene, args)
        problems = camera_problems(scene, args, None)
        yield from problems
        # What cannot be asked for cannot be compared either.
        yield from name_conflicts(
            scene, args, Kind.CAMERA, lambda obj: () if problems else self._differences(scene, args, obj)
        )

    def apply(self, scene: Scene, args: CreateCameraArgs) -> ObjectMade:
        there = scene.find(Kind.OBJECT, args.name)
        if there is not None:
            return ObjectMade(object=args.name, data=there.data.name, created=False)
        camera = scene.create(Kind.CAMERA, args.name)
        initialize_settings(camera_settings(scene, args, camera))
        create_object(scene, args, camera)
        return ObjectMade(object=args.name, data=args.name, created=True)

    def verify(self, scene: Scene, args: CreateCameraArgs, result: ObjectMade) -> Iterator[Finding]:
        yield from self._differences(scene, args, scene.require(Kind.OBJECT, args.name, "/name"))

    def _differences(self, scene: Scene, args: CreateCameraArgs, obj: Block) -> Iterator[Finding]:
        if obj.type != "CAMERA":
            yield from differs("its type", "CAMERA", obj.type, "/name")
            return
        yield from settings_differ(camera_settings(scene, args, obj.data))
        yield from placement_differs(scene, args, obj)
