"""The layout of each RNA type: which properties are read and how, worked out once per type from bl_rna and the exclusions.

This module sorts a type's properties into groups that can be read fast. It reads no instance's content.
"""

from collections.abc import Callable
from functools import cache
from operator import attrgetter
from typing import Any

import bpy

from blendwright.blender.fingerprint import exclusions
from blendwright.blender.fingerprint.canonical import FOLDED, fold_all
from blendwright.blender.fingerprint.exclusions import OWNED_STRUCTS, REFERENCE_LISTS, REFERENCED_STRUCTS

_types: Any = bpy.types
Getter = Callable[[Any], tuple[Any, ...]]

# The ways to read a part of a struct.
BLOCK, OWNED_BLOCK, NAMED, STRUCT, BLOCKS, NAMES, STRUCTS, BULK, ATTRIBUTES, ANIMATION, ANY_BLOCK = range(11)
_OWNED_BLOCK_TYPES = {"NodeTree", "Collection"}  # may be embedded in their owner
_PATHS = {"FILE_PATH", "DIR_PATH"}
_NUMBERS = {"INT", "FLOAT", "BOOLEAN"}


def getter(names: tuple[str, ...]) -> Getter | None:
    """Return an attrgetter that always returns a tuple; None without names.

    A plain attrgetter of a single name returns a bare value.
    """
    if not names:
        return None
    if len(names) == 1:
        get_value = attrgetter(names[0])
        return lambda struct: (get_value(struct),)
    return attrgetter(*names)


def bases(rna: Any) -> list[str]:
    """Return the identifiers of an RNA type and of its base types, the type first."""
    names: list[str] = []
    while rna is not None:
        names.append(rna.identifier)
        rna = rna.base
    return names


@cache
def _types_with_subtypes() -> frozenset[str]:
    rnas = (getattr(getattr(_types, name), "bl_rna", None) for name in dir(_types))
    return frozenset(rna.base.identifier for rna in rnas if rna is not None and rna.base is not None)


def hashed_properties(rna: Any) -> list[Any]:
    """Return the properties of a type that belong to its content."""
    reasons = reasons_to_leave_out(rna)
    return [prop for prop in rna.properties if prop.identifier not in reasons]


def reasons_to_leave_out(rna: Any) -> dict[str, str]:
    """Return the properties of a type that the walk does not read, each with the reason. All other properties are hashed."""
    chain = bases(rna)
    excluded: dict[str, str] = {"rna_type": "the type itself"}
    for name in chain:
        excluded |= exclusions.EXCLUDED.get(name, {})
    if rna.identifier == "Action" and "layers" in rna.properties:
        excluded |= exclusions.LEGACY_ACTION
    included = {name for owner, name in exclusions.INCLUDED if owner in chain}
    reasons: dict[str, str] = {}
    for prop in rna.properties:
        name: str = prop.identifier
        if name in excluded:
            reasons[name] = excluded[name]
        elif name not in included and (name in exclusions.UI_NAMES or name.startswith(exclusions.UI_PREFIXES)):
            reasons[name] = "user interface state, by its name"
        elif name not in included and prop.is_readonly and prop.type == "BOOLEAN":
            reasons[name] = "a read-only flag derives from other values"
        elif is_of_addon(rna, prop):
            reasons[name] = "defined by an add-on: reading it would create it, so it is read as a system property"
        elif getattr(prop, "is_deprecated", False):
            # Reading a deprecated property prints a warning in Blender 5.0.
            reasons[name] = "a deprecated name; the value is hashed under the new name"
    return reasons


def is_of_addon(rna: Any, prop: Any) -> bool:
    """Return True if Python code defined a property.

    Blender also creates settings of its built-in nodes at run time; these are read like any other property. A property from Python is
    in the dictionary of a class or among its annotations. A type missing in bpy.types comes from Python or from a node group.
    """
    if not prop.is_runtime:
        return False
    owner: Any = getattr(_types, rna.identifier, None)
    if owner is None:
        return True
    name: str = prop.identifier
    namespaces: list[Any] = [vars(cls) for cls in owner.__mro__]
    return any(name in names or name in names.get("__annotations__", ()) for names in namespaces)


