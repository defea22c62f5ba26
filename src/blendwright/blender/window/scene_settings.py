"""Takes over the settings of scenes from a .blend file into the window's own scenes: frame range, render, world, units and the like.

A scene's datablock holds the window's own view of things and is never replaced, so its values are copied: those that the fingerprint
covers, and no others. Lists (markers, keying sets, strips) are not. Whether all was copied the full fingerprint says.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import bpy

from blendwright.blender.fingerprint.identity import kind_of
from blendwright.blender.fingerprint.type_layouts import BLOCK, OWNED_BLOCK, STRUCT
from blendwright.blender.fingerprint.walk import Walk

# One value allows another: a device its views, the end of a range its beginning, a file format its colours.
PASSES = 3
LAYERS = "view_layers"

_data: Any = bpy.data


def take_over_settings(path: Path, names: Iterable[str]) -> None:
    """Give the scenes of these names the settings that they have in the file. What they point to must be in the window already."""
    wanted = list(names)
    if not wanted:
        return
    with _data.temp_data() as other:
        with other.libraries.load(str(path)) as (_, chosen):
            chosen.scenes = list(wanted)
        for name in wanted:
            for _ in range(PASSES):
                _copy(other.scenes[name], _data.scenes[name])


def _copy(source: Any, target: Any) -> None:
    layout, _ = Walk({}, {}).layout_of(source)
    for name in (*layout.scalar_names, *layout.float_names, *layout.vector_names, *layout.flags, *layout.paths):
        _assign(source, target, name)
    for name, kind in zip(layout.part_names, layout.part_kinds, strict=True):
        theirs: Any = getattr(source, name)
        ours: Any = getattr(target, name)
        if name == LAYERS:
            for layer in theirs:
                if layer.name in ours:
                    _copy(layer, ours[layer.name])
        elif kind in (BLOCK, OWNED_BLOCK) and not _is_embedded(theirs, ours):
            _put(target, name, _own(theirs))
        elif kind == STRUCT and theirs is not None and ours is not None:
            _copy(theirs, ours)
    if layout.runtime:
        for name in layout.runtime & (_stored(source) | _stored(target)):
            _copy_group(getattr(source, name), getattr(target, name))
    if layout.custom:
        _copy_custom(source, target, layout.runtime)


def _copy_group(source: Any, target: Any) -> None:
    """Settings that an add-on has defined, those of Cycles for one."""
    for prop in source.bl_rna.properties:
        if prop.type not in ("POINTER", "COLLECTION"):
            _assign(source, target, prop.identifier)


def _copy_custom(source: Any, target: Any, runtime: frozenset[str]) -> None:
    theirs, ours = (set(each.keys()) - runtime for each in (source, target))
    for name in ours - theirs:
        del target[name]
    for name in theirs:
        value = source[name]
        if isinstance(value, bpy.types.ID):
            target[name] = _own(value)
        else:
            target[name] = _plain(value)
        try:
            target.id_properties_ui(name).update_from(source.id_properties_ui(name))
        except TypeError:
            continue  # a kind of property of which nothing can be said


def _plain(value: Any) -> Any:
    for name in ("to_dict", "to_list"):
        if hasattr(value, name):
            return getattr(value, name)()
    return value


def _stored(struct: Any) -> set[str]:
    """The names of the groups of add-ons that are there: asking for another one would make it."""
    # Apart since Blender 5.0, among the user's own properties before.
    group: Any
    if hasattr(struct, "bl_system_properties_get"):
        group = struct.bl_system_properties_get()
    else:
        group = struct
    if group is None:
        return set()
    return set(group.keys())


def _is_embedded(theirs: Any, ours: Any) -> bool:
    return any(block is not None and block.is_embedded_data for block in (theirs, ours))


def _own(block: Any) -> Any:
    """What the window has in the place of a datablock of the file."""
    if block is None:
        return None
    return getattr(_data, kind_of(block)).get((block.name, None))


def _assign(source: Any, target: Any, name: str) -> None:
    value = getattr(source, name)
    if hasattr(value, "foreach_get"):
        value = value[:]
    _put(target, name, value)


def _put(target: Any, name: str, value: Any) -> None:
    there = getattr(target, name)
    if (there[:] if hasattr(there, "foreach_get") else there) == value:
        return
    try:
        setattr(target, name, value)
    except (AttributeError, TypeError, ValueError):
        return  # read-only, or not allowed beside what else is set: the fingerprint says whether that matters
