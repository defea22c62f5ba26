"""Transfer of scene settings from a .blend file to the window's scenes, such as frame range, render settings, world and units.

A scene's datablock holds the window's view state and is never replaced, so this module copies values. It copies the values that the
fingerprint covers, except lists such as markers, keying sets and strips. The caller compares the full fingerprint to verify the result.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import bpy

from blendwright.blender.fingerprint.identity import kind_of
from blendwright.blender.fingerprint.type_layouts import BLOCK, OWNED_BLOCK, STRUCT
from blendwright.blender.fingerprint.walk import Walk

# The number of times that the settings are copied, since a value may be accepted only after another one. For example, the end of
# a frame range limits its start, and a file format decides the color modes.
PASSES = 3
LAYERS = "view_layers"

_data: Any = bpy.data


def take_over_settings(path: Path, names: Iterable[str]) -> None:
    """Copy the settings of these scenes from the file. The window must already have the datablocks that the settings refer to."""
    scene_names = list(names)
    if not scene_names:
        return
    with _data.temp_data() as file_data:
        with file_data.libraries.load(str(path)) as (_, target):
            target.scenes = list(scene_names)
        for name in scene_names:
            for _ in range(PASSES):
                _copy(file_data.scenes[name], _data.scenes[name])


def _copy(source: Any, target: Any) -> None:
    layout, _ = Walk({}, {}).layout_of(source)
    for name in (*layout.scalar_names, *layout.float_names, *layout.vector_names, *layout.flags, *layout.paths):
        _assign(source, target, name)

    for name, kind in zip(layout.part_names, layout.part_kinds, strict=True):
        source_part: Any = getattr(source, name)
        target_part: Any = getattr(target, name)
        if name == LAYERS:
            for layer in source_part:
                if layer.name in target_part:
                    _copy(layer, target_part[layer.name])
        elif kind in (BLOCK, OWNED_BLOCK) and not _is_embedded(source_part, target_part):
            _put(target, name, _window_block(source_part))
        elif kind == STRUCT and source_part is not None and target_part is not None:
            _copy(source_part, target_part)

    if layout.runtime:
        for name in layout.runtime & (_stored(source) | _stored(target)):
            _copy_group(getattr(source, name), getattr(target, name))
    if layout.custom:
        _copy_custom(source, target, layout.runtime)


def _copy_group(source: Any, target: Any) -> None:
    """Copy the settings that an add-on has defined, for example the settings of Cycles."""
    for prop in source.bl_rna.properties:
        if prop.type not in ("POINTER", "COLLECTION"):
            _assign(source, target, prop.identifier)


def _copy_custom(source: Any, target: Any, runtime: frozenset[str]) -> None:
    source_names = set(source.keys()) - runtime
    target_names = set(target.keys()) - runtime
    for name in target_names - source_names:
        del target[name]
    for name in source_names:
        value = source[name]
        if isinstance(value, bpy.types.ID):
            target[name] = _window_block(value)
        else:
            target[name] = _plain(value)
        try:
            target.id_properties_ui(name).update_from(source.id_properties_ui(name))
        except TypeError:
            continue  # Properties of this type have no interface data.


def _plain(value: Any) -> Any:
    for name in ("to_dict", "to_list"):
        if hasattr(value, name):
            return getattr(value, name)()
    return value


def _stored(struct: Any) -> set[str]:
    """Return the names of the stored property groups of add-ons. Reading any other group would create it."""
    # Blender 5.0 and later store the groups separately; older versions store them among the custom properties.
    group: Any
    if hasattr(struct, "bl_system_properties_get"):
        group = struct.bl_system_properties_get()
    else:
        group = struct
    if group is None:
        return set()
    return set(group.keys())


def _is_embedded(*blocks: Any) -> bool:
    return any(block is not None and block.is_embedded_data for block in blocks)


def _window_block(block: Any) -> Any:
    """Return the window's local datablock with the type and name of a datablock of the file; None if it does not exist."""
    if block is None:
        return None
    return getattr(_data, kind_of(block)).get((block.name, None))


def _assign(source: Any, target: Any, name: str) -> None:
    value = getattr(source, name)
    if hasattr(value, "foreach_get"):
        value = value[:]
    _put(target, name, value)


def _put(target: Any, name: str, value: Any) -> None:
    current = getattr(target, name)
    if hasattr(current, "foreach_get"):
        current = current[:]
    if current == value:
        return
    try:
        setattr(target, name, value)
    except (AttributeError, TypeError, ValueError):
        return  # The property is read-only, or invalid with the current settings. The fingerprint shows if that matters.
