"""Tool scene.set_units"""

from __future__ import annotations

from typing import Literal, get_args

from blendwright.tool_api.arguments import Args, optional
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE
from blendwright.tool_api.scene import Block, Kind, Scene
from blendwright.tool_api.tool import Example, Findings
from blendwright.tools.checks import invalid
from blendwright.tools.settings import SetsSceneSettings, Setting, Settings

AnyLength = Literal["ADAPTIVE"]
MetricLength = Literal["KILOMETERS", "METERS", "CENTIMETERS", "MILLIMETERS", "MICROMETERS"]
ImperialLength = Literal["MILES", "FEET", "INCHES", "THOU"]
LengthUnit = Literal[AnyLength, MetricLength, ImperialLength]
LENGTHS: dict[str, tuple[str, ...]] = {
    "METRIC": get_args(Literal[AnyLength, MetricLength]),
    "IMPERIAL": get_args(Literal[AnyLength, ImperialLength]),
    "NONE": get_args(AnyLength),
}
ATTRIBUTES = {"scale_length": "scale", "length_unit": "length_unit", "system_rotation": "rotation"}
# Blender resets these when the system changes.
DEPENDENT = ("length_unit", "mass_unit", "time_unit", "temperature_unit")


class SetUnitsArgs(Args):
    system: Literal["NONE", "METRIC", "IMPERIAL"] | None = optional("System of units for display and export.")
    scale: float | None = optional("Length of one Blender unit in metres.", ge=1e-9, le=1e9)
    length_unit: LengthUnit | None = optional("Unit for displayed lengths; must belong to the system.")
    rotation: Literal["DEGREES", "RADIANS"] | None = optional("Unit for displayed angles.")


class SetUnits(SetsSceneSettings[SetUnitsArgs]):
    """Set the units for display and export of the scene. Nothing is scaled, and arguments of tools stay in metres and degrees."""

    name = "scene.set_units"
    promises = SAFE_IDEMPOTENT_WRITE.writes_to(Kind.SCENE).needs("scene_write")
    examples = (
        Example({"system": "METRIC", "scale": 0.001, "length_unit": "MILLIMETERS"}),
        Example({"system": "IMPERIAL"}, ("scene.set_units", {"length_unit": "CENTIMETERS"})),
    )

    def problems(self, scene: Scene, args: SetUnitsArgs, target: Block) -> Findings:
        system = args.system or target.unit_settings.system
        if args.length_unit is not None and args.length_unit not in LENGTHS[system]:
            message = f"{args.length_unit} is not a unit of the system {system}"
            yield invalid(message, "/length_unit", f"Use one of {', '.join(LENGTHS[system])}.")

    def settings(self, scene: Scene, args: SetUnitsArgs, target: Block) -> Settings:
        units = target.unit_settings
        if args.system is not None and args.system != units.system:
            # Write the present values first, which records them for undo. Without a system Blender has no unit of temperature.
            for attribute in DEPENDENT:
                value = getattr(units, attribute)
                if value:
                    yield Setting(units, attribute, value, "/system")
            yield Setting(units, "system", args.system, "/system")
        for attribute, argument in ATTRIBUTES.items():
            value = getattr(args, argument)
            if value is not None:
                yield Setting(units, attribute, value, f"/{argument}")
