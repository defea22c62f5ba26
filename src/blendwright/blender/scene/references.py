"""Who points at whom, and where exactly: what a reversible deletion has to clear, and what it may leave without users."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import bpy

from blendwright.blender.scene.state import is_buried

Path = tuple[str | int, ...]
# Where a struct lies in memory, and as what: the first member of a struct has the address of the whole.
Place = tuple[int, str]

# A property path this long is a loop through Blender's own back pointers.
DEEPEST = 8
# Pointers that are derived from others: they follow by themselves.
DERIVED = frozenset({"rna_type", "id_data", "original", "active_material", "active_object", "depsgraph"})
# Elements without datablock pointers, by the million: not worth a visit.
ELEMENTS = frozenset(
    {"vertices", "edges", "loops", "polygons", "attributes", "loop_triangles", "points", "keyframe_points"}
)


def referrers(blocks: set[Any]) -> dict[Any, list[Any]]:
    """For each datablock, the living ones that refer to it, by name, so that the order is the same everywhere."""
    found: dict[Any, set[Any]] = bpy.data.user_map(subset=blocks)
    return {
        block: sorted((user for user in users if not is_buried(user)), key=lambda user: (user.id_type, user.name))
        for block, users in found.items()
    }


def pointer_sites(owner: Any, victim: Any) -> list[Path]:
    """The paths inside `owner` of every property that points at `victim` and can be cleared."""
    return [path for path, value in _pointers(owner, (), 0, set()) if value == victim]


def pointees(owner: Any) -> set[Any]:
    """The datablocks that `owner` points at."""
    return {value for _, value in _pointers(owner, (), 0, set())}


def resolve(owner: Any, path: Path) -> Any:
    found = owner
    for part in path:
        found = found[part] if isinstance(part, int) else getattr(found, part)
    return found


def _pointers(struct: Any, path: Path, depth: int, seen: set[Place]) -> Iterator[tuple[Path, Any]]:
    # A struct is visited once: the sockets of a node lead back to it, and a tree of nodes would be walked for seconds.
    place = (struct.as_pointer(), struct.bl_rna.identifier)
    if place in seen:
        return
    seen.add(place)
    for prop in struct.bl_rna.properties:
        name = prop.identifier
        if name in DERIVED or name in ELEMENTS:
            continue
        if prop.type == "POINTER":
            value = getattr(struct, name)
            if value is None:
                continue
            if isinstance(value, bpy.types.ID) and not value.is_embedded_data:
                if not prop.is_readonly:
                    yield (*path, name), value
            elif depth < DEEPEST and not _points_back(value):
                yield from _pointers(value, (*path, name), depth + 1, seen)
        elif prop.type == "COLLECTION" and depth < DEEPEST:
            yield from _items(getattr(struct, name), (*path, name), depth, seen)


def _items(items: Any, path: Path, depth: int, seen: set[Place]) -> Iterator[tuple[Path, Any]]:
    for index, item in enumerate(items):
        if item is None:
            continue
        if isinstance(item, bpy.types.ID):
            # The materials of a mesh or curve are cleared in place, so that indices keep their meaning. Other lists of
            # datablocks (the objects of a collection) are memberships, which have their own way.
            if path[-1] == "materials":
                yield (*path, index), item
        elif not _points_back(item):
            yield from _pointers(item, (*path, index), depth + 1, seen)


def _points_back(value: Any) -> bool:
    """Structures whose pointers lead back to where one came from."""
    return isinstance(value, (bpy.types.NodeLink, bpy.types.LayerCollection))
