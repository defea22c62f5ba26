"""Values taken out of Blender and put back: copies that stay what they were, and the places they came from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import bpy
import mathutils

from blendwright.blender import fingerprint as fp

Thaw = Callable[[], Any]


def freeze(value: Any, resolve: Callable[[fp.Key], Any]) -> Thaw:
    """A property's value as something that yields it again later, whatever happens to the original.

    Datablocks are kept by name (a reference may dangle after a revert), arrays and vectors by their numbers."""
    if isinstance(value, bpy.types.ID):
        key = fp.key_of(value)
        return lambda: resolve(key)
    kept = plain(value)
    return lambda: kept


def plain(value: Any) -> Any:
    """Vectors, arrays and groups of custom properties as tuples, lists and dictionaries; enum flags stay sets."""
    if isinstance(value, mathutils.Matrix):
        return value.copy()  # Blender takes rows of plain numbers for columns
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if hasattr(value, "to_list"):
        return value.to_list()
    if isinstance(value, (str, bytes, set, frozenset)) or not hasattr(value, "__len__"):
        return cast("Any", value)
    return tuple(plain(part) for part in value)
