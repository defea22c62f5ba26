"""light.set"""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import Field

from blendwright.tool_api.arguments import Name
from blendwright.tool_api.effects import Kind
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE
from blendwright.tool_api.scene import Scene
from blendwright.tool_api.tool import Example, Requires, Tool
from blendwright.tools.light_settings import LightSettings, has_own_height, light_settings, unsuitable_settings
from blendwright.tools.results import ObjectChanged
from blendwright.tools.settings import animation_conflicts, settings_differ, write_settings
from blendwright.tools.typed import wrong_type
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding

LAMP = ("light.create", {"name": "Lamp", "type": "POINT"})
SPOT = ("light.create", {"name": "Spot", "type": "SPOT"})


class SetLightArgs(LightSettings):
    name: Name = Field(description="Name of the light object.")


class SetLight(Tool[SetLightArgs, ObjectChanged]):
    """Change settings of a light; what is left out stays as it is. Objects that share the light data change together."""

    name = "light.set"
    version = 1
    promises = SAFE_IDEMPOTENT_WRITE
    writes = (Kind.LIGHT,)
    requires = Requires(blender_min=(4, 2, 0), capabilities=("object_write",))
    examples = (
        Example({"name": "Lamp", "energy": 500, "color": [1, 0.9, 0.7]}, given=(LAMP,)),
        Example({"name": "Spot", "spot_angle_deg": 25, "cast_shadow": False}, given=(SPOT,)),
    )

    def check(self, scene: Scene, args: SetLightArgs) -> Iterator[Finding]:
        yield from scene.missing(Kind.OBJECT, args.name, "/name")
        obj = scene.find(Kind.OBJECT, args.name)
        if obj is None:
            return
        problems = wrong_type(obj, ("LIGHT",), "/name")
        yield from problems
        if not problems:
            for argument, message in unsuitable_settings(args, obj.data.type):
                yield Finding(Fault.ARGS_INVALID, message, f"/{argument}", "Leave it out.")
            if args.size_y is not None and obj.data.type == "AREA" and not has_own_height(args.shape or obj.data.shape):
                message = f"a {args.shape or obj.data.shape} has no height of its own: only RECTANGLE and ELLIPSE have"
                yield Finding(Fault.ARGS_INVALID, message, "/size_y", "Leave it out, or give such a shape.")
            yield from animation_conflicts(scene, light_settings(args, obj.data))

    def apply(self, scene: Scene, args: SetLightArgs) -> ObjectChanged:
        light = scene.require(Kind.OBJECT, args.name, "/name").data
        return ObjectChanged(object=args.name, changed=write_settings(scene, light_settings(args, light)))

    def verify(self, scene: Scene, args: SetLightArgs, result: ObjectChanged) -> Iterator[Finding]:
        yield from settings_differ(light_settings(args, scene.require(Kind.OBJECT, args.name, "/name").data))
