from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from blendwright.tool_api import Block, Example, Findings, Kind, Scene, Tool
from blendwright.tool_api.arguments import Args, Name, Result, optional
from blendwright.tool_api.mentions import CollectionName, makes
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE
from blendwright.tools.checks import (
    conflict,
    differs,
    is_scene_collection,
    missing_target_collection,
    target_collection,
)

ColorTag = Literal[
    "NONE", "COLOR_01", "COLOR_02", "COLOR_03", "COLOR_04", "COLOR_05", "COLOR_06", "COLOR_07", "COLOR_08"
]


class CreateCollectionArgs(Args):
    name: Annotated[Name, makes(Kind.COLLECTION)] = Field(
        description="Name of the new collection, taken literally; must be free."
    )
    parent: CollectionName | None = optional("Parent collection. Default: the scene's own collection.")
    color_tag: ColorTag = Field(
        default="NONE", description="Colour tag in Blender's outliner (COLOR_01 is red, COLOR_08 is brown)."
    )


class CollectionMade(Result):
    collection: str = Field(description="Name of the collection.")
    created: bool = Field(description="False if an identical collection already existed and nothing was written.")


class CreateCollection(Tool[CreateCollectionArgs, CollectionMade]):
    """Create an empty collection in the scene or in another collection."""

    name = "collection.create"
    promises = SAFE_IDEMPOTENT_WRITE.writes_to(Kind.COLLECTION, Kind.SCENE).needs("object_write")
    examples = (
        Example({"name": "Props"}),
        Example(
            {"name": "Chairs", "parent": "Furniture", "color_tag": "COLOR_05"},
            ("collection.create", {"name": "Furniture"}),
        ),
    )

    def check(self, scene: Scene, args: CreateCollectionArgs) -> Findings:
        if is_scene_collection(scene, args.name):
            fix = "Choose another name; as an argument, this name means the scene's own collection."
            yield conflict(f"'{args.name}' is the scene's own collection", "/name", fix)
        missing = missing_target_collection(scene, args.parent, "/parent")
        yield from missing
        if missing:
            return
        existing = scene.find(Kind.COLLECTION, args.name)
        if existing is None or any(_differences(scene, args, existing)):
            yield from scene.name_conflicts(Kind.COLLECTION, args.name, "/name")
        if existing is not None:
            yield from _differences(scene, args, existing)

    def apply(self, scene: Scene, args: CreateCollectionArgs) -> CollectionMade:
        if scene.find(Kind.COLLECTION, args.name) is not None:
            return CollectionMade(collection=args.name, created=False)
        collection = scene.create(Kind.COLLECTION, args.name)
        collection.color_tag = args.color_tag
        scene.link(target_collection(scene, args.parent), collection)
        return CollectionMade(collection=args.name, created=True)

    def verify(self, scene: Scene, args: CreateCollectionArgs, result: CollectionMade) -> Findings:
        yield from _differences(scene, args, scene.require(Kind.COLLECTION, args.name, "/name"))


def _differences(scene: Scene, args: CreateCollectionArgs, collection: Block) -> Findings:
    inside = target_collection(scene, args.parent).children.get(args.name) == collection
    yield from differs("that it is in its parent", True, inside, "/parent")
    yield from differs("its colour tag", args.color_tag, collection.color_tag, "/color_tag")
