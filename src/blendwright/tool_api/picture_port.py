"""The part of the `Scene` port that deals in pictures: images, renders and bakes."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from blendwright.tool_api.datablocks import Block


class PicturePort(Protocol):
    # ------------------------------------------------------------------ images

    def load_image(self, name: str, file: str, path: str, color_space: str | None, *, pack: bool) -> Block:
        """A new image of a file at `input_file(...)`, which its users know as `path`; it has no size where Blender cannot read it."""
        ...

    def paint_image(self, image: Block, rows: Sequence[Sequence[Sequence[float]]], *, encode: bool) -> None:
        """Fill an image with colours that blend into each other, in rows from the top down, and pack it. `encode`: as sRGB stores them."""
        ...

    def painted_so(self, image: Block, rows: Sequence[Sequence[Sequence[float]]], *, encode: bool) -> bool:
        """Whether an image has the pixels that `paint_image` gives it."""
        ...

    def save_image(self, image: Block, file: str, settings: dict[str, Any], *, plain: bool) -> None:
        """Write an image to `output_file(...)` with these settings of a picture file. `plain`: values are no colours."""
        ...

    def picture_size(self, file: str) -> tuple[int, int]:
        """Width and height of a picture file, 0 where Blender cannot read it."""
        ...

    def picture_hash(self, file: str) -> str:
        """Hash of the pixels of a picture file, whatever else is in it."""
        ...

    def lit_share(self, file: str) -> float | None:
        """The share of what a picture file shows that is visibly lighter than black; None where that cannot be said: it shows nothing, has
        several layers, or is so large that looking would cost more than it tells."""
        ...

    # ------------------------------------------------------------------ rendering

    def render_still(
        self, filepath: str, *, camera: Block | None = None, output: dict[str, Any] | None = None, label: str = ""
    ) -> tuple[int, int]:
        """Render the current frame with the scene's settings to a PNG file, or with other settings of a picture file, through a
        camera or the scene's own. `label` is told to whoever waits, before how far it is.

        Returns how many samples were taken of each pixel, and how many were meant to be; 0 for an engine that does not say."""
        ...

    def denoise_image(self, image: Block) -> None:
        """Take the noise out of an image that may be written into freely, and pack it; pixels that are black stay so."""
        ...

    def brightness_range(self, image: Block) -> tuple[float, float] | None:
        """The least and the greatest brightness of the pixels of an image that are not black; None where all are."""
        ...

    def bake(self, obj: Block, image: Block, kind: str, *, sources: Sequence[Block] = (), **options: Any) -> None:
        """Bake what an object's surface is like, or that of `sources`, into an image, and pack it. The image may be written into
        freely; `options` are those of Blender's operator. Selection and materials are left as they were."""
        ...

    def frame_file(self, frame: int) -> str:
        """Where the worker writes a frame of an animation, as PNG. A file that is there is the frame as an earlier try rendered it."""
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
        """Make a video of PNG files of this size, one after the other, their colours as they are. `fps` is a number and what it is
        divided by; `codec` is H264 (for .mp4) or VP9 (for .webm)."""
        ...

    def at_frame(self, frame: int) -> AbstractContextManager[None]:
        """The scene at another frame for the length of a `with` block."""
        ...
