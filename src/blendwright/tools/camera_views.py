"""Camera geometry: viewing directions, frustums, and positions from which points fill the frame.

Works on plain numbers. Only `move_to` writes to the scene.
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
# View -> the direction from the objects to the camera.
FROM: dict[View, Point] = {
    "FRONT": (0.0, -1.0, 0.0),
    "BACK": (0.0, 1.0, 0.0),
    "RIGHT": (1.0, 0.0, 0.0),
    "LEFT": (-1.0, 0.0, 0.0),
    "TOP": (0.0, 0.0, 1.0),
    "BOTTOM": (0.0, 0.0, -1.0),
    "ISO": (1.0, -1.0, 0.8),
}
# Shortest vector in metres that has a usable direction.
MIN_DIRECTION_LENGTH = 1e-6


def view_axes(towards_viewer: Point, roll_deg: float = 0.0) -> Axes:
    """Return the X, Y and Z axes of a camera that looks against `towards_viewer`, with the world's Z up.

    `roll_deg` then rotates the camera about its viewing direction.
    """
    back = _unit(towards_viewer)
    if math.hypot(back[0], back[1]) < MIN_DIRECTION_LENGTH:
        # Looking straight down, north is up. Looking straight up continues the tilt from the horizon.
        right: Point = (1.0, 0.0, 0.0)
    else:
        right = _unit((-back[1], back[0], 0.0))
    up = _cross(back, right)
    if roll_deg == 0.0:
        return right, up, back
    cos, sin = math.cos(math.radians(roll_deg)), math.sin(math.radians(roll_deg))
    rolled_right = _sum(_times(right, cos), _times(up, sin))
    return rolled_right, _cross(back, rolled_right), back


def mirrored_like(matrix: Block, axes: Axes) -> Axes:
    """Return `axes`, with X reversed if `matrix` mirrors.

    The camera then stays mirrored on X, but its viewing direction and up axis are those of `axes`.
    """
    if matrix.determinant() < 0.0:
        return (_times(axes[0], -1.0), *axes[1:])
    return axes


def view_matrix(scene: Scene, axes: Axes, position: Point, matrix: Block | None = None) -> Block:
    """Return a world matrix from axes and a position, with the scale of `matrix` along each local axis."""
    # `to_scale` would report a mirrored matrix as negative on all three axes.
    scale = [1.0, 1.0, 1.0]
    if matrix is not None:
        scale = [axis.length for axis in matrix.to_3x3().col]
    columns = [*map(_times, axes, scale), position]
    rows = list(zip(*columns, strict=True))
    return scene.matrix([*rows, [0.0, 0.0, 0.0, 1.0]])


def zero_scale(scene: Scene, obj: Block, at: str) -> Findings:
    """Yield a finding if an object has a scale of zero along an axis, because it then has no direction to rotate from."""
    if any(axis.length < MIN_DIRECTION_LENGTH for axis in world_matrix(scene, obj).to_3x3().col):
        message = f"'{obj.name}' has a scale of zero, so it cannot be aimed"
        yield conflict(message, at, "Give it a scale first, with object.transform.")


def move_to(scene: Scene, obj: Block, matrix: Block) -> bool:
    """Move an object to a world matrix. Return False if it was there already.

    The comparison is approximate: decomposing and composing a matrix changes its last digits, and a repeated call must
    change nothing.
    """
    if nearly_equal_matrices(matrix, world_matrix(scene, obj)):
        return False
    scene.set_world_matrix(obj, matrix)
    return True


@dataclass(frozen=True, slots=True)
class Frustum:
    """A camera's frame: the slopes of its sides (perspective), or their offsets in metres (orthographic)."""

    left: float
    right: float
    bottom: float
    top: float
    orthographic: bool

    def within(self, margin: float) -> Frustum:
        """Return this frustum with a free margin on each side, given as a fraction of the frame."""
        margin_x, margin_y = (self.right - self.left) * margin, (self.top - self.bottom) * margin
        return Frustum(
            self.left + margin_x, self.right - margin_x, self.bottom + margin_y, self.top - margin_y, self.orthographic
        )


def frustum(scene: Scene, camera: Block) -> Frustum:
    """Return the frame of a camera at the scene's resolution."""
    is_orthographic = camera.type == "ORTHO"
    xs: list[float] = []
    ys: list[float] = []
    for x, y, z in camera.view_frame(scene=scene.active):
        depth = -z
        if is_orthographic:
            depth = 1.0
        xs.append(x / depth)
        ys.append(y / depth)
    return Frustum(min(xs), max(xs), min(ys), max(ys), is_orthographic)


@dataclass(frozen=True, slots=True)
class Standpoint:
    """A camera position, the largest depth it must see, and the factor by which an orthographic frame must widen."""

    position: Point
    farthest: float
    widen: float = 1.0


def standpoint(points: Sequence[Point], axes: Axes, sight: Frustum, nearest: float) -> Standpoint:
    """Return the closest position from which all points are inside the frame and none is nearer than `nearest`."""
    local = [(_dot(point, axes[0]), _dot(point, axes[1]), _dot(point, axes[2])) for point in points]
    columns = list(zip(*local, strict=True))
    low, high = list(map(min, columns)), list(map(max, columns))
    width, height = sight.right - sight.left, sight.top - sight.bottom

    if sight.orthographic:
        widen = max((high[0] - low[0]) / width, (high[1] - low[1]) / height) or 1.0
        x = (low[0] + high[0] - (sight.left + sight.right) * widen) / 2.0
        y = (low[1] + high[1] - (sight.bottom + sight.top) * widen) / 2.0
        z = high[2] + max(nearest, high[2] - low[2])
        return Standpoint(_world(axes, (x, y, z)), z - low[2], widen)

    # A point is left of the right side if x + right * z <= camera x + right * camera z. The extreme point determines
    # it.
    most_right = max(x + sight.right * z for x, _, z in local)
    most_left = min(x + sight.left * z for x, _, z in local)
    most_up = max(y + sight.top * z for _, y, z in local)
    most_down = min(y + sight.bottom * z for _, y, z in local)
    z = max((most_right - most_left) / width, (most_up - most_down) / height, high[2] + nearest)
    x = (most_right + most_left - (sight.right + sight.left) * z) / 2.0
    y = (most_up + most_down - (sight.top + sight.bottom) * z) / 2.0
    return Standpoint(_world(axes, (x, y, z)), z - low[2])


def _world(axes: Axes, local: Point) -> Point:
    return _sum(_sum(_times(axes[0], local[0]), _times(axes[1], local[1])), _times(axes[2], local[2]))


def _dot(a: Point, b: Point) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def _cross(a: Point, b: Point) -> Point:
    return (
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    )


def _sum(a: Point, b: Point) -> Point:
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


def _times(vector: Point, factor: float) -> Point:
    return (vector[0] * factor, vector[1] * factor, vector[2] * factor)


def _unit(vector: Point) -> Point:
    return _times(vector, 1.0 / math.hypot(*vector))
