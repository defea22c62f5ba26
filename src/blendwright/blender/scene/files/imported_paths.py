"""Paths in imported or appended datablocks, converted to absolute paths relative to the original file's location.

An importer reads a copy in the worker's scratch directory. It therefore writes paths of the scratch directory, or paths relative to
it or to the current directory. They are valid only while the process lives, and Blender writes them differently into the next file.
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
    """Make the paths in new datablocks absolute. They came from a copy in the directory `staged` of a file in the directory `origin`."""
    new_ids = {block.session_uid for _, block in new}

    def absolute(block: Any, path: str) -> str | None:
        if path and block.session_uid in new_ids:
            return _absolute(path, str(staged), str(origin))
        return None

    external_files.visit(absolute, packed=True)
    for kind, block in new:
        if kind != "images":
            continue
        # Blender's list of paths omits the source path of a packed file.
        for packed in block.packed_files:
            if packed.filepath:
                packed.filepath = _absolute(packed.filepath, str(staged), str(origin))


def _absolute(path: str, staged: str, origin: str) -> str:
    if WINDOWS_PATH.match(path):
        return path  # The path belongs to another machine.
    if path.startswith("//"):
        # An append made the path relative to the file of the current scene.
        path = bpy.path.abspath(path)
    for directory in (staged, os.path.realpath(staged)):
        if path.startswith(directory + os.sep):
            return os.path.normpath(origin + path[len(directory) :])
        # A path that leads out of the copy's directory by `..` is relative to the original file.
        scratch = os.path.dirname(os.path.dirname(directory))  # noqa: PTH120 - strings throughout
        if os.path.normpath(path).startswith(scratch + os.sep):
            return os.path.normpath(os.path.join(origin, os.path.relpath(path, directory)))  # noqa: PTH118
    return os.path.normpath(os.path.join(origin, path.replace("\\", "/")))  # noqa: PTH118
