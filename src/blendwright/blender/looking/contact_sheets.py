"""Small pictures in rows, each above its name."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from blendwright.blender.looking.labels import draw_line
from blendwright.blender.looking.lettering import Lettering
from blendwright.blender.looking.png_files import on_background, read_picture, resized

SIDE, GAP, LINE = 128, 8, 14
BACK, FIELD = 24, 52
MOST_PIXELS = 4_000_000


def contact_sheet(pictures: Sequence[tuple[str | None, str]], letters: Lettering) -> Any:
    columns = max(1, min(6, math.ceil(math.sqrt(len(pictures) * 1.5))))
    rows = max(1, math.ceil(len(pictures) / columns))
    step = (SIDE + GAP, SIDE + LINE + 8 + GAP)
    whole = np.full((rows * step[1] + GAP, columns * step[0] + GAP, 3), BACK, np.uint8)
    for number, (file, name) in enumerate(pictures):
        left, top = GAP + number % columns * step[0], GAP + number // columns * step[1]
        whole[top : top + SIDE, left : left + SIDE] = _field(file)
        draw_line(whole[:, left : left + SIDE], letters.line(name, LINE), 0, top + SIDE)
    return whole


def _field(file: str | None) -> Any:
    """A picture in the middle of a square, in its own shape."""
    field = np.full((SIDE, SIDE, 3), FIELD, np.uint8)
    if file is None:
        pixels = None
    else:
        pixels = read_picture(file, MOST_PIXELS)
    if pixels is None:
        return field
    height, width = pixels.shape[:2]
    scale = SIDE / max(height, width)
    size = max(1, round(width * scale)), max(1, round(height * scale))
    left, top = (SIDE - size[0]) // 2, (SIDE - size[1]) // 2
    field[top : top + size[1], left : left + size[0]] = on_background(resized(pixels, *size), FIELD / 255)
    return field
