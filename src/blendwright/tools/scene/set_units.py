"""scene.set_units"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from blendwright.tool_api.arguments import Args, optional
from blendwright.tool_api.effects import Kind
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE
from blendwright.tool_api.scene import Block, Scene
from blendwright.tool_api.tool import Example, Tool
from blendwright.tools.results import SceneChanged
from blendwright.tools.settings import Setting, settings_differ, write_settings
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding

LENGTHS: dict[str, tuple[str, ...]] = {
    "METRIC": ("ADAPTIVE", "KILOMETERS", "METERS", "CENTIMETERS", "MILLIMETERS", "MICROMETERS"),
    "IMPERIAL": ("ADAPTIVE", "MILES", "FEET", "INCHES", "THOU"),
    "NONE": ("ADAPTIVE",),
}
# Choosing a system makes Blender choose these anew.
DEPENDENT = ("length_unit", "mass_unit", "time_unit", "temperature_unit")


class SetUnitsArgs(Args):
    system: Literal["NONE", "METRIC", "IMPERIAL"] | None = optional("System of units for display and export.")
    scale: float | None = optional("Metres that one Blender unit stands for.", ge=1e-9, le=1e9)
    length_unit: (
        Literal[
            "ADAPTIVE",
            "KILOMETERS",
            "METERS",
            "CENTIMETERS",
            "MILLIMETERS",
            "MICROMETERS",
            "MILES",
            "FEET",
            "INCHES",
            "THOU",
        ]
        | None
    ) = optional("Unit that lengths are shown in; must belong to the system.")
    rotation: Literal["DEGREES", "RADIANS"] | None = optional("Unit that angles are shown in.")


class SetUnits(Tool[SetUnitsArgs, SceneChanged]):
    """Set the units that the scene is shown and exported in. Nothing is scaled, and arguments of tools stay in metres and degrees."""

    name = "scene.set_units"
    promises = SAFE_IDEMPOTENT_WRITE.writes_to(Kind.SCENE).needs("scene_write")
    examples = (
        Example({"system": "METRIC", "scale": 0.001, "length_unit": "MILLIMETERS"}),
        Example({"system": "IMPERIAL"}, given=(("scene.set_units", {"length_unit": "CENTIMETERS"}),)),
    )

    def check(self, scene: Scene, args: SetUnitsArgs) -> Iterator[Finding]:
        system = args.system or scene.active.unit_settings.system
        if args.length_unit is not None and args.length_unit not in LENGTHS[system]:
            message = f"{args.length_unit} is no unit of the system {system}"
            yield Finding(Fault.ARGS_INVALID, message, "/length_unit", f"Use one of {', '.join(LENGTHS[system])}.")

    def apply(self, scene: Scene, args: SetUnitsArgs) -> SceneChanged:
        units = scene.active.unit_settings
        changed = False
        if args.system is not None and args.system != units.system:
            for attribute in DEPENDENT:
                value = getattr(units, attribute)
                # Without a system Blender has no unit of temperature, and takes none.
                if value:
                    scene.set(units, attribute, value)
            scene.set(units, "system", args.system)
            changed = True
        changed = write_settings(scene, _settings(args, units)) or changed
        return SceneChanged(scene=scene.active.name, changed=changed)

    def verify(self, scene: Scene, args: SetUnitsArgs, result: SceneChanged) -> Iterator[Finding]:
        units = scene.active.unit_settings
        yield from settings_differ(_settings(args, units))
        if args.system is not None:
            yield from settings_differ([Setting(units, "system", args.system, "/system")])


def _settings(args: SetUnitsArgs, units: Block) -> list[Setting]:
    settings = (
        Setting(units, "scale_length", args.scale, "/scale"),
        Setting(units, "length_unit", args.length_unit, "/length_unit"),
        Setting(units, "system_rotation", args.rotation, "/rotation"),
    )
    return [setting for setting in settings if setting.value is not None]
