"""Pictures as arrays: rows from the top down, of red, green and blue from 0 to 255; and the PNG file of one, or of plain numbers."""

import struct
import zlib
from pathlib import Path
from typing import Any

import bpy
import numpy as np

Pixels = Any


def png(pixels: Pixels) -> bytes:
    """Of bytes, or of numbers of two bytes; of three channels, or of one."""
    height, width = pixels.shape[:2]
    size = pixels.dtype.itemsize
    lines = np.ascontiguousarray(pixels, f">u{size}").reshape(height, -1).view(np.uint8)
    rows = np.concatenate([np.zeros((height, 1), np.uint8), lines], axis=1)

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    header = struct.pack(">IIBBBBB", width, height, size * 8, 2 if pixels.ndim == 3 else 0, 0, 0, 0)
    packed = zlib.compress(rows.tobytes(), 6)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", packed) + chunk(b"IEND", b"")


def write_png(file: str, pixels: Pixels) -> None:
    Path(file).write_bytes(png(np.ascontiguousarray(pixels, np.uint8)))


def read_picture(file: str, most_pixels: int | None = None) -> Any | None:
    """Rows from the top down, of red, green, blue and alpha from 0 to 1 as a screen shows them; None for what Blender cannot read,
    and for what is larger than that."""
    try:
        image: Any = bpy.data.images.load(file, check_existing=False)
    except RuntimeError:
        return None
    try:
        width, height = image.size
        if not width or not height or (most_pixels is not None and width * height > most_pixels):
            return None
        values = np.empty(len(image.pixels), np.float32)
        image.pixels.foreach_get(values)
        found = values.reshape(height, width, image.channels)
        # Pixels of a file with more than eight bits are light, those of others are stored as screens want them.
        light = image.is_float and image.colorspace_settings.name != "sRGB"
    finally:
        bpy.data.images.remove(image)
    if found.shape[2] < 3:
        found = np.concatenate([np.repeat(found[..., :1], 3, axis=2), found[..., 1:]], axis=2)
    if found.shape[2] == 3:
        found = np.concatenate([found, np.ones_like(found[..., :1])], axis=2)
    found = np.nan_to_num(found[::-1], nan=0.0, posinf=1.0, neginf=0.0)
    if light:
        color = np.clip(found[..., :3], 0.0, 1.0)
        encoded = np.where(color <= 0.0031308, color * 12.92, 1.055 * np.maximum(color, 1e-9) ** (1 / 2.4) - 0.055)
        found = np.concatenate([encoded, found[..., 3:]], axis=2)
    return np.clip(found, 0.0, 1.0)


def resized(pixels: Any, width: int, height: int) -> Any:
    """The same at another size: each pixel the mean of those that it covers, or the nearest one."""
    for axis, wanted in ((0, height), (1, width)):
        count = pixels.shape[axis]
        starts = np.arange(wanted) * count // wanted
        if count >= wanted:
            lengths = np.diff([*starts, count]).reshape([-1 if number == axis else 1 for number in range(pixels.ndim)])
            pixels = np.add.reduceat(pixels, starts, axis=axis, dtype=np.float64) / lengths
        else:
            pixels = np.take(pixels, starts, axis=axis)
    return pixels


def on_background(pixels: Any, background: float = 0.5) -> Any:
    """Without alpha, in front of a plain grey: bytes of red, green and blue."""
    alpha = pixels[..., 3:]
    return np.rint((pixels[..., :3] * alpha + background * (1.0 - alpha)) * 255).astype(np.uint8)
