"""Names in a picture. Each is next to its object, and covers no other name if there is enough space."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from blendwright.blender.looking.lettering import Lettering

BACK, TEXT = (18, 18, 22), (255, 255, 255)
# The opacity of a plate.
OPAQUE = 0.78
# The border of a plate around its text, in pixels.
PADDING = 3
# Distances of the search for a free position, in heights of a label, and its directions: above first, then around.
RINGS = (1.2, 2.2, 3.4, 5.0, 7.0)
DIRECTIONS = ((0, -1), (0, 1), (1, 0), (-1, 0), (1, -1), (-1, -1), (1, 1), (-1, 1))


@dataclass(frozen=True, slots=True)
class Label:
    """A name, the pixel that it points to (column, row), the box of its object (left, top, right, bottom), and the colour of its mark."""

    text: str
    at: tuple[int, int]
    about: tuple[int, int, int, int]
    color: tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle in pixels."""

    left: int
    top: int
    width: int
    height: int

    def meets(self, other: "Box") -> bool:
        """Return True if two boxes overlap."""
        return (
            self.left < other.left + other.width
            and other.left < self.left + self.width
            and self.top < other.top + other.height
            and other.top < self.top + self.height
        )


def line_height(picture: Any) -> int:
    """Return the height of letters in pixels that stays readable when a picture of this size is reduced a little."""
    return int(np.clip(len(picture) // 26, 13, 40))


def draw_labels(picture: Any, labels: Sequence[Label], letters: Lettering) -> None:
    """Draw labels into the picture. Earlier labels get better positions."""
    height, width = picture.shape[:2]
    lines = [letters.line(label.text, line_height(picture)) for label in labels]
    sizes = [(line.shape[1] + 2 * PADDING, line.shape[0] + 2 * PADDING) for line in lines]
    boxes = placed(labels, sizes, (width, height))
    for label, box in zip(labels, boxes, strict=True):
        _draw_leader(picture, label, box)
    for words, box in zip(lines, boxes, strict=True):
        draw_line(picture, words, box.left, box.top)


def placed(labels: Sequence[Label], sizes: Sequence[tuple[int, int]], room: tuple[int, int]) -> list[Box]:
    """Return a box for each label: the best position that no earlier label covers, otherwise its best position."""
    boxes: list[Box] = []
    for label, size in zip(labels, sizes, strict=True):
        candidates = list(_places(label, size, room))
        boxes.append(_first_free(candidates, boxes))
    return boxes


def _first_free(candidates: Sequence[Box], boxes: Sequence[Box]) -> Box:
    """Return the first candidate that overlaps no box, otherwise the first candidate."""
    for candidate in candidates:
        if not any(map(candidate.meets, boxes)):
            return candidate
    return candidates[0]


def draw_line(picture: Any, words: Any, left: int, top: int) -> None:
    """Draw a line of text on a dark plate. Parts outside the picture are cut off."""
    covered = np.pad(words, PADDING)[..., None]
    part = picture[top : top + len(covered), left : left + covered.shape[1]]
    covered = covered[: part.shape[0], : part.shape[1]]
    plate = part * (1.0 - OPAQUE) + np.array(BACK) * OPAQUE
    part[:] = np.rint(plate * (1.0 - covered) + np.array(TEXT) * covered)


def _places(label: Label, size: tuple[int, int], room: tuple[int, int]) -> Iterator[Box]:
    """Yield the possible positions of a label, the best first.

    The best one is on the object if that is much larger. Then follow positions above, below and next to it, then rings around it.
    """
    left, top, right, bottom = label.about
    wide, high = size
    if right - left > 1.5 * wide and bottom - top > 3 * high:
        yield _box(label.at, size, room)
    for middle in (
        (label.at[0], top - high / 2 - 2),
        (label.at[0], bottom + high / 2 + 3),
        (right + wide / 2 + 3, label.at[1]),
        (left - wide / 2 - 3, label.at[1]),
    ):
        yield _box(middle, size, room)
    for ring in RINGS:
        for across, down in DIRECTIONS:
            x = label.at[0] + across * (ring * high + wide / 2)
            y = label.at[1] + down * ring * high
            yield _box((x, y), size, room)


def _box(middle: tuple[float, float], size: tuple[int, int], room: tuple[int, int]) -> Box:
    """Return a box of the given size around a point, moved into the picture."""
    x = int(np.clip(middle[0] - size[0] / 2, 0, max(room[0] - size[0], 0)))
    y = int(np.clip(middle[1] - size[1] / 2, 0, max(room[1] - size[1], 0)))
    return Box(x, y, *size)


def _draw_leader(picture: Any, label: Label, box: Box) -> None:
    """Draw a line from a label to its pixel, and a mark there."""
    column, row = label.at
    end = (
        float(np.clip(column, box.left, box.left + box.width - 1)),
        float(np.clip(row, box.top, box.top + box.height - 1)),
    )
    steps = int(max(abs(end[0] - column), abs(end[1] - row))) + 1
    columns = np.rint(np.linspace(column, end[0], steps)).astype(int)
    rows = np.rint(np.linspace(row, end[1], steps)).astype(int)
    for shift, color in ((1, BACK), (0, label.color)):
        picture[np.clip(rows + shift, 0, len(picture) - 1), np.clip(columns + shift, 0, picture.shape[1] - 1)] = color
    picture[max(row - 2, 0) : row + 3, max(column - 2, 0) : column + 3] = label.color
