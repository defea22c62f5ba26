"""Assets of .blend files that stay in their file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from blendwright.tool_api import Kind, Scene
from blendwright.tools.asset.added import AssetAdded, Told
from blendwright.tools.asset.placing import MARK, at_asset, free_name, own_words, put_in_place
from blendwright.tools.checks import target_collection

if TYPE_CHECKING:
    from blendwright.tools.asset.add import AddArgs


def link_asset(
    scene: Scene, args: AddArgs, file: Path, contents: Mapping[Kind, Sequence[str]], told: Told
) -> AssetAdded:
    """An empty that shows what stays in its file: the collection, or one of ours that holds nothing but the object."""
    before = len(scene.linked(args.asset))
    with at_asset():
        block, *_ = scene.link_file(str(file), args.asset, contents)
    if len(scene.linked(args.asset)) > before:
        names = [*scene.linked(args.asset)]
    else:
        names = []
    home = block
    if scene.kind_of(block) is Kind.OBJECT:
        mark = f"{args.asset} {block.name} linked"
        there = next((each for each in scene.blocks(Kind.COLLECTION) if each.get(MARK) == mark), None)
        if there is None:
            there = scene.create(
                Kind.COLLECTION, free_name(scene, Kind.COLLECTION, f"{block.name} (asset)", rename=True)
            )
            there.objects.link(block)
            there[MARK] = mark
            names.append((Kind.COLLECTION, there.name))
        home = there
    title = free_name(scene, Kind.OBJECT, block.name, rename=args.on_collision == "rename")
    empty = scene.create(Kind.OBJECT, title, None)
    empty.instance_type, empty.instance_collection = "COLLECTION", home
    scene.link(target_collection(scene, args.collection), empty)
    put_in_place(scene, args, [empty])
    added = told.result([(Kind.OBJECT, title), *names], own=own_words(block))
    return added.model_copy(update={"reused": not names, "library": args.asset, "objects": [title]})
