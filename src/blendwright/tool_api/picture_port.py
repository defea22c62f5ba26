"""The part of the `Scene` port for images, renders and bakes."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from blendwright.tool_api.datablocks import Block


class PicturePort(Protocol):
    # ------------------------------------------------------------------ images

    def load_image(self, name: str, file: str, path: str, color_space: str | None, *, pack: bool) -> Block:
        """Return a new image from a file at `input_file(...)` that users know as `path`. Its size is 0 if Blender
        cannot read the file.
        """
        ...

    def paint_image(self, image: Block, rows: Sequence[Sequence[Sequence[float]]], *, encode: bool) -> None:
        """Fill an image with a gradient of colours, in rows from the top down, and pack it. `encode` stores the
        colours as sRGB.
        """
        ...

    def painted_so(self, image: Block, rows: Sequence[Sequence[Sequence[float]]], *, encode: bool) -> bool:
        """Return whether an image has the pixels that `paint_image` would give it."""
        ...

    def save_image(self, image: Block, file: str, settings: dict[str, Any], *, plain: bool) -> None:
        """Write an image to `output_file(...)` with these file settings. `plain` marks values that are not colours."""
        ...

    def picture_size(self, file: str) -> tuple[int, int]:
        """Return width and height of a picture file, 0 if Blender cannot read it."""
        ...

    def picture_hash(self, file: str) -> str:
        """Return the hash of the pixels of a picture file, independent of its other content."""
        ...

    def lit_share(self, file: str) -> float | None:
        """Return the share of pixels that are visibly lighter than black.

        Returns None for a file that shows nothing, has several layers, or is too large to check.
        """
        ...

    # ------------------------------------------------------------------ rendering

    def render_still(
        self, filepath: str, *, camera: Block | None = None, output: dict[str, Any] | None = None, label: str = ""
    ) -> tuple[int, int]:
        """Render the current frame to a PNG file, or with other file `output` settings, through a camera or the
        scene's own.

        Progress reports begin with `label`. Returns the samples taken per pixel and the samples intended; 0 for an
        engine that reports none.
        """
        ...

    def denoise_image(self, image: Block) -> None:
        """Denoise an image that may be overwritten, and pack it. Black pixels stay black."""
        ...

    def brightness_range(self, image: Block) -> tuple[float, float] | None:
        """Return the least and the greatest brightness of the pixels that are not black, or None if all are black."""
        ...

    def bake(self, obj: Block, image: Block, kind: str, *, sources: Sequence[Block] = (), **options: Any) -> None:
        """Bake the surface of an object, or of `sources`, into an image that may be overwritten, and pack it.

        `options` are those of Blender's operator. Selection and materials stay unchanged.
        """
        ...

    def frame_file(self, frame: int) -> str:
        """Return the path of an animation frame that the worker writes as PNG. An existing file is the frame from an
        earlier try.
        """
        ...

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
        """Write PNG files of this size as a video without colour changes.

        `fps` is a number and its divisor; `codec` is H264 (for .mp4) or VP9 (for .webm).
        """
        ...

    def at_frame(self, frame: int) -> AbstractContextManager[None]:
        """Return a context manager that sets the scene to another frame for a `with` block."""
        ...
