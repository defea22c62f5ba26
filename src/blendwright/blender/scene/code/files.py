"""The declared files of a code step: how the code finds their copies, and how paths to the copies leave the scene.

The copies disappear with the process that ran the code. Data that the code loaded from a copy is packed into the scene, which
then refers to no file.
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
    """A mapping from the declared path of each file to the path of its copy.

    A key may also be the end of a declared path, such as the file name, if it fits only one file."""

    def __init__(self, copies: Mapping[str, str]) -> None:
        super().__init__(copies)

    def __missing__(self, path: str) -> str:
        wanted = Path(path).parts
        matches: list[str] = []
        for declared, copy in self.items():
            if wanted and Path(declared).parts[-len(wanted) :] == wanted:
                matches.append(copy)

        if len(matches) == 1:
            return matches[0]
        names = ", ".join(sorted(Path(declared).name for declared in self)) or "none"
        if matches:
            problem = "fits several of them"
        else:
            problem = "is not among them"
        raise KeyError(f"'{path}' {problem}; declared files: {names}")


def render_outputs() -> dict[str, str]:
    """Return the render output path of each scene, by the scene's name."""
    return {scene.name: scene.render.filepath for scene in _data.scenes}


def restore_render_outputs(before: Mapping[str, str], scratch: Path) -> None:
    """Restore the render output path of every scene that the code pointed at a file below `scratch`."""
    for scene in _data.scenes:
        if _is_below(scene.render.filepath, scratch):
            scene.render.filepath = before.get(scene.name, "")


def take_in_loaded_files(scratch: Path) -> None:
    """Pack every datablock that was loaded from a file below `scratch`, and clear its path.

    Raises StepError if Blender cannot pack one."""
    for kind, block in _loaded(scratch):
        if block.packed_file is None:
            try:
                block.pack()
            except RuntimeError as error:
                reason = " ".join(str(error).removeprefix("Error:").split())
                name = Path(block.filepath).name
                source = f"was loaded from the file '{name}', which cannot be packed"
                message = f"'{block.name}' among the {kind} {source}: {reason}"
                fix = "Declare the file in `files`, in addition to the files that refer to it, or remove the datablock."
                raise StepError.of(Fault.EXECUTION_FAILED, message, at="/code", cure=fix) from error
        if kind == "images":
            # Setting `filepath` would read the file again; `filepath_raw` does not.
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
