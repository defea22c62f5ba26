"""File paths in canonical form.

Responsible for: a path hashing alike whether Blender keeps it absolute or relative to the .blend (saving turns one into
the other). Must not touch the file system.
"""

import posixpath
import re
from typing import Any

import bpy

_data: Any = bpy.data

# Blender's directory for temporary files, which some caches have as their default, has a new name in every session.
_SESSION_DIRECTORY = re.compile(r"/blender_\w{6}(?=/|$)")


def canonical_path(path: str, owner: Any) -> str:
    """One form for a path of a datablock: absolute outside the directory of the .blend, `//` inside it, empty for none."""
    if not path:
        return ""
    library = owner.library
    base = posixpath.dirname(_slashes(library.filepath if library else _data.filepath))
    path = _slashes(path)
    if path.startswith("//") and not path.startswith("//.."):
        return "//" + posixpath.normpath(path[2:])
    if path.startswith("//"):
        if not base:
            return path  # relative to a file that has never been saved
        path = posixpath.join(base, path[2:])
    path = posixpath.normpath(path)
    if base and path.startswith(f"{base}/"):
        return "//" + path[len(base) + 1 :]
    # Saving turns an empty path into a relative one that leads to the root.
    return "" if path == "/" else _SESSION_DIRECTORY.sub("/blender", path)


def _slashes(path: str) -> str:
    return path.replace("\\", "/")
