from __future__ import annotations

from typing import Annotated

from pydantic import Field

from blendwright.tool_api import Example, Findings, Kind, Scene, Tool
from blendwright.tool_api.arguments import Args, Result, optional
from blendwright.tool_api.mentions import CollectionName, ObjectName
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE
from blendwright.tools.checks import (
    differs,
    existing_objects,
    missing_target_collection,
    required_object,
    target_collection,
)

BOX = ("mesh.create_primitive", {"kind": "cube", "name": "Box"})
BALL = ("mesh.create_primitive", {"kind": "uv_sphere", "name": "Ball"})
PROPS = ("collection.create", {"name": "Props"})


class MoveObjectsArgs(Args):
    objects: Annotated[list[ObjectName], Field(min_length=1, max_length=10_000)] = Field(
        description="Names of the objects."
    )
    collection: CollectionName | None = optional("Collection to move them to. Default: the scene's own collection.")


class ObjectsMoved(Result):
    objects: list[str] = Field(description="Names of the objects.")
    collection: str = Field(description="The only collection that now contains them.")
    changed: bool = Field(description="False if all objects were already only in this collection.")


class MoveObjects(Tool[MoveObjectsArgs, ObjectsMoved]):
    """Move objects to a collection: they are in this collection afterwards, and in no other."""

    name = "collection.move_objects"
    # Linking to the rigid-body collection makes an object a rigid body.
    promises = SAFE_IDEMPOTENT_WRITE.writes_to(Kind.OBJECT, Kind.COLLECTION).needs("object_write")
    examples = (
        Example({"objects": ["Box", "Ball"], "collection": "Props"}, BOX, BALL, PROPS),
        Example({"objects": ["Box"]}, BOX, PROPS, ("collection.link_object", {"object": "Box", "collection": "Props"})),
    )

    def check(self, scene: Scene, args: MoveObjectsArgs) -> Findings:
        yield from existing_objects(scene, args.objects, "/objects")
        yield from missing_target_collection(scene, args.collection)

    def apply(self, scene: Scene, args: MoveObjectsArgs) -> ObjectsMoved:
        target = target_collection(scene, args.collection)
        changed = False
        for index, name in enumerate(args.objects):
            obj = required_object(scene, name, f"/objects/{index}")
            if not scene.is_in(target, obj):
                scene.link(target, obj)
                changed = True
            for collection in list(scene.collections_of(obj)):
                if collection != target:
                    scene.unlink(collection, obj)
                    changed = True
        return ObjectsMoved(objects=args.objects, collection=target.name, changed=changed)

    def verify(self, scene: Scene, args: MoveObjectsArgs, result: ObjectsMoved) -> Findings:
        target = target_collection(scene, args.collection)
        for index, name in enumerate(args.objects):
            homes = list(scene.collections_of(required_object(scene, name, f"/objects/{index}")))
            yield from differs(
                f"that the collection alone holds '{name}'", True, homes == [target], f"/objects/{index}"
            )
