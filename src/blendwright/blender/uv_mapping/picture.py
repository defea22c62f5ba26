"""A picture of a UV layout: islands in colours, overlaps in red, edges as lines, the tile as a frame."""

from typing import Any

import numpy as np

from blendwright.blender.looking.png_files import write_png
from blendwright.blender.uv_mapping.measures import UvMap, counted_layers

BACK, TILE, LINE, OVERLAP = (28, 28, 30), (52, 52, 56), (245, 245, 245), (230, 60, 50)
COLORS = np.array(
    [(96, 148, 214), (118, 186, 120), (222, 176, 84), (176, 128, 204), (96, 190, 190), (212, 140, 140), (160, 170, 90)],
    np.uint8,
)
# The border around the drawing, as a share of its size.
MARGIN = 0.04


def draw_layout(uv_map: UvMap, path: str, size: int) -> None:
    """Draw the tile and the rest of the map to a PNG file, at most one tile in each direction."""
    low, high = np.zeros(2), np.ones(2)
    if len(uv_map.uvs):
        low = np.clip(uv_map.uvs.min(axis=(0, 1)), -1.0, 0.0)
        high = np.clip(uv_map.uvs.max(axis=(0, 1)), 1.0, 2.0)
    span = float((high - low).max())
    low = low - MARGIN * span
    scale = size / (span * (1.0 + 2.0 * MARGIN))
    pixels = np.empty((size, size, 3), np.uint8)
    pixels[:] = BACK
    tile = ((np.array([[0.0, 0.0], [1.0, 1.0]]) - low) * scale).astype(int)
    pixels[tile[0, 1] : tile[1, 1], tile[0, 0] : tile[1, 0]] = TILE
    triangles = (uv_map.uvs - low) * scale
    island = counted_layers(triangles, size, size, uv_map.islands[uv_map.faces])
    is_covered = island >= 0
    pixels[is_covered] = COLORS[island[is_covered] % len(COLORS)]
    pixels[counted_layers(triangles, size, size) > 1] = OVERLAP
    _draw_lines(pixels, (uv_map.edges - low) * scale)
    frame = np.array([[0, 0], [1, 0], [1, 1], [0, 1]], float)
    _draw_lines(pixels, (np.stack([frame, np.roll(frame, -1, axis=0)], axis=1) - low) * scale)
    write_png(path, pixels[::-1])


def _draw_lines(pixels: Any, lines: Any) -> None:
    """Draw lines between pairs of pixels."""
    size = len(pixels)
    for start, end in lines:
        steps = int(min(np.abs(end - start).max(), 4 * size)) + 2
        points = np.floor(start + (end - start) * np.linspace(0.0, 1.0, steps)[:, None]).astype(int)
        points = points[((points >= 0) & (points < size)).all(axis=1)]
        pixels[points[:, 1], points[:, 0]] = LINE
