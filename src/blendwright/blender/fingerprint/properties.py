"""Custom properties, and those that add-ons define ("system properties" since Blender 5.0).

Responsible for: reading them without creating any. `struct.cycles` would write an empty group into the file, so add-on
settings are read from the stored groups only, and a value equal to its default counts as absent: setting something and
setting it back gives the hash from before.
"""

import math
import struct as packing
from typing import Any

import bpy

from blendwright.blender.fingerprint.floats import fold
from blendwright.blender.fingerprint.identity import key_of

_ID: Any = bpy.types.ID
_ABSENT = object()
# Blender up to 4.5 leaves Cycles' old camera settings behind in a saved file, where no add-on describes them any more.
_LEFT_BEHIND = frozenset({"cycles"})
_defaults: dict[int, Any] = {}  # by the address of the RNA property


def custom(struct: Any, without: frozenset[str]) -> list[Any] | None:
    """The user's own properties by name; None when there are none."""
    names = struct.keys()
    if not names:
        return None
    without |= _LEFT_BEHIND
    return [(name, plain(struct[name])) for name in sorted(names) if name not in without] or None


def plain(value: Any) -> Any:
    """A custom property's value in canonical form."""
    if isinstance(value, int):
        return int(value)  # booleans turn into integers when the file is saved
    if isinstance(value, float):
        return fold(value)
    if value is None or isinstance(value, str | bytes):
        return value
    if isinstance(value, _ID):
        return key_of(value)
    if hasattr(value, "to_dict"):
        return [(name, plain(value[name])) for name in sorted(value.keys())]
    if hasattr(value, "to_list"):
        return [plain(item) for item in value.to_list()]
    return [plain(item) for item in value]


def system(struct: Any, rna: Any, runtime: frozenset[str], stored_apart: bool) -> list[Any] | None:
    """The add-ons' settings that differ from their defaults; None when there are none."""
    if stored_apart:
        group = struct.bl_system_properties_get()
        if group is None:
            return None
        # What no registered add-on describes nobody can see; Blender 5.0 itself leaves such a group in a saved camera.
        names = [name for name in group.keys() if name in runtime]  # noqa: SIM118 - a bpy_struct is no mapping
    else:
        group = struct
        names = [name for name in struct.keys() if name in runtime]  # noqa: SIM118 - a bpy_struct is no mapping
    return _settings(group, sorted(names), rna.properties) or None


def _settings(group: Any, names: list[str], properties: Any) -> list[Any]:
    found: list[Any] = []
    for name in names:
        value = _setting(group[name], properties.get(name))
        if value is not _ABSENT:
            found.append((name, value))
    return found


def _setting(value: Any, prop: Any) -> Any:
    if hasattr(value, "to_dict"):
        properties: Any = prop.fixed_type.properties if prop is not None and prop.type == "POINTER" else {}
        return _settings(value, sorted(value.keys()), properties) or _ABSENT
    if prop is not None and prop.type == "COLLECTION":
        items = [_settings(item, sorted(item.keys()), prop.fixed_type.properties) for item in value]
        return items or _ABSENT
    canonical = plain(value)
    return _ABSENT if prop is not None and canonical == _default(prop) else canonical


def _default(prop: Any) -> Any:
    # Some defaults are out of range and Blender says so on every read, hence once.
    place = prop.as_pointer()
    if place not in _defaults:
        _defaults[place] = _read_default(prop)
    return _defaults[place]


def _read_default(prop: Any) -> Any:
    if prop.type == "POINTER":
        return None
    if prop.type == "ENUM":
        values = {item.identifier: item.value for item in prop.enum_items}
        if prop.is_enum_flag:
            return sum(values.get(name, 0) for name in prop.default_flag)
        return values.get(prop.default)
    if getattr(prop, "is_array", False):
        return [plain(value) for value in prop.default_array]
    if prop.type == "FLOAT":
        return _as_stored(prop.default)
    return plain(prop.default)


def _as_stored(value: float) -> float:
    return packing.unpack("<f", packing.pack("<f", value))[0] if math.isfinite(value) else value
