"""The structs of a datablock by path, each with its RNA type and its values by property.

The rules of the fingerprint about content apply (`fingerprint/exclusions.py`). This module keeps names instead of order, so that
the result is comparable with another Blender, whose types have more or fewer properties. It must never write.
"""

from collections.abc import Iterable
from functools import cache
from typing import Any, cast

from blendwright.blender.content.arrays import ArrayFile
from blendwright.blender.fingerprint.animation import NO_CHANNELS, animated_channels, is_empty
from blendwright.blender.fingerprint.attributes import hashed_names
from blendwright.blender.fingerprint.canonical import canonical_path
from blendwright.blender.fingerprint.identity import key_of
from blendwright.blender.fingerprint.properties import custom, system
from blendwright.blender.fingerprint.type_layouts import (
    ANIMATION,
    ANY_BLOCK,
    ATTRIBUTES,
    BLOCK,
    BLOCKS,
    BULK,
    NAMED,
    NAMES,
    OWNED_BLOCK,
    STRUCT,
    STRUCTS,
    TypeLayout,
    bulk_columns,
    is_block,
)
from blendwright.blender.fingerprint.walk import reference

import numpy as np  # isort: skip

_MAX_PART_DEPTH = 24
PRESENT = "present"
# The type of properties that may exist or not, independent of the version of Blender.
FREE = "properties"

Struct = dict[str, Any]


@cache
def _layout(cls: type, instance_type: str) -> list[TypeLayout]:
    """Return a cached list for the layout of a class. It is empty until an instance exists, because a layout needs one."""
    return []


def layout_of(struct: Any) -> TypeLayout:
    """Return the layout of a struct's type."""
    cached = _layout(struct.__class__, struct.bl_rna.identifier)
    if not cached:
        cached.append(TypeLayout(struct.bl_rna, struct))
    return cached[0]


