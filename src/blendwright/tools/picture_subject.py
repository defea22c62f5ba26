"""What a picture is about: named objects, or everything that a render shows, as a box and the sphere around it. Reads only."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from blendwright.tool_api.scene import Kind, Scene
from blendwright.tools.bounding_boxes import BoundingBox, corners, everything
from blendwright.tools.mesh_data import Point

# Where there is nothing yet, a set-up is made for a cube of two metres at the origin.
NOTHING: tuple[Point, Point] = ((-1.0, -1.0, -1.0), (1.0, 1.0, 1.0))
SMALLEST = 1e-3


@dataclass(frozen=True, slots=True)
class Subject(BoundingBox):
    """A box along the world's axes, for what is to be shown or lit."""

    @property
    def radius(self) -> float:
        """Of the sphere around the box."""
        return max(SMALLEST, math.dist(self.low, self.high) / 2.0)


def subject_points(scene: Scene, names: Sequence[str], without: str) -> list[Point]:
    """Corners of the bounds of these objects; of all that a render shows but `without`, where none is named."""
    named = [scene.require(Kind.OBJECT, name) for name in names]
    points = corners(scene, named) if named else everything(scene, without)
    if not points:
        low, high = NOTHING
        points = [(x, y, z) for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])]
    return points


def subject(scene: Scene, names: Sequence[str], without: str) -> Subject:
    columns = list(zip(*subject_points(scene, names, without), strict=True))
    low_x, low_y, low_z = (min(column) for column in columns)
    high_x, high_y, high_z = (max(column) for column in columns)
    return Subject((low_x, low_y, low_z), (high_x, high_y, high_z))
