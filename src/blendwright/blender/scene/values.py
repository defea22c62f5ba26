"""Values taken out of Blender and put back: copies that stay what they were, and the places they came from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import bpy
import mathutils

from blendwright.blender import fingerprint as fp
from blendwright.blender.scene.state import RESERVED_PREFIX

Thaw = Callable[[], Any]
Resolve = Callable[[fp.Key], Any]


def freeze(value: Any, resolve: Resolve) -> Thaw:
    """A property's value as something that yields it again later, whatever happens to the original.

    Datablocks are kept by name (a reference may dangle after a revert), arrays and vectors by their numbers."""
    if isinstance(value, bpy.types.ID):
        key = fp.key_of(value)
        return lambda: resolve(key)
    kept = plain(value)
    return lambda: kept


def plain(value: Any) -> Any:
    """Vectors and arrays as tuples; enum flags stay sets."""
    if isinstance(value, mathutils.Matrix):
        return value.copy()  # Blender takes rows of plain numbers for columns
    if isinstance(value, (str, bytes, set, frozenset)) or not hasattr(value, "__len__"):
        return cast("Any", value)
    return tuple(plain(part) for part in value)


def freeze_item(value: Any, resolve: Resolve) -> Thaw:
    """The same for a custom property, which may be a group that holds datablocks."""
    if hasattr(value, "to_dict"):
        group = {key: freeze_item(value[key], resolve) for key in value.keys()}  # noqa: SIM118 - no mapping
        return lambda: {key: thaw() for key, thaw in group.items()}
    if hasattr(value, "to_list"):
        numbers = value.to_list()
        return lambda: numbers
    if isinstance(value, list):
        groups = [freeze_item(element, resolve) for element in cast("list[Any]", value)]
        return lambda: [thaw() for thaw in groups]
    return freeze(value, resolve)


def put_item(holder: Any, key: str, value: Any) -> None:
    """Write a custom property, also a pointer to nothing, which Blender does not take as a value."""
    if value is None:
        _write_null_pointer(holder, key)
    elif isinstance(value, dict):
        holder[key] = {}
        for name, inner in cast("dict[str, Any]", value).items():
            put_item(holder[key], name, inner)
    else:
        holder[key] = value


def item_hints(holder: Any, key: str) -> dict[str, Any] | None:
    """What a custom property says of itself in the interface: its range, its default, its description."""
    try:
        return holder.id_properties_ui(key).as_dict()
    except TypeError:  # groups and pointers say nothing
        return None


def put_hints(holder: Any, key: str, hints: dict[str, Any] | None) -> None:
    if hints:
        holder.id_properties_ui(key).update(**hints)


def _write_null_pointer(holder: Any, key: str) -> None:
    """A pointer is null once what it points at has been removed."""
    texts: Any = bpy.data.texts
    stub = texts.new(f"{RESERVED_PREFIX}nothing")
    holder[key] = stub
    texts.remove(stub)
