"""Files that a scene refers to and does not hold: which they are, and giving them other paths. Opens none of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import bpy

from blendwright.blender import fingerprint as fp
from blendwright.wire.methods import ExternalPath

# Before Blender 4.4 there is no way to visit all paths; these are what can be had then.
KINDS_WITH_PATH = ("libraries", "images", "fonts", "sounds", "movieclips", "volumes", "cache_files")


def paths() -> list[ExternalPath]:
    """Every path as it stands in the scene, with the datablock that has it. What is packed into the scene is not external."""
    listed: list[ExternalPath] = []

    def visit(block: Any, path: str) -> None:
        if path:
            listed.append({"kind": fp.key_of(block)[0], "name": block.name, "path": path})

    _visit(visit)
    return sorted(listed, key=lambda entry: (entry["path"], entry["kind"], entry["name"]))


def relocate(new_paths: Mapping[str, str]) -> None:
    """Write other paths in place of those that are keys."""
    _visit(lambda block, path: new_paths.get(path))


def _visit(visit: Callable[[Any, str], str | None]) -> None:
    data: Any = bpy.data
    if hasattr(data, "file_path_foreach"):
        # Paths in linked datablocks belong to their library, and are relative to it.
        flags = {"SKIP_PACKED", "SKIP_WEAK_REFERENCES", "SKIP_LINKED"}

        def visit_path(block: Any, path: str, _: object) -> str | None:
            return visit(block, path)

        data.file_path_foreach(visit_path, flags=flags)
        return
    for kind in KINDS_WITH_PATH:
        for block in getattr(data, kind):
            if block.library is None and not getattr(block, "packed_file", None) and block.filepath != "<builtin>":
                other = visit(block, block.filepath)
                if other is not None:
                    block.filepath = other