class TypeLayout:
    """The properties of one RNA type, grouped by how they are read."""

    def __init__(self, rna: Any, instance: Any, without: frozenset[str] = frozenset()) -> None:
        self.name: str = rna.identifier
        scalars: list[str] = []
        floats: list[str] = []
        vectors: list[tuple[str, int]] = []
        flags: list[str] = []
        paths: list[str] = []
        parts: list[tuple[str, int]] = []
        chain = bases(rna)
        for prop in hashed_properties(rna):
            name: str = prop.identifier
            if name in without:
                continue
            if prop.type in _NUMBERS:
                if prop.is_array:
                    vectors.append((name, sum(1 for size in prop.array_dimensions if size)))
                elif prop.type == "FLOAT":
                    floats.append(name)
                else:
                    scalars.append(name)
            elif prop.type == "STRING" and prop.subtype in _PATHS:
                paths.append(name)
            elif prop.type == "ENUM" and prop.is_enum_flag:
                flags.append(name)
            elif prop.type in ("STRING", "ENUM"):
                scalars.append(name)
            elif prop.type == "POINTER":
                parts.append((name, _pointer_kind(prop)))
            else:
                if any((owner, name) in REFERENCE_LISTS for owner in chain):
                    kind = NAMES
                else:
                    kind = _collection_kind(prop)
                parts.append((name, kind))
        self.scalar_names = tuple(scalars)
        self.scalars = getter(self.scalar_names)
        self.float_names = tuple(floats)
        self.floats = getter(self.float_names)
        self.vector_names = tuple(name for name, _ in vectors)
        self.vector_depths = tuple(depth for _, depth in vectors)
        self.vectors = getter(self.vector_names)
        self.flat = all(depth == 1 for depth in self.vector_depths)
        self.flags = tuple(flags)
        self.paths = tuple(paths)
        self.part_names = tuple(name for name, _ in parts)
        self.part_numbers = range(len(parts))
        self.part_kinds = tuple(kind for _, kind in parts)
        self.parts = getter(self.part_names)
        # Properties added by add-ons. The two flags: instances can have custom properties, or separate system properties.
        self.runtime = frozenset(p.identifier for p in rna.properties if is_of_addon(rna, p))
        self.custom = supports_custom(instance)
        self.system = hasattr(instance, "bl_system_properties_get")
        # True if the type has only numbers and strings.
        self.plain = not (flags or paths or parts or self.custom)
        # True if the type would be plain without its parts.
        self.only_parts = bool(parts) and not (flags or paths or self.custom)

    def vector_values(self, struct: Any) -> list[tuple[float, ...]]:
        """Return the vectors of a struct, folded."""
        if self.vectors is None:
            return []
        if self.flat:
            return [FOLDED[value[:]] for value in self.vectors(struct)]  # a slice is read in one piece
        depths = zip(self.vectors(struct), self.vector_depths, strict=True)
        return [folded_vector(value, depth) for value, depth in depths]


def folded_vector(value: Any, depth: int) -> tuple[float, ...]:
    """Return a vector or matrix with `depth` dimensions as one flat, folded row."""
    for _ in range(depth - 1):
        value = [inner for outer in value for inner in outer]
    return fold_all(value)


def supports_custom(instance: Any) -> bool:
    """Return True if a struct can have custom properties."""
    try:
        instance.keys()
    except (TypeError, AttributeError):
        return False
    return True


def is_block(rna: Any) -> bool:
    """Return True if an RNA type is a datablock type."""
    return bases(rna)[-1] == "ID"


def _pointer_kind(prop: Any) -> int:
    target = prop.fixed_type
    if target.identifier == "AnimData":
        return ANIMATION
    if target.identifier == "ID":
        return ANY_BLOCK
    if is_block(target):
        if target.identifier in _OWNED_BLOCK_TYPES:
            return OWNED_BLOCK
        return BLOCK
    if target.identifier in OWNED_STRUCTS:
        return STRUCT
    if not prop.is_readonly or not REFERENCED_STRUCTS.isdisjoint(bases(target)):
        return NAMED
    return STRUCT


def _collection_kind(prop: Any) -> int:
    item = prop.fixed_type
    if is_block(item):
        return BLOCKS
    if item.identifier == "Attribute":
        return ATTRIBUTES
    if bulk_columns(item.identifier) is not None:
        return BULK
    return STRUCTS


@cache
def bulk_columns(type_name: str) -> tuple[tuple[str, int, str], ...] | None:
    """Return (property, width, dtype) for each property of a type that consists only of numbers; None for other types."""
    rna = getattr(getattr(_types, type_name, None), "bl_rna", None)
    if rna is None or type_name in _types_with_subtypes():
        return None
    columns: list[tuple[str, int, str]] = []
    for prop in hashed_properties(rna):
        column = number_column(prop)
        if column is None:
            return None
        columns.append(column)
    return tuple(columns) or None


def number_column(prop: Any) -> tuple[str, int, str] | None:
    """Return (property, width, dtype) for reading a property with `foreach_get`, or None if that is impossible."""
    if prop.type == "ENUM":
        if prop.is_enum_flag or not len(prop.enum_items_static):
            return None
        return (prop.identifier, 1, "<i4")
    if prop.type not in _NUMBERS:
        return None
    width: int
    if prop.is_array:
        width = prop.array_length
    else:
        width = 1
    if width == 0:  # the length differs per instance
        return None
    return (prop.identifier, width, {"INT": "<i4", "FLOAT": "<f4", "BOOLEAN": "?"}[prop.type])
