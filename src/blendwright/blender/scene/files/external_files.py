"""Paths of external files that a scene refers to: listing and replacing them. This module opens no file.

It uses Blender's own list, which holds the files that Blender reads when it opens a scene. `path_properties.py` finds all other paths.
"""

import posixpath
from collections.abc import Callable, Mapping
from typing import Any

import bpy

from blendwright.blender import fingerprint as fp
from blendwright.wire.methods import ExternalPath

# Blender before 4.4 cannot visit all paths; there, only the datablocks of these kinds are visited.
KINDS_WITH_PATH = ("libraries", "images", "fonts", "sounds", "movieclips", "volumes", "cache_files")


def paths() -> list[ExternalPath]:
    """Return every external path as written in the scene, with the kind and name of its datablock, sorted by path.

    Files that are packed into the scene are not external."""
    entries: list[ExternalPath] = []

    def note(block: Any, path: str) -> None:
        if path:
            entries.append({"kind": fp.key_of(block)[0], "name": block.name, "path": path})

    visit(note)
    return sorted(entries, key=lambda entry: (entry["path"], entry["kind"], entry["name"]))


def relocate(new_paths: Mapping[str, str]) -> None:
    """Replace each path that is a key of `new_paths` by its value."""
    visit(lambda block, path: new_paths.get(path))


def rebase(home: str) -> bool:
    """Normalize the paths of a scene file that was copied from the directory `home`, and return True if any changed.

    Paths below `home` become relative, all others absolute, as the hash of the original has them. A relative path that leads out of
    `home` would otherwise point elsewhere from the location of the copy."""
    changed: list[str] = []

    def rebased(block: Any, path: str) -> str | None:
        if path.startswith("//"):
            absolute = posixpath.normpath(posixpath.join(home, path[2:].replace("\\", "/")))
        else:
            absolute = path
        if absolute.startswith(f"{home}/"):
            new_path = f"//{absolute[len(home) + 1 :]}"
        else:
            new_path = absolute
        if not home or not path or new_path == path:
            return None
        changed.append(new_path)
        return new_path

    visit(rebased, packed=True)
    scenes: Any = bpy.data.scenes
    for scene in scenes:
        # Blender's list contains the files that it reads, but not the render output.
        scene.render.filepath = rebased(scene, scene.render.filepath) or scene.render.filepath
    return bool(changed)


def visit(change: Callable[[Any, str], str | None], *, packed: bool = False) -> None:
    """Call `change(datablock, path)` for every path in local datablocks, and replace the path unless the result is None.

    `packed` includes the paths of files that are packed into the scene."""
    data: Any = bpy.data
    if hasattr(data, "file_path_foreach"):
        # Paths in linked datablocks belong to their library, and are relative to it.
        flags = {"SKIP_WEAK_REFERENCES", "SKIP_LINKED"}
        if not packed:
            flags.add("SKIP_PACKED")

        def visit_path(block: Any, path: str, _: object) -> str | None:
            return change(block, path)

        data.file_path_foreach(visit_path, flags=flags)
        return

    for kind in KINDS_WITH_PATH:
        for block in getattr(data, kind):
            is_packed = getattr(block, "packed_file", None) is not None
            if block.library is None and (packed or not is_packed) and block.filepath != "<builtin>":
                new_path = change(block, block.filepath)
                if new_path is not None:
                    block.filepath = new_path
