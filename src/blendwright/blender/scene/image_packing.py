"""Pixels that were painted: Blender keeps them in memory only, and drops them when it saves, unless they are packed into the file."""

from typing import Any

import bpy

from blendwright.values.errors import StepError
from blendwright.values.faults import Fault

# Images that show what was rendered last; they are in no file.
RESULTS = frozenset({"RENDER_RESULT", "COMPOSITING"})


def pack_painted_images(at: str) -> None:
    """Pack every image whose pixels are in no file yet. Raises StepError where Blender cannot; `at` is the argument to blame.

    At the end of the step that painted: a packed image has another source, so the hash would change if saving did it."""
    images: Any = bpy.data.images
    for image in images:
        if not image.is_dirty or image.type in RESULTS or image.library is not None:
            continue
        try:
            image.pack()
            reason = "it has several views" if image.is_dirty else ""
        except RuntimeError as error:
            reason = " ".join(str(error).removeprefix("Error:").split())
        if reason:
            message = f"the pixels of image '{image.name}' cannot be kept: {reason}"
            raise StepError.of(Fault.EXECUTION_FAILED, message, at=at, cure="Paint a new image with a single view.")
