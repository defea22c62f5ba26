"""A listing of datablocks' content in a file, one line of JSON for each, in the order of their keys."""

import json
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import bpy

from blendwright.blender import fingerprint as fp
from blendwright.blender.content.arrays import ArrayFile
from blendwright.blender.content.evaluated import Measures
from blendwright.blender.content.special_content import read_special
from blendwright.blender.content.structs import FREE, BlockStructs
from blendwright.blender.scene.state import SceneState, is_tombstone
from blendwright.blender.scene.tracking.references import referrers

_data: Any = bpy.data
# Kinds whose content depends on datablocks that they use, such as an object on its mesh or a mesh on its shape keys.
_DEPENDENT_KINDS = frozenset({"objects", "meshes", "curves", "node_groups", "shape_keys"})


def write_content(state: SceneState, path: Path, keys: Iterable[fp.Key] | None) -> int:
    """Write the content of these datablocks, or of all, and return their number.

    Long lists of numbers go into a second file with the suffix `.arrays`.
    """
    state.hash_deferred()
    if keys is None:
        blocks = dict(_all_blocks())
    else:
        blocks = dict(_named_blocks(state, keys))
    measures = Measures(state, {}, path.parent)
    with path.open("w", encoding="utf-8") as lines, path.with_suffix(".arrays").open("wb") as numbers:
        arrays = ArrayFile(numbers)
        for key in sorted(blocks):
            structs = _structs(blocks[key], arrays)
            if key[0] == "objects":
                evaluated = measures.of(blocks[key])
                if evaluated is not None:
                    structs["evaluated"] = {"type": FREE, "values": evaluated}
            lines.write(json.dumps({"key": [*key], "structs": structs}) + "\n")
    return len(blocks)


def _structs(block: Any, arrays: ArrayFile) -> dict[str, Any]:
    """Return the structs of one datablock by path."""
    structs = BlockStructs(block, arrays)
    structs.struct("", block)
    read_special(structs, block)
    return structs.structs


def _all_blocks() -> Iterator[tuple[fp.Key, Any]]:
    """Yield all datablocks with their keys, except render results and deleted ones."""
    for kind, block in fp.all_blocks():
        if not is_tombstone(block) and not (kind == "images" and block.type in fp.RENDER_RESULTS):
            yield fp.key_of(block), block


def _named_blocks(state: SceneState, keys: Iterable[fp.Key]) -> Iterator[tuple[fp.Key, Any]]:
    """Yield these datablocks and the objects that use them, because changes may show only in the objects' geometry."""
    blocks: dict[fp.Key, Any] = {}
    for key in keys:
        block = None
        if key[0] in fp.kinds():
            block = state.block(key)
        if block is not None:
            blocks[key] = block

    pending: list[Any] = [block for key, block in blocks.items() if key[0] != "objects"]
    while pending:
        users = set(chain.from_iterable(referrers(set(pending)).values()))
        pending = []
        for user in users:
            key = fp.key_of(user)
            if key[0] not in _DEPENDENT_KINDS or key in blocks:
                continue
            if not is_tombstone(user):
                blocks[key] = user
            if key[0] != "objects":
                pending.append(user)
    yield from blocks.items()
