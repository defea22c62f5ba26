"""The canonical walk over one datablock: RNA values in a fixed order, as plain Python values.

This module reads a struct by its layout and descends into its parts. The readers in `content_readers.py` add content that
the layout does not cover (nodes, mesh data, poses). The walk must never write, so it reads no property whose getter creates data.
"""

from collections.abc import Callable, Container, Mapping, Sequence
from itertools import compress
from typing import Any, cast

import bpy
import numpy as np

from blendwright.blender.fingerprint.animation import Channels, animated_channels, is_empty
from blendwright.blender.fingerprint.attributes import blob, encode_attributes
from blendwright.blender.fingerprint.canonical import FOLDED, canonical_path, fold_all, fold_array
from blendwright.blender.fingerprint.identity import key_of, optional_key
from blendwright.blender.fingerprint.properties import custom, system
from blendwright.blender.fingerprint.type_layouts import (
    ANIMATION,
    ANY_BLOCK,
    BLOCK,
    BLOCKS,
    BULK,
    NAMED,
    NAMES,
    OWNED_BLOCK,
    STRUCT,
    STRUCTS,
    TypeLayout,
    bases,
    bulk_columns,
    folded_vector,
)

# The maximum number of nested parts. The deepest chain in Blender 5.0 has 7 links. A pointer that leads back up must become
# a reference in `exclusions.py`. An error is better than a hash that silently stops at some depth.
_MAX_PART_DEPTH = 24
# Asset metadata that Blender writes at every save: an object's size, a node group's sockets, the pose flag of an action.
_WRITTEN_ON_SAVE = frozenset({"dimensions", "type", "inputs", "outputs", "properties", "is_single_frame"})

# The unbound method. `struct.keys` would first look for an RNA property and a function of that name.
_keys: Callable[[Any], Any] = bpy.types.bpy_struct.keys

Out = list[Any]
Reader = Callable[["Walk", Any, Out], None]


