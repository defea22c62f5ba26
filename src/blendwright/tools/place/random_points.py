"""Chooses random points on a surface that keep a minimum distance from each other. Knows no scene."""

from __future__ import annotations

import itertools
import math
from random import Random

from blendwright.tool_api.scene import Point
from blendwright.tools.place.surface import Hit, Surface

# How many random points are tried for each requested one before the surface counts as full.
TRIES = 50

Cell = tuple[int, int, int]


def random_points(surface: Surface, random: Random, count: int, min_distance: float) -> list[Hit]:
    """Up to `count` points; fewer when no more were found a place."""
    hits: list[Hit] = []
    cells: dict[Cell, list[Point]] = {}
    for _ in range(count * TRIES):
        if len(hits) == count:
            break
        hit = surface.random_point(random)
        if min_distance > 0.0:
            cell = _cell(hit.point, min_distance)
            if _is_near(hit.point, cell, cells, min_distance):
                continue
            cells.setdefault(cell, []).append(hit.point)
        hits.append(hit)
    return hits


def _cell(point: Point, size: float) -> Cell:
    x, y, z = (math.floor(value / size) for value in point)
    return x, y, z


def _is_near(point: Point, cell: Cell, cells: dict[Cell, list[Point]], min_distance: float) -> bool:
    x, y, z = cell
    for i, j, k in itertools.product((-1, 0, 1), repeat=3):
        for other in cells.get((x + i, y + j, z + k), ()):
            if math.dist(point, other) < min_distance:
                return True
    return False
