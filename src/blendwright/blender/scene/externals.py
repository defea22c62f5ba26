"""Files that a scene refers to and does not hold: which they are, and giving them other paths. Opens none of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import bpy

from blendwright.blender import fingerprint as fp

# Before Blender 4.4 there is no way to visit all paths; these are what can be had then.
WITH_PATH = ("libraries", "images", "fonts", "sounds", "movieclips", "volumes", "cache_files")


def paths() -> list[dict[str, str]]:
    """Every path as it stands in the scene, with the datablock that has it. What is packed into the scene is not external."""
    found: list[dict[str, str]] = []

    def visit(block: Any, path: str) -> None:
        if path:
            found.append({"kind": fp.key_of(block)[0], "name": block.name, "path": path})

    _visit(visit)
    return sorted(found, key=lambda entry: (entry["path"], entry["kind"], entry["name"]))


def resettle(places: Mapping[str, str]) -> None:
    """Write other paths in place of those that are named."""
    _visit(lambda block, path: places.get(path))


def _visit(visit: Callable[[Any, str], str | None]) -> None:
    data: Any = bpy.data
    if hasattr(data, "file_path_foreach"):
        # Paths in linked datablocks belong to their library, and are relative to it.
        flags = {"SKIP_PACKED", "SKIP_WEAK_REFERENCES", "SKIP_LINKED"}

        def found(block: Any, path: str, meaningless: object) -> str | None:
            return visit(block, path)

        data.file_path_foreach(found, flags=flags)
        return
    for kind in WITH_PATH:
        for block in getattr(data, kind):
            if block.library is None and not getattr(block, "packed_file", None) and block.filepath != "<builtin>":
                other = visit(block, block.filepath)
                if other is not None:
                    block.filepath = other
