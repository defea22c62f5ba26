"""Tool driver.remove"""

from __future__ import annotations

import math

from blendwright.tool_api.promises import DESTRUCTIVE_WRITE
from blendwright.tool_api.scene import Kind, Scene
from blendwright.tool_api.tool import Example, Findings, Tool
from blendwright.tools.animation.channels import write_values
from blendwright.tools.checks import differs, existing_object, required_object
from blendwright.tools.driver.driven_channel import DrivenChannel, DriverResult, find_driver
from blendwright.tools.driver.set import channel_value
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding

DOOR = ("mesh.create_primitive", {"kind": "cube", "name": "Door"})
DRIVEN = ("driver.set", {"object": "Door", "channel": "location", "axis": "X", "expression": "frame / 2"})


class RemoveDriver(Tool[DrivenChannel, DriverResult]):
    """Remove the driver of a channel or custom property, which keeps its present value."""

    name = "driver.remove"
    promises = DESTRUCTIVE_WRITE.writes_to(Kind.OBJECT).needs("animation_write")
    examples = (Example({"object": "Door", "channel": "location", "axis": "X"}, DOOR, DRIVEN),)

    def check(self, scene: Scene, args: DrivenChannel) -> Findings:
        obj = yield from existing_object(scene, args.object, "/object")
        if obj is not None and find_driver(obj, args) is None:
            driven = [f"{curve.data_path}[{curve.array_index}]" for curve in getattr(obj.animation_data, "drivers", ())]
            if driven:
                fix = f"It has drivers on {', '.join(driven[:8])}."
            else:
                fix = "It has no drivers."
            yield Finding(Fault.TARGET_NOT_FOUND, f"{args.path()} of '{args.object}' has no driver", "/channel", fix)

    def apply(self, scene: Scene, args: DrivenChannel) -> DriverResult:
        obj = required_object(scene, args.object, "/object")
        value = channel_value(scene, args, obj)
        scene.edit(obj)
        data = obj.animation_data
        data.drivers.remove(find_driver(obj, args))
        if not data.drivers and data.action is None and not data.nla_tracks:
            obj.animation_data_clear()
        if value is not None:
            stored = value
            if args.channel == "rotation_euler_deg":
                stored = math.radians(value)
            write_values(obj, args.path(), {args.index(): stored})
        return DriverResult(
            object=args.object, path=args.path(), expression=None, changed=True, value=channel_value(scene, args, obj)
        )

    def verify(self, scene: Scene, args: DrivenChannel, result: DriverResult) -> Findings:
        obj = required_object(scene, args.object, "/object")
        yield from differs("the presence of the driver", False, find_driver(obj, args) is not None, "/channel")
