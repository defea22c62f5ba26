from __future__ import annotations

from typing import Any

from pydantic import Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from blendwright.tool_api import Block, Example, Findings, Kind, Scene
from blendwright.tool_api.arguments import optional
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE
from blendwright.tools.aiming import AimedPlacement, aim_problems, aimed_rotation
from blendwright.tools.checks import differs
from blendwright.tools.light.set import PROPERTIES, TYPED, LightSettings, LightType, has_own_height, light_settings
from blendwright.tools.object_creation import CreatesObject
from blendwright.tools.settings import Setting, Settings


class LightHead(AimedPlacement):
    """The `type` argument of light.create, placed before the settings so that each setting can be validated against it."""

    type: LightType = Field(
        description="POINT shines in all directions, SUN with parallel rays along -Z, SPOT in a cone along -Z, AREA "
        "from a surface along -Z."
    )


class CreateLightArgs(LightSettings, LightHead):
    energy: float | None = optional(
        "Power in watts (default 100); for a SUN the strength in watts per square metre (default 1).",
        ge=0.0,
        le=1e9,
    )

    @field_validator(*TYPED)
    @classmethod
    def _of_this_type(cls, value: Any, info: ValidationInfo) -> Any:
        types = PROPERTIES[info.field_name or ""][1]
        light_type = info.data.get("type")
        if value is not None and light_type is not None and light_type not in types:
            context = {"type": light_type, "types": " and ".join(types)}
            raise PydanticCustomError(
                "light_setting", "a {type} light does not have this setting; only {types} do", context
            )
        is_height = info.field_name == "size_y" and value is not None and "shape" in info.data
        if is_height and not has_own_height(info.data["shape"]):
            raise PydanticCustomError("light_height", "size_y works only for the shapes RECTANGLE and ELLIPSE")
        return value


class CreateLight(CreatesObject[CreateLightArgs]):
    """Create a light with its settings. Aim it with look_at."""

    name = "light.create"
    promises = SAFE_IDEMPOTENT_WRITE.writes_to(Kind.OBJECT, Kind.LIGHT, Kind.COLLECTION).needs("object_write")
    examples = (
        Example({"name": "Lamp", "type": "POINT", "location": [1, -2, 3], "energy": 200, "radius": 0.2}),
        Example({"name": "Sun", "type": "SUN", "energy": 3, "angle_deg": 0.5, "rotation_euler_deg": [45, 0, 30]}),
        Example({"name": "Key", "type": "AREA", "location": [3, -3, 4], "look_at": [0, 0, 1]}),
        Example({"name": "Spot", "type": "SPOT", "location": [0, 0, 4], "spot_angle_deg": 40, "spot_blend": 0.2}),
        Example(
            {"name": "Panel", "type": "AREA", "shape": "RECTANGLE", "size": 2, "size_y": 0.5, "location": [0, 0, 3]}
        ),
    )

    object_type = "LIGHT"

    def problems(self, scene: Scene, args: CreateLightArgs) -> Findings:
        return aim_problems(scene, args)

    def rotation(self, scene: Scene, args: CreateLightArgs) -> tuple[float, ...]:
        if args.look_at is None:
            return super().rotation(scene, args)
        return aimed_rotation(scene, args)

    def new_data(self, scene: Scene, args: CreateLightArgs) -> Block:
        return scene.create(Kind.LIGHT, args.name, args.type)

    def settings(self, scene: Scene, args: CreateLightArgs, target: Block) -> Settings:
        yield from light_settings(args, target)
        if args.energy is None:
            # The unit of a sun differs: one default for all types would be dark for a lamp or blinding for a sun.
            energy = 100.0
            if args.type == "SUN":
                energy = 1.0
            yield Setting(target, "energy", energy, "/energy")

    def differences(self, scene: Scene, args: CreateLightArgs, data: Block) -> Findings:
        return differs("its light type", args.type, data.type, "/type")
