"""Which collection holds what: the collections as trees, and the collections of many objects at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from blendwright.tool_api.scene import Block, Kind, Scene
from blendwright.tools.scene.snapshot_model import MOST_IN_LIST, CollectionNode

# Readers of JSON give up on deep nesting; what lies deeper stands at the top again, with the name of its parent.
MOST_NESTED = 32


def all_collections(scene: Scene) -> Iterator[tuple[str, Block]]:
    """Every collection with its name. The own collection of the scene that tools work in is called as arguments call it and as
    Blender shows it; that of another scene, or where a collection has that name, goes by the scene's name."""
    for owner in scene.blocks(Kind.SCENE):
        own = owner == scene.active and scene.find(Kind.COLLECTION, owner.collection.name) is None
        yield owner.collection.name if own else f"scene:{owner.name}", owner.collection
    for collection in scene.blocks(Kind.COLLECTION):
        yield collection.name, collection


def collections_of(scene: Scene, objects: Sequence[Block]) -> dict[str, list[str]]:
    """The names of the collections that hold each of some objects, sorted. One pass over all members, whatever their number."""
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
    """A collection in the canonical order; the parent is the one under which it is met first."""

    name: str
    collection: Block
    holders: list[str] = field(default_factory=lambda: list[str]())
    parent: str | None = None


def collection_order(scene: Scene) -> list[OrderedCollection]:
    """All collections, each once: depth first from each scene's own, then those that no scene holds, by name."""
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
    """The collections of a page as trees, as far as parents are on the page."""
    below: dict[str, list[OrderedCollection]] = {}
    depths: dict[str, int] = {}
    tops: list[OrderedCollection] = []
    for entry in page:
        parent = entry.parent
        if parent is not None:
            depth = depths.get(parent, MOST_NESTED) + 1
        else:
            depth = 0
        if parent is None or depth > MOST_NESTED:
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
        also_in=[name for name in entry.holders if name != entry.parent][:MOST_IN_LIST],
        objects=len(collection.objects),
        visible_viewport=not collection.hide_viewport,
        visible_render=not collection.hide_render,
        children=[_node(child, below) for child in below.get(entry.name, ())],
    )
