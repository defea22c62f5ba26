"""What an audit asks of Blender: surfaces and where they meet, datablocks that nothing uses, files that are not there. Reads only."""

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

import bpy

from blendwright.blender import fingerprint as fp
from blendwright.blender.scene.files import external_files
from blendwright.blender.scene.geometry.surfaces import BpySurfaces
from blendwright.blender.scene.reader import SceneReader
from blendwright.blender.scene.state import is_tombstone
from blendwright.tool_api.scene import Kind


class Inspection(SceneReader):
    """The part of the Scene port that an audit uses."""

    def surfaces(self, objects: Iterable[Any]) -> BpySurfaces:
        return BpySurfaces(self, objects)

    def unused(self, kinds: Collection[Kind], keep: Collection[str] = ()) -> Sequence[Any]:
        wanted = {kind.blocks for kind in kinds}
        candidates = {
            block
            for kind, block in fp.all_blocks()
            if kind in wanted
            and block.library is None
            and not is_tombstone(block)
            and block.asset_data is None
            # What was rendered last is Blender's own.
            and not (kind == Kind.IMAGE.blocks and block.type in fp.RENDER_RESULTS)
        }
        if not candidates:
            return []
        hashed = frozenset(fp.kinds())
        user_map: dict[Any, set[Any]] = bpy.data.user_map(subset=candidates)
        used_by: dict[Any, list[Any]] = {}  # the other way round: what each of them uses
        reached: list[Any] = []
        for block, users in user_map.items():
            living = [user for user in users if user != block and not is_tombstone(user)]
            living = [user for user in living if fp.key_of(user)[0] in hashed]
            if block.name in keep or any(user not in candidates for user in living):
                reached.append(block)
            for user in living:
                used_by.setdefault(user, []).append(block)
        # What is used by something that is used is used: the rest goes, also where it only holds itself.
        unused = set(candidates) - set(reached)
        while reached:
            for block in used_by.get(reached.pop(), ()):
                if block in unused:
                    unused.discard(block)
                    reached.append(block)
        return sorted(unused, key=fp.key_of)

    def missing_files(self) -> Sequence[tuple[str, str, str]]:
        return [
            (entry["kind"], entry["name"], entry["path"])
            for entry in external_files.paths()
            if not _is_there(entry["path"])
        ]


def _is_there(path: str) -> bool:
    # Tiles and frames of a sequence are many files, of which the path names none.
    return "<" in path or Path(bpy.path.abspath(path)).exists()
