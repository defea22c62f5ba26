"""Pictures: the render operator, which Blender offers nothing else for, and datablocks that live only for one.

Responsible for: leaving the scene as it was. What is rendered and how large is the tool's to say.
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
# What a scene may ask for that would write elsewhere, or other than one PNG.
OUTPUT: dict[str, Any] = {
    "use_overwrite": True,
    "use_placeholder": False,
    "use_file_extension": False,
    "use_multiview": False,
    "use_render_cache": False,
}
PNG: dict[str, Any] = {
    # From 5.0 on the kind of medium decides which formats can be chosen, and the format always decides on the rest.
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
        # A format decides what else is valid: what it changes is put back behind it.
        held = {name: getattr(scene.render.image_settings, name) for name in ("color_mode", "color_depth", "exr_codec")}
        with (
            self.temporarily(scene, camera=camera or scene.camera),
            self.temporarily(scene.render, filepath=filepath, **OUTPUT),
            self.temporarily(scene.render.image_settings, **({} if output is None else held)),
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
        layered = output["file_format"] == "OPEN_EXR_MULTILAYER"
        return {"media_type": "MULTI_LAYER_IMAGE" if layered else "IMAGE"}

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
