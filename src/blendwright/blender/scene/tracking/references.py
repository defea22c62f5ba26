"""Pointers between datablocks with their exact paths: a reversible deletion clears them, and it may leave datablocks without users.

This module finds every pointer to a datablock inside another one, in RNA properties and in custom properties. It must not write,
and must not read add-on settings that are not stored, since reading would create them.
"""

from collections.abc import Container, Iterator
from typing import Any, NamedTuple, cast
from weakref import WeakKeyDictionary

import bpy

from blendwright.blender import fingerprint as fp
from blendwright.blender.fingerprint.type_layouts import is_block, supports_custom
from blendwright.blender.scene.state import is_tombstone


class Item(str):
    """The key of a custom property in a path."""

    __slots__ = ()


Path = tuple[Item | str | int, ...]
# The address and the type of a struct. The address alone is ambiguous: the first member of a struct has the same one.
StructId = tuple[int, str]
PointerSites = Iterator[tuple[Path, Any]]

# The longest property path. Longer ones are cycles through Blender's own back pointers.
MAX_DEPTH = 8
# Pointers that Blender derives from others and updates automatically.
DERIVED = frozenset({"rna_type", "id_data", "original", "active_material", "active_object", "depsgraph"})
# Settings of interactive tools are not part of a scene, and Blender 4.2 crashes when a brush slot of uv_sculpt is read.
INTERACTIVE = frozenset({"tool_settings"})
# The list of materials of a mesh or curve. Its entries are cleared but not removed, so that material indices stay valid.
MATERIALS = "materials"
# Lists with up to millions of elements that contain no pointers to datablocks.
ELEMENTS = frozenset(
    {
        "vertices", "edges", "loops", "polygons", "loop_triangles", "loop_triangle_polygons", "skin_vertices",
        "vertex_normals", "polygon_normals", "corner_normals", "attributes", "color_attributes", "vertex_colors", "uv_layers",
        # Blender 4.5 and older create the selections and pins of a UV map when they are read.
        "uv_layer_clone", "uv_layer_stencil",
        "points", "bezier_points", "keyframe_points", "curves", "collection_objects", "collection_children",
    }
)  # fmt: skip


class Slot(NamedTuple):
    """A property that may lead to datablocks."""

    name: str
    is_list: bool
    is_readonly: bool
    is_runtime: bool


class Slots(NamedTuple):
    """The properties of one type that may lead to datablocks. `custom` is True if the type supports custom properties."""

    rna: tuple[Slot, ...]
    custom: bool


# Keyed by class and not by name: Blender 5.2 creates types for node groups, all with the same names, and drops them again.
_slots: WeakKeyDictionary[type, Slots] = WeakKeyDictionary()


def referrers(blocks: set[Any]) -> dict[Any, list[Any]]:
    """Return, for each datablock, the datablocks that refer to it, sorted by type and name for a reproducible order.

    Tombstones are omitted, and so are datablocks that only display it (windows, screens), since Blender updates those itself."""
    user_map: dict[Any, set[Any]] = bpy.data.user_map(subset=blocks)
    hashed_kinds = fp.kinds()
    users_of: dict[Any, list[Any]] = {}
    for block, users in user_map.items():
        living_users = [user for user in users if not is_tombstone(user) and fp.key_of(user)[0] in hashed_kinds]
        users_of[block] = sorted(living_users, key=lambda user: (user.id_type, user.name))
    return users_of


def pointer_sites(owner: Any, victims: Container[Any]) -> list[tuple[Path, Any]]:
    """Return the path and the datablock of every clearable property inside `owner` that points at one of `victims`."""
    return [(path, value) for path, value in _pointers(owner, (), 0, set()) if value in victims]


def pointees(owner: Any) -> set[Any]:
    """Return the datablocks that `owner` points at."""
    return {value for _, value in _pointers(owner, (), 0, set())}


def pointees_of_item(value: Any) -> set[Any]:
    """Return the datablocks that the value of a custom property points at."""
    return {block for _, block in _in_item(value, ())}


def resolve(owner: Any, path: Path) -> Any:
    """Return the value at a path inside `owner`."""
    value = owner
    for part in path:
        if isinstance(part, (int, Item)):
            value = value[part]
        else:
            value = getattr(value, part)
    return value


