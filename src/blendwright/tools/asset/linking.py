"""Linking of assets, whose data stays in their .blend files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from blendwright.tool_api import Kind, Scene
from blendwright.tools.asset.added import AssetAdded, AssetFacts
from blendwright.tools.asset.placing import MARK, at_asset, free_name, marked_collection, own_words, put_in_place
from blendwright.tools.checks import target_collection

if TYPE_CHECKING:
    from blendwright.tools.asset.add import AddArgs


def link_asset(
    scene: Scene, args: AddArgs, file: Path, contents: Mapping[Kind, Sequence[str]], facts: AssetFacts
) -> AssetAdded:
    """Add an empty that instances the linked collection. A linked object first gets a new collection that contains only
    this object.
    """
    before = len(scene.linked(args.asset))
    with at_asset():
        block, *_ = scene.link_file(str(file), args.asset, contents)
    names: list[tuple[Kind, str]] = []
    if len(scene.linked(args.asset)) > before:
        names = [*scene.linked(args.asset)]
    home = block
    if scene.kind_of(block) is Kind.OBJECT:
        mark = f"{args.asset} {block.name} linked"
        collection = marked_collection(scene, mark)
        if collection is None:
            collection = scene.create(
                Kind.COLLECTION, free_name(scene, Kind.COLLECTION, f"{block.name} (asset)", rename=True)
            )
            collection.objects.link(block)
            collection[MARK] = mark
            names.append((Kind.COLLECTION, collection.name))
        home = collection
    title = free_name(scene, Kind.OBJECT, block.name, rename=args.on_collision == "rename")
    empty = scene.create(Kind.OBJECT, title, None)
    empty.instance_type, empty.instance_collection = "COLLECTION", home
    scene.link(target_collection(scene, args.collection), empty)
    put_in_place(scene, args, [empty])
    added = facts.result([(Kind.OBJECT, title), *names], own=own_words(block))
    return added.model_copy(update={"reused": not names, "library": args.asset, "objects": [title]})
