from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from blendwright.tool_api import Args, Block, Example, Findings, Kind, Name, Scene
from blendwright.tool_api.mentions import removes
from blendwright.tool_api.promises import DESTRUCTIVE_WRITE
from blendwright.tools.checks import conflict, differs, existing, is_scene_collection
from blendwright.tools.deletion import DELETION_WRITES, Deletes, Removed, delete_objects
from blendwright.tools.world_space import unparent_conflicts

PROPS = ("collection.create", {"name": "Props"})
BOX = ("mesh.create_primitive", {"kind": "cube", "name": "Box", "collection": "Props"})


class DeleteCollectionArgs(Args):
    name: Annotated[Name, removes(Kind.COLLECTION)] = Field(description="Name of the collection to delete.")
    objects: Literal["keep", "delete"] = Field(
        default="keep",
        description="keep: its objects move to the parent collection. delete: objects that are in no other "
        "collection are deleted, with data and actions that have no other users.",
    )


class CollectionDeleted(Removed):
    moved: list[str] = Field(
        description="Names of the objects and collections that moved to the parent collection, as kind/name."
    )


class DeleteCollection(Deletes[DeleteCollectionArgs, CollectionDeleted]):
    """Delete a collection. Its child collections move to its parent collection; so do its objects, unless `objects` is
    delete.
    """

    name = "collection.delete"
    promises = DESTRUCTIVE_WRITE.writes_to(*DELETION_WRITES).needs("object_write")
    examples = (
        Example({"name": "Props"}, PROPS, BOX),
        Example({"name": "Props", "objects": "delete"}, PROPS, BOX),
    )

    def check(self, scene: Scene, args: DeleteCollectionArgs) -> Findings:
        if is_scene_collection(scene, args.name):
            fix = "Name a collection inside it, or delete its objects with object.delete."
            yield conflict("the scene's own collection cannot be deleted", "/name", fix)
            return
        collection = yield from existing(scene, Kind.COLLECTION, args.name, "/name")
        if collection is not None and args.objects == "delete":
            yield from unparent_conflicts(scene, _victims(scene, collection), "/objects")

    def apply(self, scene: Scene, args: DeleteCollectionArgs) -> CollectionDeleted:
        collection = scene.require(Kind.COLLECTION, args.name, "/name")
        parents = _parents(scene, collection) or [scene.active.collection]
        members = sorted(collection.objects, key=lambda obj: obj.name)
        children = list(collection.children)
        removed: list[str] = []
        moved = [f"collections/{child.name}" for child in children]
        if args.objects == "keep":
            moved += [f"objects/{obj.name}" for obj in members]
            _move(scene, members, collection, parents)
        else:
            removed = delete_objects(scene, _victims(scene, collection), "/objects", keep_data=False)
            _move(scene, [obj for obj in members if scene.is_in(collection, obj)], collection, [])
        _move(scene, children, collection, parents)
        scene.remove(collection)
        return CollectionDeleted(removed=[f"collections/{args.name}", *removed], moved=moved)

    def verify(self, scene: Scene, args: DeleteCollectionArgs, result: CollectionDeleted) -> Findings:
        yield from super().verify(scene, args, result)
        for entry in result.moved:
            kind, name = entry.split("/", 1)
            block = scene.require(Kind(kind), name)
            if kind == "objects":
                linked = bool(scene.collections_of(block))
            else:
                linked = bool(_parents(scene, block))
            yield from differs(f"that a collection holds '{name}'", True, linked, "/objects")


def _parents(scene: Scene, collection: Block) -> list[Block]:
    """Return the collections that contain a collection, including the own collections of scenes."""
    candidates = [owner.collection for owner in scene.blocks(Kind.SCENE)] + list(scene.blocks(Kind.COLLECTION))
    return [parent for parent in candidates if parent.children.get(collection.name) == collection]


def _victims(scene: Scene, collection: Block) -> list[Block]:
    """Return the objects that are in no other collection, sorted by name."""
    exclusive = [obj for obj in collection.objects if all(home == collection for home in scene.collections_of(obj))]
    return sorted(exclusive, key=lambda obj: obj.name)


def _move(scene: Scene, members: list[Block], source: Block, targets: list[Block]) -> None:
    for member in members:
        for target in targets:
            scene.link(target, member)
        scene.unlink(source, member)
