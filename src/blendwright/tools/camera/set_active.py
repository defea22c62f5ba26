from __future__ import annotations

from pydantic import Field

from blendwright.tool_api import Args, Block, Example, Kind, Scene
from blendwright.tool_api.mentions import ObjectName
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE
from blendwright.tools.settings import ObjectChanged, SetsObjectSettings, Setting, Settings


class SetActiveArgs(Args):
    name: ObjectName = Field(description="Name of the camera object that the scene is to be rendered through.")


class SetActiveCamera(SetsObjectSettings[SetActiveArgs, ObjectChanged]):
    """Make a camera the scene's own: the one that renders look through."""

    name = "camera.set_active"
    # The camera before may have had no other user.
    promises = SAFE_IDEMPOTENT_WRITE.writes_to(Kind.SCENE, Kind.OBJECT).needs("scene_write")
    examples = (Example({"name": "Camera"}, ("camera.create", {"name": "Camera"})),)

    object_types = ("CAMERA",)

    def settings(self, scene: Scene, args: SetActiveArgs, target: Block) -> Settings:
        return [Setting(scene.active, "camera", target, "/name")]
