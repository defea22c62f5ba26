"""Tool object.instance_collection"""

from __future__ import annotations

from pydantic import Field

from blendwright.tool_api.arguments import PositiveFloat
from blendwright.tool_api.mentions import CollectionName
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE
from blendwright.tool_api.scene import Block, Kind, Scene
from blendwright.tool_api.tool import Example, Findings
from blendwright.tools.checks import conflict, existing, is_scene_collection
from blendwright.tools.object_creation import CreatesObject, ObjectPlacement
from blendwright.tools.settings import Setting, Settings

TREE = ("collection.create", {"name": "Tree"})
TRUNK = ("mesh.create_primitive", {"kind": "cylinder", "name": "Trunk", "collection": "Tree"})


class InstanceCollectionArgs(ObjectPlacement):
    instance_of: CollectionName = Field(description="Collection that the empty shows.")
    display_size: PositiveFloat = Field(default=1.0, description="Size of the empty's drawing in metres.")


class InstanceCollection(CreatesObject[InstanceCollectionArgs]):
    """Add an empty that shows a whole collection again: an instance, moved as one object.

    The instance follows every change of the collection.
    """

    name = "object.instance_collection"
    promises = SAFE_IDEMPOTENT_WRITE.writes_to(Kind.OBJECT, Kind.COLLECTION).needs("object_write")
    examples = (
        Example({"name": "Second tree", "instance_of": "Tree", "location": [5, 0, 0], "scale": [2, 2, 2]}, TREE, TRUNK),
    )

    object_type = "EMPTY"

    def problems(self, scene: Scene, args: InstanceCollectionArgs) -> Findings:
        shown = yield from existing(scene, Kind.COLLECTION, args.instance_of, "/instance_of")
        if shown is None or args.collection is None or is_scene_collection(scene, args.collection):
            return
        home = scene.find(Kind.COLLECTION, args.collection)
        if home is not None and _shows(shown, home, set()):
            message = f"the empty would be in '{args.collection}', which is part of the collection that it shows"
            yield conflict(message, "/collection", "Put it into a collection outside the one that it shows.")

    def settings(self, scene: Scene, args: InstanceCollectionArgs, target: Block) -> Settings:
        yield Setting(target, "instance_type", "COLLECTION", "/instance_of")
        shown = scene.require(Kind.COLLECTION, args.instance_of, "/instance_of")
        yield Setting(target, "instance_collection", shown, "/instance_of")
        yield Setting(target, "empty_display_size", args.display_size, "/display_size")


def _shows(shown: Block, home: Block, seen: set[Block]) -> bool:
    """Return True if showing a collection shows `home` too: as itself, as a part, or through an instance in it."""
    if shown == home:
        return True
    if shown in seen:
        return False
    seen.add(shown)
    parts = list(shown.children)
    parts += [obj.instance_collection for obj in shown.objects if obj.instance_type == "COLLECTION"]
    return any(_shows(part, home, seen) for part in parts if part is not None)