class Walk:
    """A reader that appends the content of structs to `out` and leaves animated channels blank."""

    # RNA type -> the reader of content that the layout does not cover; filled by `leaf_hashes.py`.
    readers: dict[str, Reader] = {}
    # RNA type -> properties that are read as columns instead; filled by `leaf_hashes.py`.
    in_columns: dict[str, frozenset[str]] = {}
    _layouts: dict[type, tuple[TypeLayout, tuple[Reader, ...]]] = {}

    def __init__(self, channels: Channels, grouped: Mapping[Any, bool], *, all_grouped: bool = False) -> None:
        self.channels = channels
        # Mesh -> True if it has vertex groups. It lists every mesh that an object uses if `all_grouped`, otherwise some.
        self.grouped = grouped
        self.all_grouped = all_grouped
        self._depth = 0

    def layout_of(self, struct: Any) -> tuple[TypeLayout, tuple[Reader, ...]]:
        """Return the layout of a struct's type and the extra readers for it, base types first. Both are cached per type."""
        cls = struct.__class__
        entry = self._layouts.get(cls)
        if entry is None:
            rna = struct.bl_rna
            readers = tuple(self.readers[name] for name in reversed(bases(rna)) if name in self.readers)
            layout = TypeLayout(rna, struct, self.in_columns.get(rna.identifier, frozenset()))
            layout.plain = layout.plain and not readers
            layout.only_parts = layout.only_parts and not readers
            entry = self._layouts[cls] = (layout, readers)
        return entry

    def struct(self, struct: Any, out: Out) -> None:
        """Append all of a struct: its type, its values, its parts, its custom properties."""
        layout, readers = self._layouts.get(struct.__class__) or self.layout_of(struct)
        if self.channels:
            channels = self.channels.get((struct.as_pointer(), layout.name))
        else:
            channels = None
        if channels:
            out.append(layout.name)
            self._values(layout, struct, channels, out)
        else:
            _add_values(layout, struct, out)
        if layout.plain:
            return
        if layout.flags or layout.paths:
            self.words(layout, struct, out)
        if layout.parts:
            # Append only present parts, each under its number. An absent part and an empty list give the same content.
            values, kinds = layout.parts(struct), layout.part_kinds
            for number in compress(layout.part_numbers, values):
                value, kind = values[number], kinds[number]
                if kind == STRUCT:
                    out.append(number)
                    inner = self._layouts.get(value.__class__)
                    # A shortcut for `inner`: every object has several plain parts.
                    if inner is not None and not self.channels and _is_plain(inner[0], value):
                        _add_values(inner[0], value, out)
                    else:
                        self.inner(value, out)
                else:
                    self.part(number, value, kind, out)
        if layout.custom and has_properties(layout)(struct):
            self.properties(struct, layout, channels, out)
        for reader in readers:
            reader(self, struct, out)

    def words(self, layout: TypeLayout, struct: Any, out: Out) -> None:
        """Append the flags and file paths of a struct."""
        for name in layout.flags:
            out.append(sorted(getattr(struct, name)))
        for name in layout.paths:
            out.append(canonical_path(getattr(struct, name), struct.id_data))

    def values(self, struct: Any, out: Out) -> None:
        """Append the values of a struct without its parts."""
        layout, _ = self.layout_of(struct)
        self._values(layout, struct, self.channels.get((struct.as_pointer(), layout.name), {}), out)

    def _values(self, layout: TypeLayout, struct: Any, channels: dict[str, set[int]], out: Out) -> None:
        if layout.scalars:
            values = layout.scalars(struct)
            out.append(_without_channels(layout.scalar_names, values, channels))
        if layout.floats:
            values = fold_all(layout.floats(struct))
            out.append(_without_channels(layout.float_names, values, channels))
        if layout.vectors:
            for name, value, depth in zip(
                layout.vector_names, layout.vectors(struct), layout.vector_depths, strict=True
            ):
                left_out = channels.get(name, ())
                out.append(_without_indices(folded_vector(value, depth), left_out))

    def properties(self, struct: Any, layout: TypeLayout, channels: dict[str, set[int]] | None, out: Out) -> None:
        """Append the user's custom properties and the settings of add-ons, without animated ones; nothing if both are empty."""
        if struct.keys():
            user_properties = custom(struct, layout.runtime, layout.system)
        else:
            user_properties = None
        group = None
        if layout.system:
            group = struct.bl_system_properties_get()
        elif layout.runtime:
            group = struct
        if group is None:
            added = None
        else:
            added = system(group, struct.bl_rna, layout.runtime)
        if user_properties and layout.name == "AssetMetaData":
            user_properties = [item for item in user_properties if item[0] not in _WRITTEN_ON_SAVE]
        if channels and user_properties:
            user_properties = _blanked_properties(user_properties, channels)
        if channels and added:
            added = _without_animated(added, "", channels)
        if user_properties or added:
            out.append(("properties", user_properties, added))

    def part(self, number: int, value: Any, kind: int, out: Out) -> None:
        """Append a present part, preceded by its number in the layout."""
        if kind >= ANIMATION and not _is_present(value, kind):
            return
        out.append(number)
        if kind in (BLOCK, ANY_BLOCK):
            out.append(key_of(value))
        elif kind in (STRUCT, ANIMATION):
            self.inner(value, out)
        elif kind == STRUCTS:
            self.structs(value, out)
        elif kind == BULK:
            self.bulk(value, out)
        elif kind == NAMED:
            out.append(reference(value))
        elif kind == OWNED_BLOCK:
            if value.is_embedded_data:
                self.embedded(value, out)
            else:
                out.append(key_of(value))
        elif kind == BLOCKS:
            out.append([*map(optional_key, value)])
        elif kind == NAMES:
            out.append([reference(item) for item in value])
        else:
            encode_attributes(value, out)

    def inner(self, struct: Any, out: Out) -> None:
        """Append a struct that is part of another one. Raise RecursionError if parts lead back to their owner."""
        self._depth += 1
        if self._depth > _MAX_PART_DEPTH:
            raise RecursionError(f"the parts of {struct.bl_rna.identifier} lead back to their owner")
        self.struct(struct, out)
        self._depth -= 1

    def inner_without(self, struct: Any, names: tuple[str, ...], out: Out) -> None:
        """Append a part and leave `names` blank, because evaluation writes these values as it writes animated channels."""
        outer = self.channels
        struct_id = (struct.as_pointer(), struct.bl_rna.identifier)
        blanked_names = {name: {0} for name in names}
        self.channels = {**outer, struct_id: {**outer.get(struct_id, {}), **blanked_names}}
        self.inner(struct, out)
        self.channels = outer

    def structs(self, items: Any, out: Out) -> None:
        """Append a list of structs in its order."""
        out.append(len(items))
        for item in items:
            if item is None:
                out.append(None)
            else:
                self.inner(item, out)

    def unordered(self, items: Any, out: Out) -> None:
        """Append a list of structs whose order has no meaning, sorted by content."""
        encoded: list[tuple[str, Out]] = []
        for item in items:
            inner: Out = []
            self.inner(item, inner)
            encoded.append((repr(inner), inner))
        encoded.sort(key=lambda pair: pair[0])
        out.append([inner for _, inner in encoded])

    def embedded(self, block: Any, out: Out) -> None:
        """Append a datablock that is part of another one, with its animation."""
        outer = self.channels
        if getattr(block, "animation_data", None) is not None:
            self.channels = {**outer, **animated_channels(block)}
        self.inner(block, out)
        self.channels = outer

    def bulk(self, items: Any, out: Out) -> None:
        """Append a list of structs that hold only numbers, column by column. Read them one by one if an item is animated."""
        first = items[0]
        type_name: str = first.bl_rna.identifier
        if any(owner == type_name for _, owner in self.channels):
            self.structs(items, out)
            return
        out.append(type_name)
        for name, width, dtype in bulk_columns(type_name) or ():
            column = np.empty(len(items) * width, dtype)
            items.foreach_get(name, column)
            if dtype == "<f4":
                column = fold_array(column)
            out.append(blob(column))