class BlockStructs:
    """A collector of the structs of one datablock."""

    def __init__(self, block: Any, arrays: ArrayFile) -> None:
        self.arrays = arrays
        self.structs: dict[str, Struct] = {}
        if getattr(block, "animation_data", None):
            self.channels = animated_channels(block)
        else:
            self.channels = NO_CHANNELS
        self._depth = 0

    def add(self, path: str, type_name: str, values: dict[str, Any]) -> None:
        """Add values of a struct. Values of an existing struct are extended."""
        entry = self.structs.setdefault(path, {"type": type_name, "values": {}})
        entry["values"].update(values)

    def struct(self, path: str, struct: Any) -> None:
        """Add all of a struct by its layout, and its parts."""
        self._depth += 1
        if self._depth <= _MAX_PART_DEPTH:
            layout = layout_of(struct)
            self.add(path, layout.name, self._values(layout, struct))
            if layout.parts:
                parts = zip(layout.part_names, layout.parts(struct), layout.part_kinds, strict=True)
                for name, value, kind in parts:
                    self._part(path, layout.name, name, value, kind)
            if layout.custom:
                self._properties(path, layout, struct)
        self._depth -= 1

    def _values(self, layout: TypeLayout, struct: Any) -> dict[str, Any]:
        if self.channels:
            animated = self.channels.get((struct.as_pointer(), layout.name), {})
        else:
            animated = {}
        names = [*layout.scalar_names, *layout.float_names, *layout.vector_names]
        if self._depth > 1 and is_block(struct.bl_rna):
            names.remove("name")  # an embedded datablock's name is invisible and differs between Blenders

        values: dict[str, Any] = {}
        for name in names:
            if name not in animated:
                values[name] = plain(getattr(struct, name))
        for name in layout.flags:
            values[name] = sorted(getattr(struct, name))
        for name in layout.paths:
            values[name] = canonical_path(getattr(struct, name), struct.id_data)
        return values

    def _part(self, path: str, owner: str, name: str, value: Any, kind: int) -> None:
        """Add a pointer or a list. A referenced datablock or struct becomes a name, an owned one becomes a separate struct."""
        inner = joined(path, name)
        is_reference = kind in (BLOCK, ANY_BLOCK)
        if kind == OWNED_BLOCK and value is not None:
            is_reference = not value.is_embedded_data

        if is_reference:
            self.add(path, owner, {name: _block_name(value)})
        elif kind == NAMED and value is None:
            self.add(path, owner, {name: None})
        elif kind == NAMED:
            self.add(path, owner, {name: reference(value)})
        elif kind == BLOCKS:
            self.add(path, owner, {name: [*map(_block_name, value or ())]})
        elif kind == NAMES:
            self.add(path, owner, {name: [*map(reference, value or ())]})
        elif not value or (kind == ANIMATION and is_empty(value)):
            # Added in any case, because a comparison must know the possible parts of this type.
            self.add(path, owner, {name: None})
        else:
            self.add(path, owner, {name: PRESENT})
            self._inner(inner, value, kind)

    def _inner(self, path: str, value: Any, kind: int) -> None:
        if kind in (STRUCT, ANIMATION, OWNED_BLOCK):
            self.struct(path, value)
        elif kind == STRUCTS:
            self.items(path, value)
        elif kind == BULK:
            self._columns(path, value)
        elif kind == ATTRIBUTES:
            self.attributes(path, value)

    def items(self, path: str, items: Iterable[Any]) -> None:
        """Add a list of structs under their names, or under their indices if names are missing."""
        for label, item in labelled(items):
            self.struct(f"{path}[{label}]", item)

    def attributes(self, path: str, attributes: Any) -> None:
        """Add the geometry attributes that the fingerprint covers."""
        for name in hashed_names(attributes.keys()):
            attribute = attributes[name]
            rna = attribute.bl_rna.properties["data"].fixed_type
            value = next(prop for prop in rna.properties if prop.identifier != "rna_type")
            data = attribute.data
            values: dict[str, Any] = {"domain": attribute.domain, "data_type": attribute.data_type}
            if value.type == "STRING":
                values["values"] = [plain(getattr(element, value.identifier)) for element in data]
            else:
                if value.is_array:
                    width = value.array_length
                else:
                    width = 1
                dtype = {"FLOAT": np.float32, "INT": np.int32, "BOOLEAN": np.bool_}[value.type]
                array = np.empty(len(data) * width, dtype)
                data.foreach_get(value.identifier, array)
                values["values"] = self.arrays.add(array, width)
            self.add(f"{path}[{name}]", FREE, values)

    def _columns(self, path: str, items: Any) -> None:
        """Add a list of structs with only numbers, one array per property."""
        type_name: str = items[0].bl_rna.identifier
        values: dict[str, Any] = {}
        for name, width, dtype in bulk_columns(type_name) or ():
            column = np.empty(len(items) * width, dtype)
            items.foreach_get(name, column)
            values[name] = self.arrays.add(column, width)
        self.add(path, type_name, values)

    def _properties(self, path: str, layout: TypeLayout, struct: Any) -> None:
        """Add custom properties and settings of add-ons."""
        if layout.name in ("NodesModifier", "SequencerCompositorModifierData"):
            return  # special_content.py reads the inputs of a node group
        user_properties = None
        if struct.keys():
            user_properties = custom(struct, layout.runtime, layout.system)
        if user_properties:
            self.add(joined(path, FREE), FREE, {name: plain(value) for name, value, *_ in user_properties})

        if layout.system:
            group = struct.bl_system_properties_get()
        elif layout.runtime:
            group = struct
        else:
            group = None
        if group is None:
            added = None
        else:
            added = system(group, struct.bl_rna, layout.runtime)
        for name, value in added or ():
            self.add(joined(path, name), FREE, dict(_flat(name, value)))


def _flat(name: str, value: Any) -> Iterable[tuple[str, Any]]:
    """Yield the settings of an add-on. Groups of settings are nested pairs."""
    if isinstance(value, list) and value and isinstance(value[0], tuple):
        for inner, content in cast("list[tuple[str, Any]]", value):
            yield from _flat(inner, content)
    else:
        yield name, plain(value)


def labelled(items: Iterable[Any]) -> list[tuple[str, Any]]:
    """Return items with unique labels that do not depend on the version of Blender: names, otherwise indices."""
    labels: list[tuple[str, Any]] = []
    counts: dict[str, int] = {}
    for item in items:
        if item is None:
            continue
        name = getattr(item, "name", None)
        if not isinstance(name, str) or not name:
            labels.append((str(len(labels)), item))
            continue
        counts[name] = counts.get(name, 0) + 1
        if counts[name] == 1:
            labels.append((name, item))
        else:
            labels.append((f"{name} {counts[name]}", item))
    return labels


def joined(path: str, name: str) -> str:
    """Return the path of a property below a path."""
    if path:
        return f"{path}.{name}"
    return name


def _block_name(block: Any) -> str | None:
    """Return the kind and name of a datablock as one string; None for None."""
    if block is None:
        return None
    return "/".join(key_of(block)[:2])


def plain(value: Any) -> Any:
    """Return a value in JSON form. A number that is not finite becomes a string."""
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        if np.isfinite(value):
            return value
        return str(value)
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, bytes):
        return value.hex()
    return [*map(plain, value)]
