"""Boxes of a thing: of pixels, of its points in the picture, and in space."""

from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from blendwright.blender.annotating.camera_model import CameraModel

Array = npt.NDArray[np.float64]


def pixel_box(mask: Any) -> tuple[int, int, int, int] | None:
    """Left, top, width and height of the pixels of a mask; None without any."""
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    if not len(rows):
        return None
    left, top = int(columns[0]), int(rows[0])
    return left, top, int(columns[-1]) - left + 1, int(rows[-1]) - top + 1


def run_lengths(mask: Any) -> list[int]:
    """The lengths of runs down the columns, those of what is not in the mask first."""
    flat = np.concatenate([[False], mask.ravel(order="F")])
    ends = np.flatnonzero(flat[1:] != flat[:-1])
    return np.diff(np.concatenate([[0], ends, [mask.size]])).tolist()


def projected_box(seen: Array, camera: CameraModel) -> tuple[float, float, float, float] | None:
    """Left, top, width and height of points in the camera's frame; None where one is not before the camera."""
    if not len(seen) or seen[:, 2].min() <= 0.0:
        return None
    points = camera.project(seen)
    (left, top), (right, bottom) = points.min(axis=0).tolist(), points.max(axis=0).tolist()
    return left, top, right - left, bottom - top


def is_truncated(seen: Array, camera: CameraModel) -> bool | None:
    """Whether some points are outside of the picture; None without points."""
    if not len(seen):
        return None
    if seen[:, 2].min() <= 0.0:
        return True
    points = camera.project(seen)
    return bool((points < 0.0).any() or (points > (camera.width, camera.height)).any())


def box_3d(matrix: Array, vertices: Array, camera: CameraModel) -> dict[str, Any] | None:
    """The box around points in the world, along the axes of a matrix made square to each other."""
    if not len(vertices):
        return None
    axes = square_axes(matrix[:3, :3])
    own = vertices @ axes
    low, high = own.min(axis=0), own.max(axis=0)
    center = axes @ ((low + high) / 2)
    corners = np.array(
        [[(low, high)[part][axis] for axis, part in enumerate(side)] for side in product((0, 1), repeat=3)]
    )
    seen = camera.to_camera(corners @ axes.T)
    turned = camera.world_to_camera[:3, :3] @ axes
    return {
        "size": (high - low).tolist(),
        "world": {"center": center.tolist(), "rotation": axes.tolist()},
        "camera": {"center": camera.to_camera(center[None])[0].tolist(), "rotation": turned.tolist()},
        "corners": None if seen[:, 2].min() <= 0.0 else np.column_stack([camera.project(seen), seen[:, 2]]).tolist(),
    }


def square_axes(matrix: Array) -> Array:
    """The rotation nearest to what a matrix does to X, then to Y: scale, mirroring and shear are left out."""
    x = _unit(matrix[:, 0], np.array([1.0, 0.0, 0.0]))
    other = matrix[:, 1] - x * (x @ matrix[:, 1])
    spare = np.eye(3)[int(np.abs(x).argmin())]
    y = _unit(other, _unit(spare - x * (x @ spare), spare))
    return np.column_stack([x, y, np.cross(x, y)])


def _unit(vector: Array, otherwise: Array) -> Array:
    length = np.linalg.norm(vector)
    if length > 1e-12:
        return vector / length
    return otherwise
