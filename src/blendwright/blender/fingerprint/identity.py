"""Keys of datablocks in the fingerprint, and the kinds of datablock that take part.

This module defines leaf keys and the version label. It must not read any content.
"""

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

import bpy

from blendwright.blender.fingerprint.exclusions import EXCLUDED_KINDS
from blendwright.wire.blender_profile import hash_scheme

Key = tuple[str, ...]

# The first part of a membership's key. Each object in a collection has a leaf with the key (MEMBERSHIP, collection, object).
MEMBERSHIP = "member"
# The prefix of a scene's master collection in such a key. No collection's name contains a null.
MASTER = "scene\0"
# The mark of a linked datablock that Blender 5.0 packs into the file. The same datablock may also be linked without packing.
_PACKED = "packed"

LAYER_FLAGS = ("exclude", "holdout", "indirect_only", "hide_viewport")

_types: Any = bpy.types
_data: Any = bpy.data
_app: Any = bpy.app

_kind_by_class: dict[type, str] = {}


@cache
def label() -> str:
    """Return the version of the method and of Blender. Hashes with different labels are not comparable."""
    return hash_scheme(_app.version)


@cache
def _kind_by_type() -> dict[str, str]:
    properties = _types.BlendData.bl_rna.properties
    return {p.fixed_type.identifier: p.identifier for p in properties if p.type == "COLLECTION"}


@cache
def kinds() -> tuple[str, ...]:
    """Return the collections of bpy.data whose datablocks have leaves."""
    return tuple(kind for kind in _kind_by_type().values() if kind not in EXCLUDED_KINDS)


def all_blocks() -> Iterator[tuple[str, Any]]:
    """Yield every datablock that has a leaf, with its kind."""
    return ((kind, block) for kind in kinds() for block in getattr(_data, kind))


def kind_of(block: Any) -> str:
    """Return the attribute of bpy.data that lists this datablock."""
    cls = block.__class__
    kind = _kind_by_class.get(cls)
    if kind is None:
        rna = block.bl_rna
        while rna.identifier not in _kind_by_type():
            rna = rna.base
        kind = _kind_by_class[cls] = _kind_by_type()[rna.identifier]
    return kind


def key_of(block: Any) -> Key:
    """Return (kind, name), plus the library's path for linked data."""
    library = block.library
    if library is None:
        return (_kind_by_class.get(block.__class__) or kind_of(block), block.name)
    if getattr(block, "is_linked_packed", False):
        return (kind_of(block), block.name, library.filepath, _PACKED)
    return (kind_of(block), block.name, library.filepath)


def optional_key(block: Any) -> Key | None:
    """Return the key of a datablock; None for None."""
    if block is None:
        return None
    return key_of(block)


def block_of(key: Key) -> Any:
    """Return the linked datablock of a key, None when there is none."""
    kind, name, path = key[:3]
    blocks = getattr(_data, kind)
    candidate = blocks.get((name, path))
    # Blender's lookup by path uses the first library with that path, but packed data is in a second one.
    if candidate is not None and key_of(candidate) == key:
        return candidate
    return next((block for block in blocks if block.library is not None and key_of(block) == key), None)


def key_words(key: Key) -> list[str]:
    """Return a key as answers and receipts show it. A scene's master collection becomes `scene:` and the scene's name."""
    if key[0] != MEMBERSHIP:
        return [*key]
    edge, home, *member = key
    return [edge, home.replace("\0", ":"), *member]


class CollectionKey(NamedTuple):
    """A collection as membership keys name it.

    The scene stands for its master collection, because the scene contains that collection.
    """

    name: str
    library: Any
    holder: Any

    def key_of(self, member: Any) -> Key:
        """Return the key of an object's membership in this collection."""
        return _member_key(self.name, self.library, member)


def collection_key(collection: Any) -> CollectionKey:
    """Return the collection's part of membership keys."""
    if collection.is_embedded_data:
        scene = scene_of(collection)
        return CollectionKey(MASTER + scene.name, collection.library, scene)
    return CollectionKey(collection.name, collection.library, collection)


def member_key(collection: Any, member: Any) -> Key:
    """Return the key of an object's membership in a collection."""
    return collection_key(collection).key_of(member)


def member_keys(collection_name: str, collection: Any, skip: Callable[[Any], bool]) -> Iterator[Key]:
    """Yield the membership keys of all objects of a collection, except objects for which `skip` returns True."""
    library = collection.library
    return (_member_key(collection_name, library, member) for member in collection.objects if not skip(member))


def scene_of(collection: Any) -> Any:
    """Return the scene whose master collection this is. Blender has no such pointer, so try the current scene first."""
    current = bpy.context.scene
    if current.collection == collection:
        return current
    return next(scene for scene in _data.scenes if scene.collection == collection)


def layer_collections(layer: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the collections of a view layer, parents before children, each with the names on the path down to it."""
    # Blender 5.2 creates the tree at its first use.
    if layer.layer_collection is None:
        return iter(())
    return _with_children(layer.layer_collection, ())


# At module level, because a recursive inner function is a reference cycle, which only the garbage collector frees.
def _with_children(node: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield path, node
    for child in node.children:
        yield from _with_children(child, (*path, child.name))


def layer_flags(node: Any) -> tuple[bool, ...]:
    """Return the flags that a user can set on a collection in a view layer."""
    return tuple(getattr(node, flag) for flag in LAYER_FLAGS)


def _member_key(collection_name: str, outer: Any, member: Any) -> Key:
    inner = member.library
    if outer is None and inner is None:
        return (MEMBERSHIP, collection_name, member.name)
    outer_path = ""
    if outer:
        outer_path = outer.filepath
    inner_path = ""
    if inner:
        inner_path = inner.filepath
    return (MEMBERSHIP, collection_name, member.name, outer_path, inner_path, *key_of(member)[3:])
