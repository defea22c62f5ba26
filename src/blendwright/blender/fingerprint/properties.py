"""Custom properties, and properties that add-ons define ("system properties" since Blender 5.0).

Reading must not create any property. `struct.cycles` would write an empty group into the file, so add-on settings are read
from the stored groups only. A value equal to its default counts as absent, so setting a value and setting it back restores the hash.
"""

import math
import struct as packing
from typing import Any

import bpy

from blendwright.blender.fingerprint.canonical import fold
from blendwright.blender.fingerprint.identity import key_of

_ID: Any = bpy.types.ID
_data: Any = bpy.data
_props: Any = bpy.props
_ABSENT = object()
_Camera: Any = bpy.types.Camera
# The group of old Cycles camera settings that Blender up to 4.5 leaves in a saved file. No add-on describes it any more.
_OBSOLETE_GROUP = "cycles"
# Types whose properties Blender displays according to the inputs of a node group.
_SHOWN_BY_BLENDER = frozenset({"NodesModifier", "SequencerCompositorModifierData"})
_SCRATCH = "~bw~"
_SCRATCH_GROUP = "blendwright_scratch"
_MAX_FLOAT, _INT_RANGE = 3.4028234663852886e38, 2**31
# Display settings of a new property: key -> default values, for floats and integers.
_SHOWN_AS_NEW: dict[str, tuple[Any, ...]] = {
    "subtype": ("NONE",),
    "min": (-_MAX_FLOAT, -_INT_RANGE),
    "max": (_MAX_FLOAT, _INT_RANGE - 1),
    "soft_min": (-_MAX_FLOAT, -_INT_RANGE),
    "soft_max": (_MAX_FLOAT, _INT_RANGE - 1),
    "step": (1,),
    "precision": (3,),
    "default": (0, ""),
}
_defaults: dict[tuple[str, str], Any] = {}  # by the type and name of the property


def custom(struct: Any, runtime: frozenset[str], separate: bool) -> list[Any] | None:
    """Return the user's custom properties by name, each with its display settings; None when there are none.

    `runtime` names the add-ons' settings. `separate` means that Blender stores these apart. Then a group with such a name is a
    leftover of an older Blender, and any other property with such a name is the user's.
    """
    has_display_settings = struct.bl_rna.identifier not in _SHOWN_BY_BLENDER
    entries: list[Any] = []
    for name in sorted(struct.keys()):
        value = struct[name]
        is_group = hasattr(value, "to_dict")
        if name in runtime and (is_group or not separate):
            continue
        if name == _OBSOLETE_GROUP and is_group and isinstance(struct, _Camera):
            continue
        if is_group or not has_display_settings:
            shown = None
        else:
            shown = _shown(struct, name, value)
        if shown:
            entries.append((name, plain(value), shown))
        else:
            entries.append((name, plain(value)))
    return entries or None


def _shown(struct: Any, name: str, value: Any) -> list[Any] | None:
    """Return the display settings of a property (limits, default, description) that differ from a new property's; None without any.

    Reading the display settings creates them. Therefore they are read from a copy on the window manager, which is not part of the scene.
    """
    try:
        source = struct.id_properties_ui(name)
    except TypeError:
        return None  # a kind of property without display settings
    scratch = _data.window_managers[0]
    scratch[_SCRATCH] = value
    try:
        shown = _read_through(scratch.id_properties_ui(_SCRATCH), source)
    except TypeError:
        shown = _shown_of_single_precision(scratch, source)  # Python can only create floats of double precision
    finally:
        del scratch[_SCRATCH]
    if "id_type" in shown and "description" not in shown:
        return None  # Blender sets a type even if the user chose none
    return [(key, plain(shown[key])) for key in sorted(shown) if shown[key] not in _SHOWN_AS_NEW.get(key, ())] or None


def _read_through(copy: Any, source: Any) -> dict[str, Any]:
    """Copy the display settings of `source` to `copy` and return them."""
    copy.update_from(source)
    return copy.as_dict()


def _shown_of_single_precision(window_manager: Any, source: Any) -> dict[str, Any]:
    """Return the display settings of a 32-bit float. In Blender 5.2, `update_from` takes only a property of the same precision.

    An add-on leaves such a property behind when it is removed. Only a registered property can create another one.
    """
    owner: Any = bpy.types.WindowManager
    group: Any = type(
        "BlendwrightScratch", (bpy.types.PropertyGroup,), {"__annotations__": {"value": _props.FloatProperty()}}
    )
    bpy.utils.register_class(group)
    try:
        setattr(owner, _SCRATCH_GROUP, _props.PointerProperty(type=group))
        scratch = getattr(window_manager, _SCRATCH_GROUP)
        scratch.value = 1.0  # stores it
        return _read_through(scratch.id_properties_ui("value"), source)
    finally:
        window_manager.property_unset(_SCRATCH_GROUP)
        delattr(owner, _SCRATCH_GROUP)
        bpy.utils.unregister_class(group)


def plain(value: Any) -> Any:
    """Return a custom property's value in canonical form."""
    if isinstance(value, int):
        return int(value)  # booleans turn into integers when the file is saved
    if isinstance(value, float):
        return fold(value)
    if value is None or isinstance(value, str | bytes):
        return value
    if isinstance(value, _ID):
        # Blender drops such a pointer when it saves.
        if value.is_embedded_data:
            return None
        return key_of(value)
    if hasattr(value, "to_dict"):
        return [(name, plain(value[name])) for name in sorted(value.keys())]
    if hasattr(value, "to_list"):
        return [plain(item) for item in value.to_list()]
    return [plain(item) for item in value]


def system(group: Any, rna: Any, runtime: frozenset[str]) -> list[Any] | None:
    """Return the add-ons' settings that differ from their defaults; None when there are none.

    `group` stores them: a separate group since Blender 5.0, the struct with the user's properties before. Settings that no
    registered add-on describes are left out, because no user can see them; Blender 5.0 itself leaves such a group in a saved camera.
    """
    names = [name for name in group.keys() if name in runtime]  # noqa: SIM118 - a bpy_struct is no mapping
    return _settings(group, sorted(names), rna) or None


def _settings(group: Any, names: list[str], rna: Any) -> list[Any]:
    settings: list[Any] = []
    for name in names:
        prop = None
        if rna is not None:
            prop = rna.properties.get(name)
        value = _setting(group[name], rna, prop)
        if value is not _ABSENT:
            settings.append((name, value))
    return settings


def _setting(value: Any, rna: Any, prop: Any) -> Any:
    if hasattr(value, "to_dict"):
        if prop is not None and prop.type == "POINTER":
            inner = prop.fixed_type
        else:
            inner = None
        return _settings(value, sorted(value.keys()), inner) or _ABSENT
    if prop is not None and prop.type == "COLLECTION":
        return [_settings(item, sorted(item.keys()), prop.fixed_type) for item in value] or _ABSENT
    canonical = plain(value)
    if prop is not None and canonical == _default(rna.identifier, prop):
        return _ABSENT
    return canonical


def _default(owner: str, prop: Any) -> Any:
    # Some defaults are out of range, and Blender prints a warning on every read. Therefore read each only once.
    key = (owner, prop.identifier)
    if key not in _defaults:
        _defaults[key] = _read_default(prop)
    return _defaults[key]


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
    if math.isfinite(value):
        return packing.unpack("<f", packing.pack("<f", value))[0]
    return value
