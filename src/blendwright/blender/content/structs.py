"""One datablock as structs by their path, each with its RNA type and its values by property.

Goes by the same rules as the fingerprint about what is content (`fingerprint/exclusions.py`), but keeps names instead of order, so that
another Blender, whose types have more or fewer properties, can be compared with it. Must never write.
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

_DEEPEST = 24
PRESENT = "present"
# The type that stands for properties which are there or not, whatever the version of Blender.
FREE = "properties"

Struct = dict[str, Any]


@cache
def _layout(cls: type, instance_type: str) -> list[TypeLayout]:
    """A place for the layout of a class: classes may share a name, instances make the layout."""
    return []


def layout_of(struct: Any) -> TypeLayout:
    place = _layout(struct.__class__, struct.bl_rna.identifier)
    if not place:
        place.append(TypeLayout(struct.bl_rna, struct))
    return place[0]


class BlockStructs:
    """Collects the structs of one datablock."""

    def __init__(self, block: Any, arrays: ArrayFile) -> None:
        self.arrays = arrays
        self.structs: dict[str, Struct] = {}
        if getattr(block, "animation_data", None):
            self.channels = animated_channels(block)
        else:
            self.channels = NO_CHANNELS
        self._depth = 0

    def add(self, path: str, type_name: str, values: dict[str, Any]) -> None:
        """Values of a struct; those of one that is there already are completed."""
        entry = self.structs.setdefault(path, {"type": type_name, "values": {}})
        entry["values"].update(values)

    def struct(self, path: str, struct: Any) -> None:
        """All of a struct by its layout, and its parts."""
        self._depth += 1
        if self._depth <= _DEEPEST:
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
            names.remove("name")  # nobody sees it, and every Blender gives another one
        values = {name: plain(getattr(struct, name)) for name in names if name not in animated}
        values |= {name: sorted(getattr(struct, name)) for name in layout.flags}
        values |= {name: canonical_path(getattr(struct, name), struct.id_data) for name in layout.paths}
        return values

    def _part(self, path: str, owner: str, name: str, value: Any, kind: int) -> None:
        """A pointer or a list: what it refers to goes by its name, what belongs to the struct is a struct of its own."""
        inner = joined(path, name)
        if kind in (BLOCK, ANY_BLOCK) or (kind == OWNED_BLOCK and value is not None and not value.is_embedded_data):
            self.add(path, owner, {name: _block_name(value)})
        elif kind == NAMED:
            self.add(path, owner, {name: None if value is None else reference(value)})
        elif kind == BLOCKS:
            self.add(path, owner, {name: [_block_name(block) for block in value or ()]})
        elif kind == NAMES:
            self.add(path, owner, {name: [reference(item) for item in value or ()]})
        else:
            there = bool(value) and not (kind == ANIMATION and is_empty(value))
            # Said in either case: whoever compares must know which parts this type can have.
            self.add(path, owner, {name: PRESENT if there else None})
            if there:
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
        """A list of structs under their names, or their places where they have none or share one."""
        for label, item in labelled(items):
            self.struct(f"{path}[{label}]", item)

    def attributes(self, path: str, attributes: Any) -> None:
        for name in hashed_names(attributes.keys()):
            attribute = attributes[name]
            rna = attribute.bl_rna.properties["data"].fixed_type
            value = next(prop for prop in rna.properties if prop.identifier != "rna_type")
            data, place = attribute.data, f"{path}[{name}]"
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
            self.add(place, FREE, values)

    def _columns(self, path: str, items: Any) -> None:
        type_name: str = items[0].bl_rna.identifier
        values: dict[str, Any] = {}
        for name, width, dtype in bulk_columns(type_name) or ():
            column = np.empty(len(items) * width, dtype)
            items.foreach_get(name, column)
            values[name] = self.arrays.add(column, width)
        self.add(path, type_name, values)

    def _properties(self, path: str, layout: TypeLayout, struct: Any) -> None:
        if layout.name in ("NodesModifier", "SequencerCompositorModifierData"):
            return  # the inputs of a node group, which have a reader of their own
        if struct.keys():
            own = custom(struct, layout.runtime, layout.system)
        else:
            own = None
        if own:
            self.add(joined(path, FREE), FREE, {name: plain(value) for name, value, *_ in own})
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
    """The settings of an add-on, which are pairs all the way down."""
    if isinstance(value, list) and value and isinstance(value[0], tuple):
        for inner, content in cast("list[tuple[str, Any]]", value):
            yield from _flat(inner, content)
    else:
        yield name, plain(value)


def labelled(items: Iterable[Any]) -> list[tuple[str, Any]]:
    """Items with labels that are unique and do not depend on the version of Blender: names where there are some."""
    listed = [item for item in items if item is not None]
    names = [getattr(item, "name", None) for item in listed]
    labels: list[tuple[str, Any]] = []
    seen: dict[str, int] = {}
    for index, (item, name) in enumerate(zip(listed, names, strict=True)):
        if isinstance(name, str) and name:
            seen[name] = seen.get(name, 0) + 1
            labels.append((name if seen[name] == 1 else f"{name} {seen[name]}", item))
        else:
            labels.append((str(index), item))
    return labels


def joined(path: str, name: str) -> str:
    if path:
        return f"{path}.{name}"
    return name


def _block_name(block: Any) -> str | None:
    if block is None:
        return None
    return "/".join(key_of(block)[:2])


def plain(value: Any) -> Any:
    """A value as JSON has it; what is not finite is text."""
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
    return [plain(item) for item in value]
