"""Paths that an importer or an append left in what it made: as they are meant in the file that was read, from where that file lies.

An importer reads a copy in the worker's scratch, so it writes paths of the scratch, or paths that are relative to it or to the current
directory. Such a path is right for as long as the process lives, and Blender writes it differently into the next file.
"""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import bpy

from blendwright.blender.scene.files import external_files

WINDOWS_PATH = re.compile(r"[A-Za-z]:[\\/]|\\\\")


def make_absolute(new: Sequence[tuple[str, Any]], staged: Path, origin: Path) -> None:
    """Give datablocks that came from a file in `staged`, a copy of one in `origin`, paths that hold anywhere on the machine."""
    came = {block.session_uid for _, block in new}

    def absolute(block: Any, path: str) -> str | None:
        if path and block.session_uid in came:
            return _absolute(path, str(staged), str(origin))
        return None

    external_files.visit(absolute, packed=True)
    for kind, block in new:
        # Where a packed file came from is in none of Blender's lists.
        for packed in block.packed_files if kind == "images" else ():
            if packed.filepath:
                packed.filepath = _absolute(packed.filepath, str(staged), str(origin))


def _absolute(path: str, staged: str, origin: str) -> str:
    if WINDOWS_PATH.match(path):
        return path  # of another machine
    if path.startswith("//"):
        # Relative to the scene's own file, which an append has made of it.
        path = bpy.path.abspath(path)
    for place in (staged, os.path.realpath(staged)):
        if path.startswith(place + os.sep):
            return os.path.normpath(origin + path[len(place) :])
        # What leads out of the folder by `..` was meant from where the file lies.
        scratch = os.path.dirname(os.path.dirname(place))  # noqa: PTH120 - plain texts throughout
        if os.path.normpath(path).startswith(scratch + os.sep):
            return os.path.normpath(os.path.join(origin, os.path.relpath(path, place)))  # noqa: PTH118
    return os.path.normpath(os.path.join(origin, path.replace("\\", "/")))  # noqa: PTH118
