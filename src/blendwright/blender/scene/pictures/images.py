"""Images: loading, painting, packing and writing them, which Blender offers functions of its own for.

Responsible for: pixels that are in the scene's file when a step ends, and files that hold what the image does.
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

# From 5.0 on the kind of medium decides which formats can be chosen.
MEDIUM: dict[str, Any] = {"media_type": "IMAGE"} if bpy.app.version >= (5, 0, 0) else {}
# The difference that eight bits per channel leave, and the one that single precision does.
COARSE, FINE = 0.6 / 255, 1e-5
# What is no lighter than this is black to the eye: as eight bits store it, and as light.
BLACK_STORED, BLACK_LIGHT = 10 / 255, 0.003
# Pixels take sixteen bytes each while they are looked at.
MOST_LOOKED_AT = 10_000_000


class Images(RecordedWrites):
    """The part of the Scene port that is about images."""

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
        # Written raw: the other way reads the file anew.
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
        found = np.empty(len(image.pixels), np.float32)
        image.pixels.foreach_get(found)
        pixels = found.reshape(-1, image.channels)
        if image.is_float:
            tolerance = FINE
        else:
            tolerance = COARSE
        return bool(np.allclose(pixels[:, :3], wanted[:, :3], rtol=1e-5, atol=tolerance))

    def pack_image(self, image: Any) -> None:
        """Pixels that are only in memory are in no file."""
        try:
            image.pack()
        except RuntimeError as error:
            reason = " ".join(str(error).removeprefix("Error:").split())
            message = f"the pixels of image '{image.name}' cannot be kept: {reason}"
            raise StepError.of(Fault.EXECUTION_FAILED, message) from error

    def save_image(self, image: Any, file: str, settings: dict[str, Any], *, plain: bool) -> None:
        # A scene of its own: choosing how colours are written changes more settings than can be put back.
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
            if not 0 < width * height <= MOST_LOOKED_AT or not len(image.pixels):
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
    """The pixels of an image, from its lowest row up: the colours at even distances from edge to edge, blended between them."""
    width, height = size
    grid = np.array([[(*color[:3], color[3] if len(color) > 3 else 1.0) for color in row] for row in rows], np.float64)
    grid = grid[::-1]
    across = _between(grid, len(grid[0]), width, 1)
    pixels = _between(across, len(grid), height, 0)
    if encode:
        color = pixels[..., :3]
        low = color <= 0.0031308
        pixels[..., :3] = np.where(low, color * 12.92, 1.055 * np.maximum(color, 1e-9) ** (1 / 2.4) - 0.055)
    return np.ascontiguousarray(pixels, np.float32)


def _between(grid: Any, count: int, wanted: int, axis: int) -> Any:
    # The middle of each pixel, between the middles of the cells that the colours stand for.
    at = np.clip((np.arange(wanted) + 0.5) / wanted * count - 0.5, 0, count - 1)
    low = np.floor(at).astype(int)
    high = np.minimum(low + 1, count - 1)
    share = (at - low).reshape([-1 if number == axis else 1 for number in range(3)])
    return np.take(grid, low, axis) * (1 - share) + np.take(grid, high, axis) * share