def path_to(owner: Any, target: Any) -> Path | None:
    """Return the path of a struct for which Blender knows none, such as `scene.display`; None if it is not found.

    Searches the direct members of `owner` and the Cycles settings of view layers."""
    for slot in _slots_of(owner).rna:
        if slot.is_list or slot.is_runtime or slot.name in DERIVED:
            continue
        value = getattr(owner, slot.name)
        if value is None or isinstance(value, bpy.types.ID):
            continue
        if value == target:
            return (slot.name,)
    for number, layer in enumerate(getattr(owner, "view_layers", ())):
        if getattr(layer, "cycles", None) == target:
            return ("view_layers", number, "cycles")
    return None


def _slots_of(struct: Any) -> Slots:
    cached = _slots.get(struct.__class__)
    if cached is not None:
        return cached

    slots: list[Slot] = []
    for prop in struct.bl_rna.properties:
        if prop.type not in ("POINTER", "COLLECTION") or prop.identifier in DERIVED | ELEMENTS | INTERACTIVE:
            continue
        if not _is_membership(prop):
            slots.append(Slot(prop.identifier, prop.type == "COLLECTION", prop.is_readonly, prop.is_runtime))
    result = _slots[struct.__class__] = Slots(tuple(slots), supports_custom(struct))
    return result


def _is_membership(prop: Any) -> bool:
    """Return True for a list of datablocks such as the objects of a scene. `Membership` handles these lists, which can be long."""
    return prop.type == "COLLECTION" and prop.identifier != MATERIALS and is_block(prop.fixed_type)


def _pointers(struct: Any, path: Path, depth: int, seen: set[StructId]) -> PointerSites:
    # Visit each struct once: the sockets of a node lead back to it, so visiting a node tree would otherwise take seconds.
    struct_id = (struct.as_pointer(), struct.bl_rna.identifier)
    if struct_id in seen:
        return
    seen.add(struct_id)
    slots = _slots_of(struct)
    for slot in slots.rna:
        if slot.is_runtime and not _is_stored(struct, slot.name):
            continue
        value = getattr(struct, slot.name)
        if slot.is_list:
            if depth < MAX_DEPTH:
                yield from _elements(value, (*path, slot.name), depth, seen)
        elif value is None:
            continue
        elif isinstance(value, bpy.types.ID) and not value.is_embedded_data:
            if not slot.is_readonly:
                yield (*path, slot.name), value
        elif depth < MAX_DEPTH and not _points_back(value):
            yield from _pointers(value, (*path, slot.name), depth + 1, seen)
    if slots.custom:
        settings = {slot.name for slot in slots.rna if slot.is_runtime}
        for key in struct.keys():  # noqa: SIM118 - a bpy_struct is no mapping
            if key not in settings:
                yield from _in_item(struct[key], (*path, Item(key)))


def _is_stored(struct: Any, name: str) -> bool:
    """Return True if an add-on's settings are stored. Reading the settings themselves would create them."""
    if hasattr(struct, "bl_system_properties_get"):  # Blender 5.0 and later
        group = struct.bl_system_properties_get()
        return group is not None and name in group
    return name in struct


def _elements(items: Any, path: Path, depth: int, seen: set[StructId]) -> PointerSites:
    for index, item in enumerate(items):
        if item is None:
            continue
        if isinstance(item, bpy.types.ID):
            yield (*path, index), item
        elif index == 0 and _slots_of(item) == ((), False):
            return  # The list contains plain numbers.
        elif not _points_back(item):
            yield from _pointers(item, (*path, index), depth + 1, seen)


def _in_item(value: Any, path: Path) -> PointerSites:
    if isinstance(value, bpy.types.ID):
        yield path, value
    elif hasattr(value, "to_dict"):
        for key in value.keys():  # noqa: SIM118 - a group of properties is no mapping
            yield from _in_item(value[key], (*path, Item(key)))
    elif isinstance(value, list):
        for index, element in enumerate(cast("list[Any]", value)):
            yield from _in_item(element, (*path, index))


def _points_back(value: Any) -> bool:
    """Return True for structs whose pointers lead back to their owner."""
    return isinstance(value, (bpy.types.NodeLink, bpy.types.LayerCollection))
