"""Pictures as arrays: rows from the top down, of red, green and blue from 0 to 255. Writing of PNG files, and reading of pictures."""

import struct
import zlib
from pathlib import Path
from typing import Any

import bpy
import numpy as np

Pixels = Any


def png(pixels: Pixels) -> bytes:
    """Return the bytes of a PNG file. The pixels have one or three channels of one or two bytes each."""
    height, width = pixels.shape[:2]
    size = pixels.dtype.itemsize
    lines = np.ascontiguousarray(pixels, f">u{size}").reshape(height, -1).view(np.uint8)
    rows = np.concatenate([np.zeros((height, 1), np.uint8), lines], axis=1)

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    color_type = 0
    if pixels.ndim == 3:
        color_type = 2
    header = struct.pack(">IIBBBBB", width, height, size * 8, color_type, 0, 0, 0)
    packed = zlib.compress(rows.tobytes(), 6)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", packed) + chunk(b"IEND", b"")


def write_png(file: str, pixels: Pixels) -> None:
    """Write pixels to a PNG file."""
    Path(file).write_bytes(png(np.ascontiguousarray(pixels, np.uint8)))


def read_picture(file: str, most_pixels: int | None = None) -> Any | None:
    """Return a picture as rows from the top down of red, green, blue and alpha from 0 to 1, in sRGB.

    Return None if Blender cannot read the file, or if the picture has more than `most_pixels` pixels.
    """
    try:
        image: Any = bpy.data.images.load(file, check_existing=False)
    except RuntimeError:
        return None
    try:
        width, height = image.size
        if not width or not height:
            return None
        if most_pixels is not None and width * height > most_pixels:
            return None
        values = np.empty(len(image.pixels), np.float32)
        image.pixels.foreach_get(values)
        pixels = values.reshape(height, width, image.channels)
        # Files with more than eight bits hold linear light. Other files hold values for screens.
        is_linear = image.is_float and image.colorspace_settings.name != "sRGB"
    finally:
        bpy.data.images.remove(image)

    if pixels.shape[2] < 3:
        pixels = np.concatenate([np.repeat(pixels[..., :1], 3, axis=2), pixels[..., 1:]], axis=2)
    if pixels.shape[2] == 3:
        pixels = np.concatenate([pixels, np.ones_like(pixels[..., :1])], axis=2)
    pixels = np.nan_to_num(pixels[::-1], nan=0.0, posinf=1.0, neginf=0.0)

    if is_linear:
        color = np.clip(pixels[..., :3], 0.0, 1.0)
        encoded = np.where(color <= 0.0031308, color * 12.92, 1.055 * np.maximum(color, 1e-9) ** (1 / 2.4) - 0.055)
        pixels = np.concatenate([encoded, pixels[..., 3:]], axis=2)
    return np.clip(pixels, 0.0, 1.0)


def resized(pixels: Any, width: int, height: int) -> Any:
    """Return a picture at another size. Each pixel is the mean of the pixels that it covers, or the nearest one when enlarging."""
    for axis, wanted in ((0, height), (1, width)):
        count = pixels.shape[axis]
        starts = np.arange(wanted) * count // wanted
        if count >= wanted:
            shape = [1] * pixels.ndim
            shape[axis] = -1
            lengths = np.diff([*starts, count]).reshape(shape)
            pixels = np.add.reduceat(pixels, starts, axis=axis, dtype=np.float64) / lengths
        else:
            pixels = np.take(pixels, starts, axis=axis)
    return pixels


def on_background(pixels: Any, background: float = 0.5) -> Any:
    """Return a picture without alpha in front of a plain grey, as bytes of red, green and blue."""
    alpha = pixels[..., 3:]
    return np.rint((pixels[..., :3] * alpha + background * (1.0 - alpha)) * 255).astype(np.uint8)
