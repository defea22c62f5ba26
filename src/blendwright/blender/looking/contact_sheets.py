"""Contact sheets: small pictures in rows, each above its name."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from blendwright.blender.looking.labels import draw_line
from blendwright.blender.looking.lettering import Lettering
from blendwright.blender.looking.png_files import on_background, read_picture, resized

# Sizes in pixels: the side of a picture, the gap between pictures, the height of a name.
SIDE, GAP, LINE = 128, 8, 14
# Grey values of the sheet and of an empty square.
BACK, FIELD = 24, 52
# The maximum number of pixels of a picture that is read.
MAX_PIXELS = 4_000_000


def contact_sheet(pictures: Sequence[tuple[str | None, str]], letters: Lettering) -> Any:
    """Return the pixels of a sheet. Each picture is a pair of a file, or None, and a name."""
    columns = max(1, min(6, math.ceil(math.sqrt(len(pictures) * 1.5))))
    rows = max(1, math.ceil(len(pictures) / columns))
    step = (SIDE + GAP, SIDE + LINE + 8 + GAP)
    pixels = np.full((rows * step[1] + GAP, columns * step[0] + GAP, 3), BACK, np.uint8)
    for number, (file, name) in enumerate(pictures):
        x = GAP + number % columns * step[0]
        y = GAP + number // columns * step[1]
        pixels[y : y + SIDE, x : x + SIDE] = _field(file)
        draw_line(pixels[:, x : x + SIDE], letters.line(name, LINE), 0, y + SIDE)
    return pixels


def _field(file: str | None) -> Any:
    """Return a square with a picture in its middle, in its proportions. It stays empty without a readable file."""
    field = np.full((SIDE, SIDE, 3), FIELD, np.uint8)
    if file is None:
        pixels = None
    else:
        pixels = read_picture(file, MAX_PIXELS)
    if pixels is None:
        return field
    height, width = pixels.shape[:2]
    scale = SIDE / max(height, width)
    size = max(1, round(width * scale)), max(1, round(height * scale))
    x, y = (SIDE - size[0]) // 2, (SIDE - size[1]) // 2
    field[y : y + size[1], x : x + size[0]] = on_background(resized(pixels, *size), FIELD / 255)
    return field
