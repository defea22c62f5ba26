"""Tool light.set, and the settings of lights: argument, Blender's property, light types that have it, and unit."""

from __future__ import annotations

import math
from typing import Any, Literal

from blendwright.tool_api import Block, Example, Findings, Kind, Scene
from blendwright.tool_api.arguments import Args, Color3, PositiveFloat, UnitFloat, optional, renamed
from blendwright.tool_api.mentions import ObjectName
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE
from blendwright.tools.checks import invalid
from blendwright.tools.settings import ObjectChanged, SetsObjectSettings, Setting, Settings

LightType = Literal["POINT", "SUN", "SPOT", "AREA"]
EVERY: tuple[LightType, ...] = ("POINT", "SUN", "SPOT", "AREA")

# Argument -> Blender's property, and the types that have it.
PROPERTIES: dict[str, tuple[str, tuple[LightType, ...]]] = {
    "energy": ("energy", EVERY),
    "color": ("color", EVERY),
    "cast_shadow": ("use_shadow", EVERY),
    "radius": ("shadow_soft_size", ("POINT", "SPOT")),
    "angle_deg": ("angle", ("SUN",)),
    "spot_angle_deg": ("spot_size", ("SPOT",)),
    "spot_blend": ("spot_blend", ("SPOT",)),
    "shape": ("shape", ("AREA",)),
    "size": ("size", ("AREA",)),
    "size_y": ("size_y", ("AREA",)),
}
# Settings that only some types have.
TYPED: tuple[str, ...] = tuple(name for name, (_, types) in PROPERTIES.items() if types != EVERY)


class LightSettings(Args):
    """Settings of a light. Settings that are left out stay unchanged."""

    energy: float | None = optional("Power in watts; for a SUN the strength in watts per square metre.", ge=0.0, le=1e9)
    color: Color3 | None = optional("Colour of the light, linear RGB from 0 to 1.")
    cast_shadow: bool | None = optional("Whether it casts shadows.")
    radius: float | None = optional(
        "POINT and SPOT: radius of the source in metres; larger gives softer shadows.", ge=0.0, le=1e6
    )
    angle_deg: float | None = optional(
        "SUN: angular diameter of the disc in degrees; larger gives softer shadows.", ge=0.0, le=180.0
    )
    spot_angle_deg: float | None = optional("SPOT: full angle of the cone in degrees.", ge=1.0, le=180.0)
    spot_blend: UnitFloat | None = optional("SPOT: softness of the cone's edge.")
    shape: Literal["SQUARE", "RECTANGLE", "DISK", "ELLIPSE"] | None = optional("AREA: shape of the source.")
    size: PositiveFloat | None = optional("AREA: width or diameter in metres.")
    size_y: PositiveFloat | None = optional("AREA: height of a RECTANGLE or ELLIPSE in metres.")


def has_own_height(shape: str | None) -> bool:
    """Return True if area lights of this shape have a separate height. `None` means the default, SQUARE."""
    return shape in ("RECTANGLE", "ELLIPSE")


def light_settings(args: LightSettings, light: Block) -> Settings:
    """Yield the requested settings as Blender's properties, with angles in radians."""
    for argument, (attribute, types) in PROPERTIES.items():
        value: Any = getattr(args, argument)
        if value is None or light.type not in types:
            continue
        if argument.endswith("_deg"):
            value = math.radians(value)
        yield Setting(light, attribute, value, f"/{argument}")


LAMP = ("light.create", {"name": "Lamp", "type": "POINT"})
SPOT = ("light.create", {"name": "Spot", "type": "SPOT"})


class SetLightArgs(LightSettings):
    object: ObjectName = renamed("object", "name", description="Name of the light object.")


class SetLight(SetsObjectSettings[SetLightArgs, ObjectChanged]):
    """Change settings of a light. Settings that are left out stay unchanged.

    Objects that share the light data change together.
    """

    name = "light.set"
    promises = SAFE_IDEMPOTENT_WRITE.writes_to(Kind.LIGHT).needs("object_write")
    examples = (
        Example({"object": "Lamp", "energy": 500, "color": [1, 0.9, 0.7]}, LAMP),
        Example({"object": "Spot", "spot_angle_deg": 25, "cast_shadow": False}, SPOT),
    )

    object_types = ("LIGHT",)

    def problems(self, scene: Scene, args: SetLightArgs, target: Block) -> Findings:
        for argument, (_, types) in PROPERTIES.items():
            if getattr(args, argument) is not None and target.data.type not in types:
                message = f"a {target.data.type} light has no {argument}; only {' and '.join(types)} lights do"
                yield invalid(message, f"/{argument}", "Leave it out.")
        if args.size_y is not None and target.data.type == "AREA":
            shape = args.shape or target.data.shape
            if not has_own_height(shape):
                message = f"a {shape} has no separate height; only RECTANGLE and ELLIPSE do"
                yield invalid(message, "/size_y", "Leave it out, or set shape to one of these.")

    def settings(self, scene: Scene, args: SetLightArgs, target: Block) -> Settings:
        return light_settings(args, target.data)
