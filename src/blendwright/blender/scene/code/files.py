"""Files that code was given: how it finds them, and what becomes of the paths that it leaves in the scene.

The copies are gone with the process that ran the code: what was loaded from one is packed into the scene, which then names no file.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import bpy

from blendwright.values.errors import StepError
from blendwright.values.faults import Fault

_data: Any = bpy.data
# Kinds of datablock that Blender can pack.
PACKABLE = ("images", "sounds", "fonts")


class CodeFiles(dict[str, str]):
    """Where each declared file is, by its path. An end of the path will do, such as the name, where it fits only one."""

    def __init__(self, places: Mapping[str, str]) -> None:
        super().__init__(places)

    def __missing__(self, path: str) -> str:
        wanted = Path(path).parts
        fitting = [place for name, place in self.items() if wanted and Path(name).parts[-len(wanted) :] == wanted]
        if len(fitting) == 1:
            return fitting[0]
        names = ", ".join(sorted(Path(name).name for name in self)) or "none"
        if fitting:
            which = "fits several of them"
        else:
            which = "is not among them"
        raise KeyError(f"'{path}' {which}; declared files: {names}")


def render_outputs() -> dict[str, str]:
    """Where each scene renders to."""
    return {scene.name: scene.render.filepath for scene in _data.scenes}


def restore_render_outputs(before: Mapping[str, str], scratch: Path) -> None:
    """A scene that code had render to one of the files renders again to where it did before."""
    for scene in _data.scenes:
        if _is_below(scene.render.filepath, scratch):
            scene.render.filepath = before.get(scene.name, "")


def take_in_loaded_files(scratch: Path) -> None:
    """Pack what was loaded from the files, and forget where it was. Raises StepError for what cannot be packed."""
    for kind, block in _loaded(scratch):
        if block.packed_file is None:
            try:
                block.pack()
            except RuntimeError as error:
                reason = " ".join(str(error).removeprefix("Error:").split())
                name = Path(block.filepath).name
                message = f"'{block.name}' among the {kind} is of the file '{name}', which cannot be packed: {reason}"
                cure = "Declare the file in files, beside those that name it, or remove the datablock."
                raise StepError.of(Fault.EXECUTION_FAILED, message, at="/code", cure=cure) from error
        if kind == "images":
            # Written raw: the other way reads the file anew.
            block.filepath_raw = ""
            for packed in block.packed_files:
                packed.filepath = ""
        else:
            block.filepath = ""


def _loaded(scratch: Path) -> Iterator[tuple[str, Any]]:
    for kind in PACKABLE:
        for block in getattr(_data, kind):
            if block.library is None and _is_below(block.filepath, scratch):
                yield kind, block


def _is_below(path: str, scratch: Path) -> bool:
    if not path or path == "<builtin>":
        return False
    return Path(bpy.path.abspath(path)).resolve().is_relative_to(scratch.resolve())
