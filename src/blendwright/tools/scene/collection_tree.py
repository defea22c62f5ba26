"""Members of collections: the collections as trees, and the collections of many objects in one pass."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from blendwright.tool_api.scene import Block, Kind, Scene
from blendwright.tools.scene.snapshot_model import MAX_IN_LIST, CollectionNode

# Largest nesting of collections, because readers of JSON fail on deep nesting. A deeper collection is listed at the top level
# again, with the name of its parent.
MAX_NESTING = 32


def all_collections(scene: Scene) -> Iterator[tuple[str, Block]]:
    """Yield every collection with its name.

    The active scene's own collection has the name that Blender shows and arguments use. Another scene's own collection, or one
    whose name a collection already has, is called `scene:` and the scene's name.
    """
    for owner in scene.blocks(Kind.SCENE):
        name = f"scene:{owner.name}"
        if owner == scene.active and scene.find(Kind.COLLECTION, owner.collection.name) is None:
            name = owner.collection.name
        yield name, owner.collection
    for collection in scene.blocks(Kind.COLLECTION):
        yield collection.name, collection


def collections_of(scene: Scene, objects: Sequence[Block]) -> dict[str, list[str]]:
    """Return the sorted names of the collections that contain each object, in one pass over all members."""
    names_by_object: dict[str, list[str]] = {obj.name: [] for obj in objects}
    for name, collection in all_collections(scene):
        for member in collection.objects:
            entry = names_by_object.get(member.name)
            if entry is not None and member.library is None:
                entry.append(name)
    for names in names_by_object.values():
        names.sort()
    return names_by_object


@dataclass
class OrderedCollection:
    """A collection in the canonical order. `parent` is the first collection that contains it, `holders` are all of them."""

    name: str
    collection: Block
    holders: list[str] = field(default_factory=lambda: list[str]())
    parent: str | None = None


def collection_order(scene: Scene) -> list[OrderedCollection]:
    """Return each collection once: depth first from each scene's own, then collections outside all scenes, by name."""
    entries = {name: OrderedCollection(name, collection) for name, collection in all_collections(scene)}
    children: dict[str, list[str]] = {}
    for name, entry in entries.items():
        children[name] = [child.name for child in entry.collection.children if child.library is None]
        for child in children[name]:
            entries[child].holders.append(name)
    order: dict[str, None] = {}
    for root in [name for name, entry in entries.items() if not entry.holders]:
        waiting: list[tuple[str, str | None]] = [(root, None)]
        while waiting:
            name, parent = waiting.pop()
            if name not in order:
                order[name] = None
                entries[name].parent = parent
                waiting += [(child, name) for child in reversed(children[name])]
    return [entries[name] for name in order]


def collection_trees(page: Iterable[OrderedCollection]) -> list[CollectionNode]:
    """Return the collections of a page as trees. A collection whose parent is not on the page is at the top."""
    below: dict[str, list[OrderedCollection]] = {}
    depths: dict[str, int] = {}
    tops: list[OrderedCollection] = []
    for entry in page:
        parent = entry.parent
        depth = 0
        if parent is not None:
            depth = depths.get(parent, MAX_NESTING) + 1
        if parent is None or depth > MAX_NESTING:
            tops.append(entry)
            depth = 0
        else:
            below.setdefault(parent, []).append(entry)
        depths[entry.name] = depth
    return [_node(entry, below) for entry in tops]


def _node(entry: OrderedCollection, below: dict[str, list[OrderedCollection]]) -> CollectionNode:
    collection = entry.collection
    return CollectionNode(
        name=entry.name,
        parent=entry.parent,
        also_in=[name for name in entry.holders if name != entry.parent][:MAX_IN_LIST],
        objects=len(collection.objects),
        visible_viewport=not collection.hide_viewport,
        visible_render=not collection.hide_render,
        children=[_node(child, below) for child in below.get(entry.name, ())],
    )
