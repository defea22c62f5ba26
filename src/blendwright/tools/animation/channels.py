"""Channels that keyframes can animate: their data paths, units and limits, and how to write their values.

Creates no datablocks.
"""

from __future__ import annotations

import re
from typing import Any, Literal, cast

from pydantic_core import PydanticCustomError

from blendwright.tool_api.arguments import LARGEST
from blendwright.tool_api.scene import Block
from blendwright.tool_api.tool import Findings
from blendwright.tools.checks import conflict, invalid
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding, did_you_mean

Channel = Literal[
    "location", "rotation_euler_deg", "rotation_quaternion", "scale", "hide_render", "property",
    "constraint_influence", "constraint_offset_factor",
    "light_energy", "light_color", "camera_lens", "camera_focus_distance",
    "shape_key", "node_input", "modifier_input", "setting", "data_setting",
]  # fmt: skip
# Channel -> the constraint property that it animates.
OF_CONSTRAINT = {"constraint_influence": "influence", "constraint_offset_factor": "offset_factor"}

# Channel -> the type of object whose data has it, and its smallest value.
OF_DATA: dict[str, tuple[str, float]] = {
    "light_energy": ("LIGHT", -LARGEST),
    "light_color": ("LIGHT", 0.0),
    "camera_lens": ("CAMERA", 1.0),
    "camera_focus_distance": ("CAMERA", 0.0),
}

# A path that ends in a custom property: the path of its owner, and the escaped key.
CUSTOM = re.compile(r'^(.*)\["((?:[^"\\]|\\.)*)"\]$', re.DOTALL)
ESCAPED = re.compile(r"\\(.)")

# Blender's integers have 32 bits: all are less than this.
INTEGER_LIMIT = 2**31

# Channel -> data path and number of values.
PATHS: dict[str, tuple[str, int]] = {
    "location": ("location", 3),
    "rotation_euler_deg": ("rotation_euler", 3),
    "rotation_quaternion": ("rotation_quaternion", 4),
    "scale": ("scale", 3),
    "hide_render": ("hide_render", 1),
    "light_energy": ("energy", 1),
    "light_color": ("color", 3),
    "camera_lens": ("lens", 1),
    "camera_focus_distance": ("dof.focus_distance", 1),
}


def refuse_small_value(channel: str, value: Any) -> None:
    """Raise PydanticCustomError if a value is below the channel's minimum. For validators of argument models."""
    minimum = OF_DATA[channel][1]
    if any(number < minimum for number in elements(value)):
        raise PydanticCustomError(
            "value_too_small", "{channel} is at least {least}", {"channel": channel, "least": minimum}
        )


def constraint_findings(obj: Block, channel: str, name: str, value: Any) -> Findings:
    """Yield findings if a value cannot be a key of a constraint."""
    constraint = obj.constraints.get(name)
    if constraint is None:
        names = [item.name for item in obj.constraints]
        fix = did_you_mean(name, names, otherwise="Add it first with constraint.add.")
        message = f"'{obj.name}' has no constraint named '{name}'"
        yield Finding(Fault.TARGET_NOT_FOUND, message, "/constraint", fix)
    elif not hasattr(constraint, OF_CONSTRAINT[channel]):
        message = f"constraint '{name}' is of type {constraint.type}, which has no {OF_CONSTRAINT[channel]}"
        yield conflict(message, "/channel", "Name a FOLLOW_PATH constraint.")
    elif channel == "constraint_influence" and not 0 <= value <= 1:
        yield invalid("an influence is from 0 to 1", "/value", "Give a number from 0 to 1.")
    elif channel == "constraint_offset_factor" and not constraint.use_fixed_location:
        message = f"constraint '{name}' uses frames, so its factor has no effect"
        fix = "Set its offset_factor first with constraint.set."
        yield conflict(message, "/channel", fix)


def elements(value: Any) -> list[Any]:
    """Return a number, or an array of numbers (Blender arrays included), as a list."""
    if hasattr(value, "to_list"):
        return cast("list[Any]", value.to_list())
    if isinstance(value, str) or not hasattr(value, "__len__"):
        return [value]
    return list(cast("list[Any]", value))


def write_values(obj: Block, path: str, values: dict[int, float]) -> None:
    """Write numbers by index into a channel of a datablock that is open for writing; round them for integer channels.

    If the channel does not exist any more, do nothing.
    """
    try:
        current: Any = obj.path_resolve(path)
    except ValueError:
        return  # the curve animates a channel that no longer exists
    if hasattr(current, "__len__") and not isinstance(current, str):
        for index, value in values.items():
            current[index] = _like(current[index], value)
        return
    custom = CUSTOM.match(path)
    if custom is not None:
        if custom[1]:
            owner = obj.path_resolve(custom[1])
        else:
            owner = obj
        owner[ESCAPED.sub(r"\1", custom[2])] = _like(current, values[0])
        return
    parent, _, name = path.rpartition(".")
    if parent:
        owner = obj.path_resolve(parent)
    else:
        owner = obj
    if isinstance(current, str):
        setattr(owner, name, _choice(owner, name, values[0]))
    else:
        setattr(owner, name, _like(current, values[0]))


def _like(current: Any, value: float) -> Any:
    if isinstance(current, float):
        return value
    return type(current)(round(value))


def _choice(owner: Block, name: str, value: float) -> str:
    """Return the identifier of the enumeration item with this number, or the current one if there is no such item."""
    items = owner.bl_rna.properties[name].enum_items
    return next((item.identifier for item in items if item.value == round(value)), getattr(owner, name))
