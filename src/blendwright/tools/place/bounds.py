"""Sides of a box along the world's axes."""

from __future__ import annotations

from typing import Literal

from blendwright.tools.bounding_boxes import BoundingBox

Edge = Literal["min", "center", "max"]
AXES = {"X": 0, "Y": 1, "Z": 2}


def side(bounds: BoundingBox, axis: int, edge: Edge) -> float:
    return {"min": bounds.low, "center": bounds.center, "max": bounds.high}[edge][axis]
