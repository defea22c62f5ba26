"""Images of the Scene port: loading, painting, packing and writing them.

This module ensures that the scene's file contains the pixels when a step ends, and that written files match the image.
"""

import hashlib
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any

import bpy
import numpy as np

from blendwright.blender.scene.state import RESERVED_PREFIX
from blendwright.blender.scene.tracking.recorded_writes import RecordedWrites
from blendwright.tool_api.scene import Kind
from blendwright.values.errors import StepError
from blendwright.values.faults import Fault

# From Blender 5.0 on, the media type decides which formats are available.
MEDIUM: dict[str, Any] = {"media_type": "IMAGE"} if bpy.app.version >= (5, 0, 0) else {}
# The rounding error of a channel value from 0 to 1: with eight bits per channel, and with single precision.
BYTE_TOLERANCE, FLOAT_TOLERANCE = 0.6 / 255, 1e-5
# The largest channel value that looks black: as a stored byte value, and as linear light.
BLACK_STORED, BLACK_LIGHT = 10 / 255, 0.003
# The largest picture, in pixels, that `lit_share` reads. Each pixel takes sixteen bytes of memory.
MAX_LIT_PIXELS = 10_000_000


class Images(RecordedWrites):
    """The part of the Scene port for images."""

    def load_image(self, name: str, file: str, path: str, color_space: str | None, *, pack: bool) -> Any:
        self._require_free_name(Kind.IMAGE, name)
        try:
            image: Any = bpy.data.images.load(file, check_existing=False)
        except RuntimeError as error:
            reason = " ".join(str(error).removeprefix("Error:").split())
            raise StepError.of(Fault.EXECUTION_FAILED, f"Blender cannot read the picture: {reason}") from error
        self.adopt(Kind.IMAGE, image, name)
        if color_space is not None:
            image.colorspace_settings.name = color_space
        if 0 in tuple(image.size):
            return image
        if pack:
            image.pack()
        # Setting `filepath` would read the file again; `filepath_raw` does not.
        image.filepath_raw = path
        for packed in image.packed_files:
            packed.filepath = path
        return image

    def paint_image(self, image: Any, rows: Sequence[Sequence[Sequence[float]]], *, encode: bool) -> None:
        self.edit(image)
        image.pixels.foreach_set(_blended(rows, tuple(image.size), encode=encode).ravel())
        self.pack_image(image)

    def painted_so(self, image: Any, rows: Sequence[Sequence[Sequence[float]]], *, encode: bool) -> bool:
        wanted = _blended(rows, tuple(image.size), encode=encode).reshape(-1, 4)
        values = np.empty(len(image.pixels), np.float32)
        image.pixels.foreach_get(values)
        pixels = values.reshape(-1, image.channels)
        if image.is_float:
            tolerance = FLOAT_TOLERANCE
        else:
            tolerance = BYTE_TOLERANCE
        return bool(np.allclose(pixels[:, :3], wanted[:, :3], rtol=1e-5, atol=tolerance))

    def pack_image(self, image: Any) -> None:
        """Pack the pixels of an image into the scene's file; until then they exist in memory only. Raises StepError if Blender cannot."""
        try:
            image.pack()
        except RuntimeError as error:
            reason = " ".join(str(error).removeprefix("Error:").split())
            message = f"the pixels of image '{image.name}' cannot be packed: {reason}"
            raise StepError.of(Fault.EXECUTION_FAILED, message) from error

    def save_image(self, image: Any, file: str, settings: dict[str, Any], *, plain: bool) -> None:
        # A temporary scene, since setting the color management changes more settings than this function could restore.
        scene: Any = bpy.data.scenes.new(f"{RESERVED_PREFIX}output")
        try:
            output = scene.render.image_settings
            for name, value in {**MEDIUM, **settings, "color_management": "OVERRIDE"}.items():
                setattr(output, name, value)
            if plain:
                output.view_settings.view_transform = "Raw"
            else:
                output.view_settings.view_transform = "Standard"
            image.save_render(file, scene=scene)
        except RuntimeError as error:
            reason = " ".join(str(error).removeprefix("Error:").split())
            raise StepError.of(Fault.EXECUTION_FAILED, f"Blender cannot write the picture: {reason}") from error
        finally:
            bpy.data.scenes.remove(scene)

    def picture_size(self, file: str) -> tuple[int, int]:
        with _opened(file) as image:
            width, height = image.size
        return width, height

    def picture_hash(self, file: str) -> str:
        with _opened(file) as image:
            pixels = np.empty(len(image.pixels), np.float32)
            image.pixels.foreach_get(pixels)
        return hashlib.sha256(pixels.tobytes()).hexdigest()

    def lit_share(self, file: str) -> float | None:
        with _opened(file) as image:
            width, height = image.size
            if not 0 < width * height <= MAX_LIT_PIXELS or not len(image.pixels):
                return None
            values = np.empty(len(image.pixels), np.float32)
            image.pixels.foreach_get(values)
            if image.is_float:
                black = BLACK_LIGHT
            else:
                black = BLACK_STORED
            pixels = values.reshape(-1, image.channels)
        if pixels.shape[1] == 4:
            pixels = pixels[pixels[:, 3] > 0.0]
        if len(pixels):
            return float((pixels[:, :3].max(axis=1) > black).mean())
        return None


@contextmanager
def _opened(file: str) -> Generator[Any]:
    image: Any = bpy.data.images.load(file, check_existing=False)
    try:
        yield image
    finally:
        bpy.data.images.remove(image)


def _blended(rows: Sequence[Sequence[Sequence[float]]], size: tuple[int, int], *, encode: bool) -> Any:
    """Return the RGBA pixels of an image of this size, from its lowest row up.

    The colors of `rows` are spread evenly over the image and blended linearly between their centers. `encode` converts to sRGB."""
    width, height = size
    grid = np.array([[_rgba(color) for color in row] for row in rows], np.float64)
    grid = grid[::-1]
    across = _between(grid, len(grid[0]), width, 1)
    pixels = _between(across, len(grid), height, 0)
    if encode:
        color = pixels[..., :3]
        low = color <= 0.0031308
        pixels[..., :3] = np.where(low, color * 12.92, 1.055 * np.maximum(color, 1e-9) ** (1 / 2.4) - 0.055)
    return np.ascontiguousarray(pixels, np.float32)


def _rgba(color: Sequence[float]) -> tuple[float, ...]:
    if len(color) > 3:
        alpha = color[3]
    else:
        alpha = 1.0
    return (*color[:3], alpha)


def _between(grid: Any, count: int, pixel_count: int, axis: int) -> Any:
    """Resample `count` cells of the grid to `pixel_count` pixels along an axis, blending linearly between the centers of the cells."""
    at = np.clip((np.arange(pixel_count) + 0.5) / pixel_count * count - 0.5, 0, count - 1)
    low = np.floor(at).astype(int)
    high = np.minimum(low + 1, count - 1)
    shape = [1, 1, 1]
    shape[axis] = -1
    share = (at - low).reshape(shape)
    return np.take(grid, low, axis) * (1 - share) + np.take(grid, high, axis) * share
