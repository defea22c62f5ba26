"""Pictures by Blender's render operator, and datablocks that exist only for one picture.

This module restores the scene afterwards. The tool sets beforehand what to render and at which resolution.
"""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import bpy

from blendwright.blender import shader_cache
from blendwright.blender.scene.pictures.render_progress import render_progress
from blendwright.blender.scene.state import RESERVED_PREFIX
from blendwright.blender.scene.tracking.recorded_writes import RecordedWrites
from blendwright.tool_api.scene import Kind
from blendwright.values.errors import StepError
from blendwright.values.faults import Fault
from blendwright.wire.methods import PRINTED_FILE

_ops: Any = bpy.ops

TEMPORARY = f"{RESERVED_PREFIX}temporary"
# Values for settings with which a scene could make Blender write to another path, or anything but a single PNG.
OUTPUT: dict[str, Any] = {
    "use_overwrite": True,
    "use_placeholder": False,
    "use_file_extension": False,
    "use_multiview": False,
    "use_render_cache": False,
}
PNG: dict[str, Any] = {
    # From Blender 5.0 on, the media type decides which formats are available. The format decides which other values are valid.
    **({"media_type": "IMAGE"} if bpy.app.version >= (5, 0, 0) else {}),
    "file_format": "PNG",
    "color_depth": "8",
    "compression": 15,
}


class Rendering(RecordedWrites):
    """The part of the Scene port that renders."""

    def render_still(
        self, filepath: str, *, camera: Any | None = None, output: dict[str, Any] | None = None, label: str = ""
    ) -> tuple[int, int]:
        shader_cache.unpack()
        scene = self.active
        if scene.render.film_transparent:
            color_mode = "RGBA"
        else:
            color_mode = "RGB"
        if output is None:
            settings = {**PNG, "color_mode": color_mode}
        else:
            settings = {**self._medium(output), **output}
        # Setting another format changes these values; restoring them last undoes that.
        values_to_restore: dict[str, Any] = {}
        if output is not None:
            for name in ("color_mode", "color_depth", "exr_codec"):
                values_to_restore[name] = getattr(scene.render.image_settings, name)
        with (
            self.temporarily(scene, camera=camera or scene.camera),
            self.temporarily(scene.render, filepath=filepath, **OUTPUT),
            self.temporarily(scene.render.image_settings, **values_to_restore),
            self.temporarily(scene.render.image_settings, **settings),
        ):
            try:
                with render_progress(self._outbox.with_name(PRINTED_FILE), label) as progress:
                    _ops.render.render(write_still=True)
            except RuntimeError as error:
                message = " ".join(str(error).split())
                raise StepError.of(Fault.EXECUTION_FAILED, f"Blender could not render: {message}") from error
        self._stale = True
        return progress.samples

    def _medium(self, output: dict[str, Any]) -> dict[str, Any]:
        if bpy.app.version < (5, 0, 0):
            return {}
        if output["file_format"] == "OPEN_EXR_MULTILAYER":
            return {"media_type": "MULTI_LAYER_IMAGE"}
        return {"media_type": "IMAGE"}

    @contextmanager
    def at_frame(self, frame: int) -> Generator[None]:
        scene = self.active
        current, part = scene.frame_current, scene.frame_subframe
        scene.frame_set(frame)
        self._stale = True
        try:
            yield
        finally:
            scene.frame_set(current, subframe=part)
            self._stale = True

    @contextmanager
    def temporary(self, kind: Kind, *args: Any) -> Generator[Any]:
        blocks = getattr(bpy.data, kind.value)
        block = blocks.new(TEMPORARY, *args)
        try:
            yield block
        finally:
            blocks.remove(block)
            self._stale = True
