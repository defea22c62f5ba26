from __future__ import annotations

from pydantic import Field

from blendwright.tool_api import Example, Findings, Kind, Scene, Tool
from blendwright.tool_api.arguments import Args, optional
from blendwright.tool_api.mentions import CollectionName, ObjectName
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE
from blendwright.tools.checks import conflict, differs, existing_object, missing_target_collection, target_collection
from blendwright.tools.settings import ObjectChanged

BOX = ("mesh.create_primitive", {"kind": "cube", "name": "Box"})
PROPS = ("collection.create", {"name": "Props"})
BOX_IN_PROPS = ("collection.link_object", {"object": "Box", "collection": "Props"})


class UnlinkObjectArgs(Args):
    object: ObjectName = Field(description="Name of the object.")
    collection: CollectionName | None = optional("Collection to unlink it from. Default: the scene's own collection.")
    allow_unlinked: bool = Field(
        default=False,
        description="Allow to unlink it from its last collection. The object then stays in the file, but is not in "
        "the scene.",
    )


class UnlinkObject(Tool[UnlinkObjectArgs, ObjectChanged]):
    """Unlink an object from a collection without deleting it."""

    name = "collection.unlink_object"
    # An object without users is kept by its fake-user flag.
    promises = SAFE_IDEMPOTENT_WRITE.writes_to(Kind.COLLECTION, Kind.OBJECT).needs("object_write")
    examples = (
        Example({"object": "Box"}, BOX, PROPS, BOX_IN_PROPS),
        Example({"object": "Box", "allow_unlinked": True}, BOX),
    )

    def check(self, scene: Scene, args: UnlinkObjectArgs) -> Findings:
        obj = yield from existing_object(scene, args.object, "/object")
        missing = missing_target_collection(scene, args.collection)
        yield from missing
        if missing or obj is None or args.allow_unlinked:
            return
        if list(scene.collections_of(obj)) == [target_collection(scene, args.collection)]:
            message = f"no other collection contains '{args.object}', so it would disappear from the scene"
            fix = "Link it to another collection first, set allow_unlinked to true, or delete it with object.delete."
            yield conflict(message, "/collection", fix)

    def apply(self, scene: Scene, args: UnlinkObjectArgs) -> ObjectChanged:
        obj = scene.require(Kind.OBJECT, args.object, "/object")
        collection = target_collection(scene, args.collection)
        if not scene.is_in(collection, obj):
            return ObjectChanged(object=args.object, changed=False)
        scene.unlink(collection, obj)
        return ObjectChanged(object=args.object, changed=True)

    def verify(self, scene: Scene, args: UnlinkObjectArgs, result: ObjectChanged) -> Findings:
        linked = target_collection(scene, args.collection).objects.get(args.object) is not None
        yield from differs(f"that the collection holds '{args.object}'", False, linked, "/collection")