def _add_values(layout: TypeLayout, struct: Any, out: Out) -> None:
    """Append the type of a struct and its values, when no value is animated."""
    out.append(layout.name)
    if layout.scalars:
        out.append(layout.scalars(struct))
    if layout.floats:
        out.append(FOLDED[layout.floats(struct)])
    if layout.vectors:
        out += layout.vector_values(struct)


def _without_channels(names: Sequence[str], values: Sequence[Any], channels: Container[str]) -> list[Any]:
    """Return the values of properties with None for animated ones."""
    kept: list[Any] = []
    for name, value in zip(names, values, strict=True):
        if name in channels:
            kept.append(None)
        else:
            kept.append(value)
    return kept


def _without_indices(values: Sequence[Any], indices: Container[int]) -> list[Any]:
    """Return the elements of an array with None for animated ones."""
    kept: list[Any] = []
    for index, value in enumerate(values):
        if index in indices:
            kept.append(None)
        else:
            kept.append(value)
    return kept


def has_properties(layout: TypeLayout) -> Callable[[Any], bool]:
    """Return a function that returns True for a struct with custom properties or add-on settings. Most structs have none."""
    if layout.system:
        return _has_any
    return _has_own


def have_properties(layout: TypeLayout, structs: Sequence[Any]) -> list[bool]:
    """Return for each of several structs of one type if it has custom properties or add-on settings."""
    have_custom = [*map(bool, map(_keys, structs))]
    if not layout.system:
        return have_custom
    pairs = zip(have_custom, structs, strict=True)
    return [has_custom or struct.bl_system_properties_get() is not None for has_custom, struct in pairs]


def _has_own(struct: Any) -> bool:
    # Before Blender 5.0, add-on settings are stored among the custom properties.
    return bool(_keys(struct))


def _has_any(struct: Any) -> bool:
    return bool(_keys(struct)) or struct.bl_system_properties_get() is not None


def _is_plain(layout: TypeLayout, struct: Any) -> bool:
    """Return True if a struct has only values, also for a type that may have parts."""
    return layout.plain or (layout.only_parts and layout.parts is not None and not any(layout.parts(struct)))


def _is_present(value: Any, kind: int) -> bool:
    """Return False if a part counts as absent. Blender drops pointers to a part of another datablock when it saves."""
    if kind == ANIMATION:
        return not is_empty(value)
    return not value.is_embedded_data


def reference(struct: Any) -> str | None:
    """Return the identifier or name of a struct that lives in a named list elsewhere; None without either."""
    name = getattr(struct, "identifier", None) or getattr(struct, "name", None)
    if isinstance(name, str):
        return name
    return None


def blanked(value: Any, indices: set[int] | None) -> Any:
    """Return a custom property's value without its animated elements; None if the whole value is animated."""
    if indices is None:
        return value
    if isinstance(value, list):
        return _without_indices(cast("list[Any]", value), indices)
    return None


def _blanked_properties(entries: list[Any], channels: dict[str, set[int]]) -> list[Any]:
    """Return the user's custom properties with animated values blanked."""
    kept: list[Any] = []
    for name, value, *shown in entries:
        animated = channels.get(f'["{name}"]')
        kept.append((name, blanked(value, animated), *shown))
    return kept


def _without_animated(settings: list[Any], path: str, channels: dict[str, set[int]]) -> list[Any] | None:
    """Return an add-on's settings without animated ones; None if none remain.

    An animated setting may appear and disappear, because a value equal to its default counts as absent.
    """
    remaining: list[Any] = []
    for name, value in settings:
        property_path = path + name
        if property_path in channels:
            continue
        if any(channel.startswith(f"{property_path}.") for channel in channels):
            inner = _without_animated(value, f"{property_path}.", channels)
            if inner is not None:
                remaining.append((name, inner))
        else:
            remaining.append((name, value))
    return remaining or None
