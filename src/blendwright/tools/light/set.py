"""light.set"""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import Field

from blendwright.tool_api.arguments import Name
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE
from blendwright.tool_api.scene import Block, Kind, Scene
from blendwright.tool_api.tool import Example
from blendwright.tools.light_settings import LightSettings, has_own_height, light_settings, unsuitable_settings
from blendwright.tools.settings import ObjectChanged, SetsObjectSettings, Setting
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding

LAMP = ("light.create", {"name": "Lamp", "type": "POINT"})
SPOT = ("light.create", {"name": "Spot", "type": "SPOT"})


class SetLightArgs(LightSettings):
    name: Name = Field(description="Name of the light object.")


class SetLight(SetsObjectSettings[SetLightArgs, ObjectChanged]):
    """Change settings of a light; what is left out stays as it is. Objects that share the light data change together."""

    name = "light.set"
    promises = SAFE_IDEMPOTENT_WRITE.writes_to(Kind.LIGHT).needs("object_write")
    examples = (
        Example({"name": "Lamp", "energy": 500, "color": [1, 0.9, 0.7]}, LAMP),
        Example({"name": "Spot", "spot_angle_deg": 25, "cast_shadow": False}, SPOT),
    )

    object_types = ("LIGHT",)

    def problems(self, scene: Scene, args: SetLightArgs, target: Block) -> Iterator[Finding]:
        for argument, message in unsuitable_settings(args, target.data.type):
            yield Finding(Fault.ARGS_INVALID, message, f"/{argument}", "Leave it out.")
        if args.size_y is not None and target.data.type == "AREA":
            shape = args.shape or target.data.shape
            if not has_own_height(shape):
                message = f"a {shape} has no height of its own: only RECTANGLE and ELLIPSE have"
                yield Finding(Fault.ARGS_INVALID, message, "/size_y", "Leave it out, or give such a shape.")

    def settings(self, scene: Scene, args: SetLightArgs, target: Block) -> Iterator[Setting]:
        return light_settings(args, target.data)
