"""camera.set_active"""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import Field

from blendwright.tool_api.arguments import Args, Name
from blendwright.tool_api.effects import Kind
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE
from blendwright.tool_api.scene import Scene
from blendwright.tool_api.tool import Example, Requires, Tool
from blendwright.tools.readback import differs
from blendwright.tools.results import ObjectChanged
from blendwright.tools.typed import wrong_type
from blendwright.values.findings import Finding


class SetActiveArgs(Args):
    name: Name = Field(description="Name of the camera object that the scene is to be rendered through.")


class SetActiveCamera(Tool[SetActiveArgs, ObjectChanged]):
    """Make a camera the scene's own: the one that renders look through."""

    name = "camera.set_active"
    version = 1
    promises = SAFE_IDEMPOTENT_WRITE
    # The camera before may have had no other user.
    writes = (Kind.SCENE, Kind.OBJECT)
    requires = Requires(blender_min=(4, 2, 0), capabilities=("scene_write",))
    examples = (Example({"name": "Camera"}, given=(("camera.create", {"name": "Camera"}),)),)

    def check(self, scene: Scene, args: SetActiveArgs) -> Iterator[Finding]:
        yield from scene.missing(Kind.OBJECT, args.name, "/name")
        obj = scene.find(Kind.OBJECT, args.name)
        if obj is not None:
            yield from wrong_type(obj, ("CAMERA",), "/name")

    def apply(self, scene: Scene, args: SetActiveArgs) -> ObjectChanged:
        camera = scene.require(Kind.OBJECT, args.name, "/name")
        if scene.active.camera == camera:
            return ObjectChanged(object=args.name, changed=False)
        scene.set(scene.active, "camera", camera)
        return ObjectChanged(object=args.name, changed=True)

    def verify(self, scene: Scene, args: SetActiveArgs, result: ObjectChanged) -> Iterator[Finding]:
        held = scene.active.camera
        yield from differs("the scene's camera", args.name, held.name if held else None, "/name")
