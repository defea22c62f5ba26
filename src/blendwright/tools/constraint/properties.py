"""Blender's properties for each setting of a constraint."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from blendwright.tools.constraint.settings import ConstraintSettings


@dataclass(frozen=True, slots=True)
class Property:
    """A Blender property of a constraint, with the value it should have. `name` is the setting that requests it."""

    name: str
    attribute: str
    value: Any


Values = dict[str, Any]


def _axes(prefix: str) -> Callable[[Sequence[str]], Values]:
    return lambda axes: {f"{prefix}_{axis.lower()}": axis in axes for axis in "XYZ"}


def _limits(end: str) -> Callable[[Sequence[float | None]], Values]:
    def values(limits: Sequence[float | None]) -> Values:
        switches = {f"use_{end}_{axis}": value is not None for axis, value in zip("xyz", limits, strict=True)}
        return switches | {
            f"{end}_{axis}": value for axis, value in zip("xyz", limits, strict=True) if value is not None
        }

    return values


def _angles(end: str) -> Callable[[Sequence[float | None]], Values]:
    def values(limits: Sequence[float | None]) -> Values:
        switches = {f"use_limit_{axis}": value is not None for axis, value in zip("xyz", limits, strict=True)}
        angles = zip("xyz", limits, strict=True)
        return switches | {f"{end}_{axis}": math.radians(value) for axis, value in angles if value is not None}

    return values


def _track(axis: str) -> Values:
    if len(axis) == 2:
        return {"track_axis": f"TRACK_NEGATIVE_{axis[1]}"}
    return {"track_axis": f"TRACK_{axis}"}


def _forward(axis: str) -> Values:
    if len(axis) == 2:
        return {"forward_axis": f"TRACK_NEGATIVE_{axis[1]}"}
    return {"forward_axis": f"FORWARD_{axis}"}


VOLUMES = {"XZ": "VOLUME_XZX", "X": "VOLUME_X", "Z": "VOLUME_Z", "NONE": "NO_VOLUME"}
# Settings that differ from the Blender property of the same name. A setting means the same in all types that have it.
SPECIAL: dict[str, Callable[[Any], Values]] = {
    "track_axis": _track,
    "forward_axis": _forward,
    "up_axis": lambda axis: {"up_axis": f"UP_{axis}"},
    "axes": _axes("use"),
    "invert_axes": _axes("invert"),
    "location_axes": _axes("use_location"),
    "rotation_axes": _axes("use_rotation"),
    "scale_axes": _axes("use_scale"),
    "minimum": _limits("min"),
    "maximum": _limits("max"),
    "minimum_deg": _angles("min"),
    "maximum_deg": _angles("max"),
    "mode": lambda mode: {"limit_mode": f"LIMITDIST_{mode.replace('_', '')}"},
    "offset_factor": lambda value: {"use_fixed_location": True, "offset_factor": value},
    "pole_angle_deg": lambda angle: {"pole_angle": math.radians(angle)},
    "volume": lambda axes: {"volume": VOLUMES[axes]},
    "offset_frames": lambda value: {"use_fixed_location": False, "offset": value},
}
# Handled separately: the discriminator, references to datablocks, and values computed from the scene.
SEPARATE = frozenset({"type", "target", "pole_target", "set_inverse"})


def properties(settings: ConstraintSettings) -> list[Property]:
    """Return the plain Blender properties that the given settings request."""
    result: list[Property] = []
    for name in type(settings).model_fields:
        value = getattr(settings, name)
        if name not in SEPARATE and value is not None:
            values = {name: value}
            if name in SPECIAL:
                values = SPECIAL[name](value)
            result += [Property(name, attribute, part) for attribute, part in values.items()]
    return result
