"""Who points at whom, and where exactly: what a reversible deletion has to clear, and what it may leave without users.

Responsible for: finding every pointer to a datablock inside another one, in RNA properties and in custom properties.
Must not write, and must not read add-on settings that are not stored: reading would create them.
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
# Where a struct lies in memory, and as what: the first member of a struct has the address of the whole.
StructId = tuple[int, str]
PointerSites = Iterator[tuple[Path, Any]]

# A property path this long is a loop through Blender's own back pointers.
DEEPEST = 8
# Pointers that are derived from others: they follow by themselves.
DERIVED = frozenset({"rna_type", "id_data", "original", "active_material", "active_object", "depsgraph"})
# Settings of interactive tools are no part of a scene, and Blender 4.2 crashes when a brush slot of uv_sculpt is read.
INTERACTIVE = frozenset({"tool_settings"})
# The materials of a mesh or curve are cleared in place, so that indices keep their meaning.
MATERIALS = "materials"
# Elements without datablock pointers, by the million: not worth a visit.
ELEMENTS = frozenset(
    {
        "vertices", "edges", "loops", "polygons", "loop_triangles", "loop_triangle_polygons", "skin_vertices",
        "vertex_normals", "polygon_normals", "corner_normals", "attributes", "color_attributes", "vertex_colors", "uv_layers",
        # By looking at the selections and pins of a UV map, Blender 4.5 and older would make them.
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
    """The properties of one type that may lead to datablocks, and whether it can have custom ones."""

    rna: tuple[Slot, ...]
    custom: bool


# By class: Blender 5.2 makes types of node groups, all with the same names, and drops them again.
_slots: WeakKeyDictionary[type, Slots] = WeakKeyDictionary()


def referrers(blocks: set[Any]) -> dict[Any, list[Any]]:
    """For each datablock, the living ones that refer to it, by name, so that the order is the same everywhere.

    Those that only show it (windows, screens) are not counted: they follow by themselves."""
    user_map: dict[Any, set[Any]] = bpy.data.user_map(subset=blocks)
    hashed = fp.kinds()
    return {
        block: sorted(
            (user for user in users if not is_tombstone(user) and fp.key_of(user)[0] in hashed),
            key=lambda user: (user.id_type, user.name),
        )
        for block, users in user_map.items()
    }


def pointer_sites(owner: Any, victims: Container[Any]) -> list[tuple[Path, Any]]:
    """The paths inside `owner` of every property that points at one of `victims` and can be cleared, and at which."""
    return [(path, value) for path, value in _pointers(owner, (), 0, set()) if value in victims]


def pointees(owner: Any) -> set[Any]:
    """The datablocks that `owner` points at."""
    return {value for _, value in _pointers(owner, (), 0, set())}


def pointees_of_item(value: Any) -> set[Any]:
    """The datablocks that a custom property points at."""
    return {block for _, block in _in_item(value, ())}


def resolve(owner: Any, path: Path) -> Any:
    value = owner
    for part in path:
        if isinstance(part, (int, Item)):
            value = value[part]
        else:
            value = getattr(value, part)
    return value


def path_to(owner: Any, target: Any) -> Path | None:
    """The path of a struct for which Blender itself gives none (`scene.display`), through single structs only."""
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
    if cached is None:
        rna = struct.bl_rna
        leading = [prop for prop in rna.properties if prop.type in ("POINTER", "COLLECTION")]
        slots = [
            Slot(prop.identifier, prop.type == "COLLECTION", prop.is_readonly, prop.is_runtime)
            for prop in leading
            if prop.identifier not in DERIVED | ELEMENTS | INTERACTIVE and not _is_membership(prop)
        ]
        cached = _slots[struct.__class__] = Slots(tuple(slots), supports_custom(struct))
    return cached


def _is_membership(prop: Any) -> bool:
    """Lists of datablocks, such as the objects of a scene, have their own way of being cleared, and can be long."""
    return prop.type == "COLLECTION" and prop.identifier != MATERIALS and is_block(prop.fixed_type)


def _pointers(struct: Any, path: Path, depth: int, seen: set[StructId]) -> PointerSites:
    # A struct is visited once: the sockets of a node lead back to it, and a tree of nodes would be walked for seconds.
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
            if depth < DEEPEST:
                yield from _elements(value, (*path, slot.name), depth, seen)
        elif value is None:
            continue
        elif isinstance(value, bpy.types.ID) and not value.is_embedded_data:
            if not slot.is_readonly:
                yield (*path, slot.name), value
        elif depth < DEEPEST and not _points_back(value):
            yield from _pointers(value, (*path, slot.name), depth + 1, seen)
    if slots.custom:
        settings = {slot.name for slot in slots.rna if slot.is_runtime}
        for key in struct.keys():  # noqa: SIM118 - a bpy_struct is no mapping
            if key not in settings:
                yield from _in_item(struct[key], (*path, Item(key)))


def _is_stored(struct: Any, name: str) -> bool:
    """Whether an add-on's settings are there; asking for them would make them."""
    if hasattr(struct, "bl_system_properties_get"):  # from Blender 5.0 on
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
            return  # plain numbers
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
    """Structures whose pointers lead back to where one came from."""
    return isinstance(value, (bpy.types.NodeLink, bpy.types.LayerCollection))
