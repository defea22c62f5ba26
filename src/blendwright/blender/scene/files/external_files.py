"""Files that a scene names and does not hold: which they are, and giving them other paths. Opens none of them.

By Blender's own list, which has what it reads when it opens a file. What else has a path is in `path_properties.py`.
"""

import posixpath
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

    def note(block: Any, path: str) -> None:
        if path:
            listed.append({"kind": fp.key_of(block)[0], "name": block.name, "path": path})

    visit(note)
    return sorted(listed, key=lambda entry: (entry["path"], entry["kind"], entry["name"]))


def relocate(new_paths: Mapping[str, str]) -> None:
    """Write other paths in place of those that are keys."""
    visit(lambda block, path: new_paths.get(path))


def rebase(home: str) -> bool:
    """Write paths of a file that was copied from the directory `home` as that one's hash has them: relative below it, absolute elsewhere.
    From where the copy lies, a path that leads up would lead elsewhere. Says whether any was changed."""
    changed: list[str] = []

    def rebased(block: Any, path: str) -> str | None:
        if path.startswith("//"):
            absolute = posixpath.normpath(posixpath.join(home, path[2:].replace("\\", "/")))
        else:
            absolute = path
        if absolute.startswith(f"{home}/"):
            new = f"//{absolute[len(home) + 1 :]}"
        else:
            new = absolute
        if not home or not path or new == path:
            return None
        changed.append(new)
        return new

    visit(rebased, packed=True)
    scenes: Any = bpy.data.scenes
    for scene in scenes:
        # Blender lists what it reads, and not where it renders to.
        scene.render.filepath = rebased(scene, scene.render.filepath) or scene.render.filepath
    return bool(changed)


def visit(change: Callable[[Any, str], str | None], *, packed: bool = False) -> None:
    """Show every datablock with a path of it; what is returned, if anything, is its path from then on. `packed`: those of files that
    the scene holds as well."""
    data: Any = bpy.data
    if hasattr(data, "file_path_foreach"):
        # Paths in linked datablocks belong to their library, and are relative to it.
        flags = {"SKIP_WEAK_REFERENCES", "SKIP_LINKED"} | (set[str]() if packed else {"SKIP_PACKED"})

        def visit_path(block: Any, path: str, _: object) -> str | None:
            return change(block, path)

        data.file_path_foreach(visit_path, flags=flags)
        return
    for kind in KINDS_WITH_PATH:
        for block in getattr(data, kind):
            is_packed = getattr(block, "packed_file", None) is not None
            if block.library is None and (packed or not is_packed) and block.filepath != "<builtin>":
                other = change(block, block.filepath)
                if other is not None:
                    block.filepath = other
