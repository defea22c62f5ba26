from __future__ import annotations

from pydantic import Field

from blendwright.tool_api import Example, Findings, Kind, Scene, Tool
from blendwright.tool_api.arguments import Args, optional
from blendwright.tool_api.mentions import CollectionName, ObjectName
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE
from blendwright.tools.checks import differs, missing_target_collection, target_collection
from blendwright.tools.settings import ObjectChanged

BOX = ("mesh.create_primitive", {"kind": "cube", "name": "Box"})
PROPS = ("collection.create", {"name": "Props"})


class LinkObjectArgs(Args):
    object: ObjectName = Field(description="Name of the object.")
    collection: CollectionName | None = optional("Collection to link it to. Default: the scene's own collection.")


class LinkObject(Tool[LinkObjectArgs, ObjectChanged]):
    """Link an object to a collection. It stays in its other collections."""

    name = "collection.link_object"
    # Linking to the rigid-body collection makes an object a rigid body.
    promises = SAFE_IDEMPOTENT_WRITE.writes_to(Kind.OBJECT, Kind.COLLECTION).needs("object_write")
    examples = (Example({"object": "Box", "collection": "Props"}, BOX, PROPS),)

    def check(self, scene: Scene, args: LinkObjectArgs) -> Findings:
        yield from scene.missing(Kind.OBJECT, args.object, "/object")
        yield from missing_target_collection(scene, args.collection)

    def apply(self, scene: Scene, args: LinkObjectArgs) -> ObjectChanged:
        obj = scene.require(Kind.OBJECT, args.object, "/object")
        collection = target_collection(scene, args.collection)
        changed = not scene.is_in(collection, obj)
        scene.link(collection, obj)
        return ObjectChanged(object=args.object, changed=changed)

    def verify(self, scene: Scene, args: LinkObjectArgs, result: ObjectChanged) -> Findings:
        linked = target_collection(scene, args.collection).objects.get(args.object) is not None
        yield from differs(f"that the collection holds '{args.object}'", True, linked, "/collection")
