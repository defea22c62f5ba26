"""Videos from rendered pictures, by Blender's encoder and a sequencer in a temporary scene.

This module removes the temporary scene afterwards and applies no color transform, since the pictures have their final colors.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import bpy

from blendwright.blender.scene.pictures.rendering import Rendering
from blendwright.tool_api.scene import Kind
from blendwright.values.errors import StepError
from blendwright.values.faults import Fault

_ops: Any = bpy.ops
# Codec -> Blender's container and codec.
CODECS = {"H264": ("MPEG4", "H264"), "VP9": ("WEBM", "WEBM")}


class Videos(Rendering):
    """The part of the Scene port that encodes videos."""

    def encode_video(
        self,
        pictures: Sequence[str],
        filepath: str,
        *,
        size: tuple[int, int],
        fps: tuple[int, float],
        codec: str,
        quality: str,
    ) -> None:
        with self.temporary(Kind.SCENE) as film:
            _set_output(film, filepath, size, fps)
            _set_encoder(film.render, codec, quality)
            film.frame_start, film.frame_end = 1, len(pictures)
            editor = film.sequence_editor_create()
            if hasattr(editor, "strips"):
                strips = editor.strips
            else:  # Blender before 4.4
                strips = editor.sequences
            strip = strips.new_image("frames", pictures[0], 1, 1)
            for picture in pictures[1:]:
                strip.elements.append(Path(picture).name)
            try:
                _ops.render.render(animation=True, scene=film.name)
            except RuntimeError as error:
                message = " ".join(str(error).split())
                raise StepError.of(Fault.EXECUTION_FAILED, f"Blender could not write the video: {message}") from error


def _set_output(film: Any, filepath: str, size: tuple[int, int], fps: tuple[int, float]) -> None:
    render = film.render
    render.resolution_x, render.resolution_y = size
    render.resolution_percentage = 100
    render.fps, render.fps_base = fps
    render.use_sequencer, render.use_compositing = True, False
    # With this setting Blender would add the range of frames to the file name.
    render.use_file_extension = False
    render.use_stamp = False
    render.filepath = filepath
    film.display_settings.display_device = "sRGB"
    film.view_settings.view_transform = "Standard"
    film.sequencer_colorspace_settings.name = "sRGB"


def _set_encoder(render: Any, codec: str, quality: str) -> None:
    settings = render.image_settings
    if bpy.app.version >= (5, 0, 0):
        settings.media_type = "VIDEO"
    settings.file_format = "FFMPEG"
    settings.color_mode = "RGB"
    encoder = render.ffmpeg
    encoder.format, encoder.codec = CODECS[codec]
    encoder.constant_rate_factor = quality
    encoder.ffmpeg_preset = "GOOD"
    encoder.gopsize = 12
    encoder.audio_codec = "NONE"
