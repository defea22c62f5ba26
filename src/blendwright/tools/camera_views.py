"""Looking at things: where a camera points, and from where points fill the frame.

Geometry on plain numbers; writes only through `stand`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from blendwright.tool_api import Block, Findings, Point, Scene
from blendwright.tools.checks import conflict
from blendwright.tools.world_space import nearly_equal_matrices, world_matrix

Axes = tuple[Point, Point, Point]

View = Literal["FRONT", "BACK", "RIGHT", "LEFT", "TOP", "BOTTOM", "ISO"]
# From where one looks: the direction from the objects to the camera.
FROM: dict[View, Point] = {
    "FRONT": (0.0, -1.0, 0.0),
    "BACK": (0.0, 1.0, 0.0),
    "RIGHT": (1.0, 0.0, 0.0),
    "LEFT": (-1.0, 0.0, 0.0),
    "TOP": (0.0, 0.0, 1.0),
    "BOTTOM": (0.0, 0.0, -1.0),
    "ISO": (1.0, -1.0, 0.8),
}
# Shorter than this is no direction.
NEAREST = 1e-6


def view_axes(towards_viewer: Point, roll_deg: float = 0.0) -> Axes:
    """The camera's X, Y and Z axes when it looks against a direction, with the world's Z up; roll turns it about its view."""
    back = _unit(towards_viewer)
    if math.hypot(back[0], back[1]) < NEAREST:
        # Straight down has north up, and straight up is what tilting further on from the horizon gives.
        right: Point = (1.0, 0.0, 0.0)
    else:
        right = _unit((-back[1], back[0], 0.0))
    up = _cross(back, right)
    if roll_deg == 0.0:
        return right, up, back
    cos, sin = math.cos(math.radians(roll_deg)), math.sin(math.radians(roll_deg))
    turned = _sum(_times(right, cos), _times(up, sin))
    return turned, _cross(back, turned), back


def mirrored_like(matrix: Block, axes: Axes) -> Axes:
    """Axes for an object that is mirrored where `matrix` is. It stays so on X, so that it looks and stands as the axes say."""
    if matrix.determinant() < 0.0:
        return (_times(axes[0], -1.0), *axes[1:])
    return axes


def view_matrix(scene: Scene, axes: Axes, position: Point, matrix: Block | None = None) -> Block:
    """A world matrix from axes and place, as large as `matrix` is along each of its own axes."""
    # Not `to_scale`, which takes a mirrored matrix for one that is turned over on all three axes.
    if matrix is not None:
        scale = [axis.length for axis in matrix.to_3x3().col]
    else:
        scale = [1.0, 1.0, 1.0]
    columns = [_times(axis, factor) for axis, factor in zip(axes, scale, strict=True)]
    rows = [[columns[0][i], columns[1][i], columns[2][i], position[i]] for i in range(3)]
    return scene.matrix([*rows, [0.0, 0.0, 0.0, 1.0]])


def zero_scale(scene: Scene, obj: Block, at: str) -> Findings:
    """A finding when an object has no size along an axis: it has no direction that it could be turned from."""
    if any(axis.length < NEAREST for axis in world_matrix(scene, obj).to_3x3().col):
        message = f"'{obj.name}' has a scale of zero, so it cannot be aimed"
        yield conflict(message, at, "Give it a scale first, with object.transform.")


def move_to(scene: Scene, obj: Block, matrix: Block) -> bool:
    """Bring an object to a world matrix; False when it stood there already.

    Nearly there is there: taking a matrix apart and together again moves the last digits, and a repeated call must change nothing."""
    if nearly_equal_matrices(matrix, world_matrix(scene, obj)):
        return False
    scene.set_world_matrix(obj, matrix)
    return True


@dataclass(frozen=True, slots=True)
class Frustum:
    """What a camera sees: the slopes of the frame's sides (perspective), or their offsets (orthographic)."""

    left: float
    right: float
    bottom: float
    top: float
    orthographic: bool

    def within(self, margin: float) -> Frustum:
        """With a free margin on each side, as a part of the frame."""
        across, along = (self.right - self.left) * margin, (self.top - self.bottom) * margin
        return Frustum(
            self.left + across, self.right - across, self.bottom + along, self.top - along, self.orthographic
        )


def frustum(scene: Scene, camera: Block) -> Frustum:
    """The frame of a camera at the scene's resolution."""
    frame = [tuple(corner) for corner in camera.view_frame(scene=scene.active)]
    orthographic = camera.type == "ORTHO"
    xs = [x if orthographic else x / -z for x, _, z in frame]
    ys = [y if orthographic else y / -z for _, y, z in frame]
    return Frustum(min(xs), max(xs), min(ys), max(ys), orthographic)


@dataclass(frozen=True, slots=True)
class Standpoint:
    """Where a camera stands, how far it must see, and how much wider an orthographic one must become."""

    position: Point
    farthest: float
    widen: float = 1.0


def standpoint(points: Sequence[Point], axes: Axes, sight: Frustum, nearest: float) -> Standpoint:
    """The place from where all points are just inside the frame, none nearer than `nearest`."""
    local = [tuple(_dot(point, axis) for axis in axes) for point in points]
    low, high = ([pick(values) for values in zip(*local, strict=True)] for pick in (min, max))
    if sight.orthographic:
        widen = (
            max((high[0] - low[0]) / (sight.right - sight.left), (high[1] - low[1]) / (sight.top - sight.bottom)) or 1.0
        )
        x = (low[0] + high[0] - (sight.left + sight.right) * widen) / 2.0
        y = (low[1] + high[1] - (sight.bottom + sight.top) * widen) / 2.0
        z = high[2] + max(nearest, high[2] - low[2])
        return Standpoint(_world(axes, (x, y, z)), z - low[2], widen)
    # A point is left of the right side when x + right * z <= camera x + right * camera z; the tightest such point counts.
    most_right = max(x + sight.right * z for x, _, z in local)
    most_left = min(x + sight.left * z for x, _, z in local)
    most_up = max(y + sight.top * z for _, y, z in local)
    most_down = min(y + sight.bottom * z for _, y, z in local)
    z = max(
        (most_right - most_left) / (sight.right - sight.left),
        (most_up - most_down) / (sight.top - sight.bottom),
        high[2] + nearest,
    )
    x = (most_right + most_left - (sight.right + sight.left) * z) / 2.0
    y = (most_up + most_down - (sight.top + sight.bottom) * z) / 2.0
    return Standpoint(_world(axes, (x, y, z)), z - low[2])


def _world(axes: Axes, local: Point) -> Point:
    return _sum(_sum(_times(axes[0], local[0]), _times(axes[1], local[1])), _times(axes[2], local[2]))


def _dot(one: Point, other: Point) -> float:
    return one[0] * other[0] + one[1] * other[1] + one[2] * other[2]


def _cross(one: Point, other: Point) -> Point:
    return (
        one[1] * other[2] - one[2] * other[1],
        one[2] * other[0] - one[0] * other[2],
        one[0] * other[1] - one[1] * other[0],
    )


def _sum(one: Point, other: Point) -> Point:
    return (one[0] + other[0], one[1] + other[1], one[2] + other[2])


def _times(vector: Point, factor: float) -> Point:
    return (vector[0] * factor, vector[1] * factor, vector[2] * factor)


def _unit(vector: Point) -> Point:
    return _times(vector, 1.0 / math.hypot(*vector))
