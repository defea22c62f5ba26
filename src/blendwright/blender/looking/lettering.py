"""Words as pixels, in Blender's own font: outlines of a text object, filled by parity. Needs no window and no library for pictures."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import bpy
import numpy as np

from blendwright.blender.scene.state import RESERVED_PREFIX

# Each pixel is looked at so many times in both directions.
FINE = 4
# Longer words are cut.
MOST_LETTERS = 48
# Of the height of a line: what lies below the letters' foot, and how high they are.
BELOW, ABOVE = 0.28, 0.86


class Lettering:
    """Draws lines of text. Valid inside of `lettering`."""

    def __init__(self, curve: Any, holder: Any) -> None:
        self._curve = curve
        self._holder = holder
        self._drawn: dict[tuple[str, int], Any] = {}

    def line(self, text: str, height: int) -> Any:
        """How much of each pixel a line covers, from 0 to 1, in rows from the top down; `height` pixels high."""
        key = (text, height)
        if key not in self._drawn:
            self._drawn[key] = self._draw(text if len(text) <= MOST_LETTERS else text[: MOST_LETTERS - 1] + "…", height)
        return self._drawn[key]

    def _draw(self, text: str, height: int) -> Any:
        # Control characters and line breaks have no shape of their own; where nothing has one, Blender makes no mesh.
        self._curve.body = "".join(letter if letter.isprintable() else " " for letter in text)
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
        places = np.stack([flat[:, 0] * scale, (ABOVE - flat[:, 1]) * scale], axis=1)
        width = int(np.ceil((places[:, 0].max() if len(places) else 0.0) / FINE)) + 1
        covered = _filled(places[edges.reshape(-1, 2)], width * FINE, height * FINE)
        return covered.reshape(height, FINE, width, FINE).mean(axis=(1, 3))


@contextmanager
def lettering() -> Generator[Lettering]:
    """Something to draw lines of text with; leaves nothing behind, not even the font."""
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
    """What closed outlines enclose: every edge turns what lies right of it, in each row that it crosses."""
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
