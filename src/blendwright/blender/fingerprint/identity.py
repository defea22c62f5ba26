"""How datablocks are named in the fingerprint, and which kinds take part.

Responsible for: leaf keys, the version label. Must not read any content.
"""

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

import bpy

from blendwright.blender.fingerprint.exclusions import EXCLUDED_KINDS
from blendwright.wire.blender_profile import hash_scheme

Key = tuple[str, ...]

# Membership of an object in a collection is a leaf of its own, under (MEMBERSHIP, collection, object).
MEMBERSHIP = "member"
# How a scene's own collection begins there: no collection's name holds a null.
MASTER = "scene\0"
# Marks what Blender 5.0 linked and keeps in the file: the same may be linked without being kept, from the same library.
_PACKED = "packed"

LAYER_FLAGS = ("exclude", "holdout", "indirect_only", "hide_viewport")

_types: Any = bpy.types
_data: Any = bpy.data
_app: Any = bpy.app

_kind_by_class: dict[type, str] = {}


@cache
def label() -> str:
    """Version of the method and of Blender: hashes with different labels are not comparable."""
    return hash_scheme(_app.version)


@cache
def _kind_by_type() -> dict[str, str]:
    properties = _types.BlendData.bl_rna.properties
    return {p.fixed_type.identifier: p.identifier for p in properties if p.type == "COLLECTION"}


@cache
def kinds() -> tuple[str, ...]:
    """The collections of bpy.data whose datablocks have leaves."""
    return tuple(kind for kind in _kind_by_type().values() if kind not in EXCLUDED_KINDS)


def all_blocks() -> Iterator[tuple[str, Any]]:
    """Every datablock that has a leaf, with its kind."""
    return ((kind, block) for kind in kinds() for block in getattr(_data, kind))


def kind_of(block: Any) -> str:
    """The attribute of bpy.data that lists this datablock."""
    cls = block.__class__
    kind = _kind_by_class.get(cls)
    if kind is None:
        rna = block.bl_rna
        while rna.identifier not in _kind_by_type():
            rna = rna.base
        kind = _kind_by_class[cls] = _kind_by_type()[rna.identifier]
    return kind


def key_of(block: Any) -> Key:
    """(kind, name), and the library's path for linked data."""
    library = block.library
    if library is None:
        return (_kind_by_class.get(block.__class__) or kind_of(block), block.name)
    if getattr(block, "is_linked_packed", False):
        return (kind_of(block), block.name, library.filepath, _PACKED)
    return (kind_of(block), block.name, library.filepath)


def block_of(key: Key) -> Any:
    """The linked datablock of a key, None when there is none."""
    kind, name, path = key[:3]
    blocks = getattr(_data, kind)
    candidate = blocks.get((name, path))
    # Blender's own lookup by path takes the first library that has it, and packed data is in a second one.
    if candidate is not None and key_of(candidate) == key:
        return candidate
    return next((block for block in blocks if block.library is not None and key_of(block) == key), None)


def key_words(key: Key) -> list[str]:
    """A key as answers and receipts show it: a scene's own collection is `scene:` and the scene's name there."""
    if key[0] != MEMBERSHIP:
        return [*key]
    edge, home, *member = key
    return [edge, home.replace("\0", ":"), *member]


class CollectionKey(NamedTuple):
    """A collection as its memberships are hashed with it; a scene's own goes by the scene, which holds it."""

    name: str
    library: Any
    holder: Any

    def key_of(self, member: Any) -> Key:
        """The key of an object's place here."""
        return _member_key(self.name, self.library, member)


def collection_key(collection: Any) -> CollectionKey:
    if collection.is_embedded_data:
        scene = scene_of(collection)
        return CollectionKey(MASTER + scene.name, collection.library, scene)
    return CollectionKey(collection.name, collection.library, collection)


def member_key(collection: Any, member: Any) -> Key:
    """The key of an object's place in a collection."""
    return collection_key(collection).key_of(member)


def member_keys(collection_name: str, collection: Any, skip: Callable[[Any], bool]) -> Iterator[Key]:
    """The keys of all objects of a collection, without those that `skip` names."""
    library = collection.library
    return (_member_key(collection_name, library, member) for member in collection.objects if not skip(member))


def scene_of(collection: Any) -> Any:
    """The scene whose own collection this is; Blender does not say, but it is nearly always the current one's."""
    current = bpy.context.scene
    if current.collection == collection:
        return current
    return next(scene for scene in _data.scenes if scene.collection == collection)


def layer_collections(layer: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The collections of a view layer, parents before children, each with the names on the way down."""
    # Blender 5.2 makes the tree when it is needed for the first time.
    if layer.layer_collection is None:
        return iter(())
    return _with_children(layer.layer_collection, ())


# Not inside the function above: one that calls itself by a name around it is a cycle, which only the collector frees.
def _with_children(node: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield path, node
    for child in node.children:
        yield from _with_children(child, (*path, child.name))


def layer_flags(node: Any) -> tuple[bool, ...]:
    """What can be set on a collection in a view layer."""
    return tuple(getattr(node, flag) for flag in LAYER_FLAGS)


def _member_key(collection_name: str, outer: Any, member: Any) -> Key:
    inner = member.library
    if outer is None and inner is None:
        return (MEMBERSHIP, collection_name, member.name)
    libraries = (outer.filepath if outer else "", inner.filepath if inner else "")
    return (MEMBERSHIP, collection_name, member.name, *libraries, *key_of(member)[3:])
