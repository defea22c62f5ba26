"""Writes the content of datablocks to a file, one line of JSON for each, in the order of their keys."""

import json
from collections.abc import Iterable, Iterator
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
# Kinds that geometry passes on to: from a node group or a mesh to the objects that use it.
_MADE_OF_OTHERS = frozenset({"objects", "meshes", "curves", "node_groups", "shape_keys"})


def write_content(state: SceneState, path: Path, keys: Iterable[fp.Key] | None) -> int:
    """The content of these datablocks, or of all; returns how many were written. Numbers of long lists lie in a file of their own."""
    state.hash_deferred()
    blocks = dict(_all_blocks() if keys is None else _named_blocks(state, keys))
    measures = Measures(state, {}, path.parent)
    with path.open("w", encoding="utf-8") as lines, path.with_suffix(".arrays").open("wb") as numbers:
        arrays = ArrayFile(numbers)
        for key in sorted(blocks):
            structs = _structs(blocks[key], arrays)
            if key[0] == "objects" and (evaluated := measures.of(blocks[key])) is not None:
                structs["evaluated"] = {"type": FREE, "values": evaluated}
            lines.write(json.dumps({"key": [*key], "structs": structs}) + "\n")
    return len(blocks)


def _structs(block: Any, arrays: ArrayFile) -> dict[str, Any]:
    structs = BlockStructs(block, arrays)
    structs.struct("", block)
    read_special(structs, block)
    return structs.structs


def _all_blocks() -> Iterator[tuple[fp.Key, Any]]:
    for kind, block in fp.all_blocks():
        if not is_tombstone(block) and not (kind == "images" and block.type in fp.RENDER_RESULTS):
            yield fp.key_of(block), block


def _named_blocks(state: SceneState, keys: Iterable[fp.Key]) -> Iterator[tuple[fp.Key, Any]]:
    """These, and the objects that are made of them: what becomes of those shows only in their geometry."""
    found = {key: block for key in keys if key[0] in fp.kinds() and (block := state.block(key)) is not None}
    new = [block for (kind, *_), block in found.items() if kind != "objects"]
    while new:
        users = {user for each in referrers(set(new)).values() for user in each}
        new = [user for user in users if fp.key_of(user)[0] in _MADE_OF_OTHERS and fp.key_of(user) not in found]
        found |= {fp.key_of(user): user for user in new if not is_tombstone(user)}
        new = [user for user in new if fp.key_of(user)[0] != "objects"]
    yield from found.items()
