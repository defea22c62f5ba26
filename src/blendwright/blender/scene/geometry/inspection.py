"""Questions of an audit: surfaces and their intersections, unused datablocks, and missing files. This module only reads."""

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
        candidates = _candidates({kind.blocks for kind in kinds})
        if not candidates:
            return []

        hashed_kinds = frozenset(fp.kinds())
        user_map: dict[Any, set[Any]] = bpy.data.user_map(subset=candidates)
        used_by: dict[Any, list[Any]] = {}  # The inverse of `user_map`: the candidates that each user uses.
        reached: list[Any] = []
        for block, users in user_map.items():
            living_users: list[Any] = []
            for user in users:
                if user != block and not is_tombstone(user) and fp.key_of(user)[0] in hashed_kinds:
                    living_users.append(user)
            if block.name in keep or any(user not in candidates for user in living_users):
                reached.append(block)
            for user in living_users:
                used_by.setdefault(user, []).append(block)

        # A datablock counts as used if a used one uses it, so candidates that only use each other are unused.
        unused = candidates - set(reached)
        while reached:
            for block in used_by.get(reached.pop(), ()):
                if block in unused:
                    unused.discard(block)
                    reached.append(block)
        return sorted(unused, key=fp.key_of)

    def missing_files(self) -> Sequence[tuple[str, str, str]]:
        missing: list[tuple[str, str, str]] = []
        for entry in external_files.paths():
            if not _exists(entry["path"]):
                missing.append((entry["kind"], entry["name"], entry["path"]))
        return missing


def _candidates(kinds: set[str]) -> set[Any]:
    """Return the local datablocks of these kinds that may count as unused: no tombstones, assets or render results."""
    candidates: set[Any] = set()
    for kind, block in fp.all_blocks():
        if kind not in kinds or block.library is not None or is_tombstone(block) or block.asset_data is not None:
            continue
        # Blender itself owns the image that shows the last render.
        if kind == Kind.IMAGE.blocks and block.type in fp.RENDER_RESULTS:
            continue
        candidates.add(block)
    return candidates


def _exists(path: str) -> bool:
    # The path of tiles or of a sequence stands for many files and names none of them.
    return "<" in path or Path(bpy.path.abspath(path)).exists()
