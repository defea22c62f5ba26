"""The canonical walk over one datablock: RNA values in a fixed order, as plain Python values.

Responsible for: reading a struct by its layout and going down into its parts. What needs more than the layout (nodes, mesh
data, poses ...) is in the readers of `content_readers.py`. Must never write: no property is read whose getter creates data.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import compress
from typing import Any, cast

import bpy
import numpy as np

from blendwright.blender.fingerprint.animation import Channels, animated_channels, is_empty
from blendwright.blender.fingerprint.attributes import blob, encode_attributes
from blendwright.blender.fingerprint.canonical import FOLDED, canonical_path, fold_all, fold_array
from blendwright.blender.fingerprint.identity import key_of
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

# The deepest chain of parts in Blender 5.0 has 7 links. A pointer that leads back up must become a reference in
# `exclusions.py`; a hash that silently stopped somewhere would be worse than an error.
_DEEPEST = 24
# What Blender notes of an asset whenever it saves: the size of an object, the sockets of a node group, whether an action is a pose.
_WRITTEN_ON_SAVE = frozenset({"dimensions", "type", "inputs", "outputs", "properties", "is_single_frame"})

# Without the struct: asked for by name, it first looks for a property and a function of that name.
_keys: Callable[[Any], Any] = bpy.types.bpy_struct.keys

Out = list[Any]
Reader = Callable[["Walk", Any, Out], None]


class Walk:
    """Reads structs into `out`, leaving animated channels blank."""

    # RNA type -> what to read besides the layout; filled by `leaf_hashes.py`.
    readers: dict[str, Reader] = {}
    # RNA type -> properties that are read as columns instead; filled by `leaf_hashes.py`.
    in_columns: dict[str, frozenset[str]] = {}
    _layouts: dict[type, tuple[TypeLayout, tuple[Reader, ...]]] = {}

    def __init__(self, channels: Channels, grouped: Mapping[Any, bool], *, all_grouped: bool = False) -> None:
        self.channels = channels
        # Mesh -> whether it has vertex groups, as far as known beforehand: of all that an object uses, or of some.
        self.grouped = grouped
        self.all_grouped = all_grouped
        self._depth = 0

    def layout_of(self, struct: Any) -> tuple[TypeLayout, tuple[Reader, ...]]:
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
        """All of a struct: its type, its values, its parts, its custom properties."""
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
            # Only what is there, each under its number: an absent part and an empty list are alike.
            values, kinds = layout.parts(struct), layout.part_kinds
            for number in compress(layout.part_numbers, values):
                value, kind = values[number], kinds[number]
                if kind == STRUCT:
                    out.append(number)
                    inner = self._layouts.get(value.__class__)
                    # As below, without the detour: every object has several.
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
        """The flags and file paths of a struct."""
        for name in layout.flags:
            out.append(sorted(getattr(struct, name)))
        for name in layout.paths:
            out.append(canonical_path(getattr(struct, name), struct.id_data))

    def values(self, struct: Any, out: Out) -> None:
        """The values of a struct without its parts."""
        layout, _ = self.layout_of(struct)
        self._values(layout, struct, self.channels.get((struct.as_pointer(), layout.name), {}), out)

    def _values(self, layout: TypeLayout, struct: Any, channels: dict[str, set[int]], out: Out) -> None:
        if layout.scalars:
            values = layout.scalars(struct)
            out.append([None if n in channels else v for n, v in zip(layout.scalar_names, values, strict=True)])
        if layout.floats:
            values = fold_all(layout.floats(struct))
            out.append([None if n in channels else v for n, v in zip(layout.float_names, values, strict=True)])
        if layout.vectors:
            for name, value, depth in zip(
                layout.vector_names, layout.vectors(struct), layout.vector_depths, strict=True
            ):
                left_out = channels.get(name, ())
                out.append([None if i in left_out else v for i, v in enumerate(folded_vector(value, depth))])

    def properties(self, struct: Any, layout: TypeLayout, channels: dict[str, set[int]] | None, out: Out) -> None:
        if struct.keys():
            own = custom(struct, layout.runtime, layout.system)
        else:
            own = None
        if layout.system:
            group = struct.bl_system_properties_get()
            if group is None:
                added = None
            else:
                added = system(group, struct.bl_rna, layout.runtime)
        else:
            if layout.runtime:
                added = system(struct, struct.bl_rna, layout.runtime)
            else:
                added = None
        if own and layout.name == "AssetMetaData":
            own = [item for item in own if item[0] not in _WRITTEN_ON_SAVE]
        if channels:
            own = own and [(name, blanked(value, channels.get(f'["{name}"]')), *shown) for name, value, *shown in own]
            added = added and _without_animated(added, "", channels)
        if own or added:
            out.append(("properties", own, added))

    def part(self, number: int, value: Any, kind: int, out: Out) -> None:
        """A part that is there, under its number."""
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
            out.append([None if block is None else key_of(block) for block in value])
        elif kind == NAMES:
            out.append([reference(item) for item in value])
        else:
            encode_attributes(value, out)

    def inner(self, struct: Any, out: Out) -> None:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise RecursionError(f"the parts of {struct.bl_rna.identifier} lead back to their owner")
        self.struct(struct, out)
        self._depth -= 1

    def inner_without(self, struct: Any, names: tuple[str, ...], out: Out) -> None:
        """A part without values that evaluation writes, as it writes animated channels."""
        outer = self.channels
        struct_id = (struct.as_pointer(), struct.bl_rna.identifier)
        self.channels = {**outer, struct_id: {**outer.get(struct_id, {}), **{name: {0} for name in names}}}
        self.inner(struct, out)
        self.channels = outer

    def structs(self, items: Any, out: Out) -> None:
        """A list of structs, in its order."""
        out.append(len(items))
        for item in items:
            if item is None:
                out.append(None)
            else:
                self.inner(item, out)

    def unordered(self, items: Any, out: Out) -> None:
        """A list of structs whose order means nothing."""
        encoded: list[tuple[str, Out]] = []
        for item in items:
            inner: Out = []
            self.inner(item, inner)
            encoded.append((repr(inner), inner))
        encoded.sort(key=lambda pair: pair[0])
        out.append([inner for _, inner in encoded])

    def embedded(self, block: Any, out: Out) -> None:
        """A datablock that is part of another one, with its own animation."""
        outer = self.channels
        if getattr(block, "animation_data", None) is not None:
            self.channels = {**outer, **animated_channels(block)}
        self.inner(block, out)
        self.channels = outer

    def bulk(self, items: Any, out: Out) -> None:
        """A list of structs that hold numbers only, column by column."""
        first = items[0]
        type_name: str = first.bl_rna.identifier
        if any(owner == type_name for _, owner in self.channels):
            self.structs(items, out)
            return
        out.append(type_name)
        for name, width, dtype in bulk_columns(type_name) or ():
            column = np.empty(len(items) * width, dtype)
            items.foreach_get(name, column)
            out.append(blob(fold_array(column) if dtype == "<f4" else column))


def _add_values(layout: TypeLayout, struct: Any, out: Out) -> None:
    """The type of a struct and its values, none of which is animated."""
    out.append(layout.name)
    if layout.scalars:
        out.append(layout.scalars(struct))
    if layout.floats:
        out.append(FOLDED[layout.floats(struct)])
    if layout.vectors:
        out += layout.vector_values(struct)


def has_properties(layout: TypeLayout) -> Callable[[Any], bool]:
    """Tells whether a struct has custom properties or settings of add-ons. Nearly all have none."""
    if layout.system:
        return _has_any
    return _has_own


def have_properties(layout: TypeLayout, structs: Sequence[Any]) -> list[bool]:
    """The same of several structs of one type."""
    owning = [*map(bool, map(_keys, structs))]
    if not layout.system:
        return owning
    pairs = zip(owning, structs, strict=True)
    return [own or struct.bl_system_properties_get() is not None for own, struct in pairs]


def _has_own(struct: Any) -> bool:
    # What an add-on stores is among the custom ones before Blender 5.0.
    return bool(_keys(struct))


def _has_any(struct: Any) -> bool:
    return bool(_keys(struct)) or struct.bl_system_properties_get() is not None


def _is_plain(layout: TypeLayout, struct: Any) -> bool:
    """Whether a struct has nothing but values, of those that can have more."""
    return layout.plain or (layout.only_parts and layout.parts is not None and not any(layout.parts(struct)))


def _is_present(value: Any, kind: int) -> bool:
    """Whether a part is as good as absent: Blender forgets pointers to a part of another datablock when it saves."""
    return not (is_empty(value) if kind == ANIMATION else value.is_embedded_data)


def reference(struct: Any) -> str | None:
    """A struct that lives in a named list elsewhere."""
    name = getattr(struct, "identifier", None) or getattr(struct, "name", None)
    if isinstance(name, str):
        return name
    return None


def blanked(value: Any, indices: set[int] | None) -> Any:
    """A custom property without what is animated of it: all, or some elements."""
    if indices is None:
        return value
    if isinstance(value, list):
        return [None if i in indices else element for i, element in enumerate(cast("list[Any]", value))]
    return None


def _without_animated(settings: list[Any], path: str, channels: dict[str, set[int]]) -> list[Any] | None:
    """An add-on's settings without animated ones; those may come and go, as a default counts as absent."""
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
