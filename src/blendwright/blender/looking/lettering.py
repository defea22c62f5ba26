"""Text as pixels, in Blender's bundled font: outlines of a text object, filled by parity. It needs no window and no picture library."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import bpy
import numpy as np

from blendwright.blender.scene.state import RESERVED_PREFIX

# The number of samples per pixel in both directions.
FINE = 4
# The maximum number of characters of a line. Longer lines are cut.
MAX_CHARACTERS = 48
# The extent of letters below and above the baseline, in font units. Together they fill a line's height.
BELOW, ABOVE = 0.28, 0.86


class Lettering:
    """A renderer of text lines. It is valid only inside `lettering`."""

    def __init__(self, curve: Any, holder: Any) -> None:
        self._curve = curve
        self._holder = holder
        self._drawn: dict[tuple[str, int], Any] = {}

    def line(self, text: str, height: int) -> Any:
        """Return the coverage of each pixel by a line of text, from 0 to 1. Rows run from the top down. `height` is in pixels."""
        key = (text, height)
        if key not in self._drawn:
            if len(text) > MAX_CHARACTERS:
                text = text[: MAX_CHARACTERS - 1] + "…"
            self._drawn[key] = self._draw(text, height)
        return self._drawn[key]

    def _draw(self, text: str, height: int) -> Any:
        """Draw a line of text, without the cache."""
        # Control characters and line breaks have no shape. Without any shape, Blender creates no mesh.
        self._curve.body = "".join(map(_printable, text))
        if not self._curve.body.strip():
            return np.zeros((height, 1))
        mesh = self._holder.to_mesh()
        try:
            points = np.empty(len(mesh.vertices) * 3, np.float32)
            mesh.vertices.foreach_get("co", points)
            edges = np.empty(len(mesh.edges) * 2, np.int32)
            mesh.edges.foreach_get("vertices", edges)
        finally:
            self._holder.to_mesh_clear()
        scale = height / (BELOW + ABOVE) * FINE
        flat = points.reshape(-1, 3)[:, :2].astype(np.float64)
        samples = np.stack([flat[:, 0] * scale, (ABOVE - flat[:, 1]) * scale], axis=1)
        right = samples[:, 0].max(initial=0.0)
        width = int(np.ceil(right / FINE)) + 1
        covered = _filled(samples[edges.reshape(-1, 2)], width * FINE, height * FINE)
        return covered.reshape(height, FINE, width, FINE).mean(axis=(1, 3))


def _printable(letter: str) -> str:
    if letter.isprintable():
        return letter
    return " "


@contextmanager
def lettering() -> Generator[Lettering]:
    """Yield a renderer of text lines. Remove its datablocks at the end, including the font."""
    fonts = set(bpy.data.fonts)
    curve: Any = bpy.data.curves.new(f"{RESERVED_PREFIX}lettering", "FONT")
    curve.fill_mode, curve.resolution_u = "NONE", 3
    holder: Any = bpy.data.objects.new(curve.name, curve)
    try:
        yield Lettering(curve, holder)
    finally:
        bpy.data.objects.remove(holder)
        bpy.data.curves.remove(curve)
        for font in set(bpy.data.fonts) - fonts:
            bpy.data.fonts.remove(font)


def _filled(edges: Any, width: int, height: int) -> Any:
    """Return a mask of the area inside closed outlines. Every edge flips the pixels to its right, in each row that it crosses."""
    turned = np.zeros((height, width + 1), np.uint8)
    if not len(edges):
        return turned[:, :width]
    start, end = edges[:, 0], edges[:, 1]
    swap = (start[:, 1] > end[:, 1])[:, None]
    where: Any = np.where
    low, high = where(swap, end, start), where(swap, start, end)
    first = np.ceil(low[:, 1] - 0.5).astype(int)
    last = np.ceil(high[:, 1] - 0.5).astype(int)
    counts = np.maximum(last - first, 0)
    repeat: Any = np.repeat
    edge = repeat(np.arange(len(edges)), counts)
    # The rows of an edge count up from its first one.
    within: Any = np.arange(int(counts.sum())) - repeat(np.cumsum(counts) - counts, counts)
    row: Any = repeat(first, counts) + within
    share = (row + 0.5 - low[edge, 1]) / (high[edge, 1] - low[edge, 1])
    column = np.ceil(low[edge, 0] + share * (high[edge, 0] - low[edge, 0]) - 0.5).astype(int)
    inside = (row >= 0) & (row < height)
    np.add.at(turned, (row[inside], np.clip(column[inside], 0, width)), 1)
    return np.cumsum(turned[:, :width], axis=1) % 2
