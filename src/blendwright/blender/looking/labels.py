"""Names in a picture: each beside the place that it is about, where it covers no other name as long as there is room."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from blendwright.blender.looking.lettering import Lettering

BACK, TEXT = (18, 18, 22), (255, 255, 255)
OPAQUE = 0.78
PADDING = 3
# Distances at which a free place is looked for, in heights of a label, and directions: above first, then around.
RINGS = (1.2, 2.2, 3.4, 5.0, 7.0)
DIRECTIONS = ((0, -1), (0, 1), (1, 0), (-1, 0), (1, -1), (-1, -1), (1, 1), (-1, 1))


@dataclass(frozen=True, slots=True)
class Label:
    """A name, the pixel that it is about (column, row), what it is about (left, top, right, bottom), and the colour of its mark."""

    text: str
    at: tuple[int, int]
    about: tuple[int, int, int, int]
    color: tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Box:
    left: int
    top: int
    width: int
    height: int

    def meets(self, other: "Box") -> bool:
        return (
            self.left < other.left + other.width
            and other.left < self.left + self.width
            and self.top < other.top + other.height
            and other.top < self.top + self.height
        )


def line_height(picture: Any) -> int:
    """How high letters are in a picture of this size, so that they can be read after it was shrunk a little."""
    return int(np.clip(len(picture) // 26, 13, 40))


def draw_labels(picture: Any, labels: Sequence[Label], letters: Lettering) -> None:
    """Draw into the picture: the first labels get the best places."""
    height, width = picture.shape[:2]
    lines = [letters.line(label.text, line_height(picture)) for label in labels]
    sizes = [(words.shape[1] + 2 * PADDING, words.shape[0] + 2 * PADDING) for words in lines]
    boxes = placed(labels, sizes, (width, height))
    for label, box in zip(labels, boxes, strict=True):
        _draw_leader(picture, label, box)
    for words, box in zip(lines, boxes, strict=True):
        draw_line(picture, words, box.left, box.top)


def placed(labels: Sequence[Label], sizes: Sequence[tuple[int, int]], room: tuple[int, int]) -> list[Box]:
    """Where labels of these sizes stand: each at the best place that none before it covers, or at its best where there is no such place."""
    taken: list[Box] = []
    for label, size in zip(labels, sizes, strict=True):
        places = list(_places(label, size, room))
        taken.append(next((box for box in places if not any(map(box.meets, taken))), places[0]))
    return taken


def draw_line(picture: Any, words: Any, left: int, top: int) -> None:
    """A line of text on a dark plate; what lies outside of the picture is cut off."""
    covered = np.pad(words, PADDING)[..., None]
    part = picture[top : top + len(covered), left : left + covered.shape[1]]
    covered = covered[: part.shape[0], : part.shape[1]]
    plate = part * (1.0 - OPAQUE) + np.array(BACK) * OPAQUE
    part[:] = np.rint(plate * (1.0 - covered) + np.array(TEXT) * covered)


def _places(label: Label, size: tuple[int, int], room: tuple[int, int]) -> Iterator[Box]:
    """Where a label may stand, the best place first: on what it is about where that is far larger, else above it, below it or beside it;
    then around it, farther and farther away."""
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
            yield _box((label.at[0] + across * (ring * high + wide / 2), label.at[1] + down * ring * high), size, room)


def _box(middle: tuple[float, float], size: tuple[int, int], room: tuple[int, int]) -> Box:
    left = int(np.clip(middle[0] - size[0] / 2, 0, max(room[0] - size[0], 0)))
    top = int(np.clip(middle[1] - size[1] / 2, 0, max(room[1] - size[1], 0)))
    return Box(left, top, *size)


def _draw_leader(picture: Any, label: Label, box: Box) -> None:
    """A line from a label to its place, and a mark there."""
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
