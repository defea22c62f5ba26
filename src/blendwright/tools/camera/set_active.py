from __future__ import annotations

from blendwright.tool_api import Args, Block, Example, Kind, Scene
from blendwright.tool_api.arguments import renamed
from blendwright.tool_api.mentions import ObjectName
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE
from blendwright.tools.settings import ObjectChanged, SetsObjectSettings, Setting, Settings


class SetActiveArgs(Args):
    object: ObjectName = renamed("object", "name", description="Name of the camera object to render with.")


class SetActiveCamera(SetsObjectSettings[SetActiveArgs, ObjectChanged]):
    """Make a camera the scene's active camera, which renders use."""

    name = "camera.set_active"
    # The previous active camera may lose its last user.
    promises = SAFE_IDEMPOTENT_WRITE.writes_to(Kind.SCENE, Kind.OBJECT).needs("scene_write")
    examples = (Example({"object": "Camera"}, ("camera.create", {"name": "Camera"})),)

    object_types = ("CAMERA",)

    def settings(self, scene: Scene, args: SetActiveArgs, target: Block) -> Settings:
        return [Setting(scene.active, "camera", target, "/object")]
