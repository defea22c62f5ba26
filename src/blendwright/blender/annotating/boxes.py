"""Boxes around an instance: around its pixels, around its points in the picture, and in space."""

from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from blendwright.blender.annotating.camera_model import CameraModel

Array = npt.NDArray[np.float64]


def pixel_box(mask: Any) -> tuple[int, int, int, int] | None:
    """Return left, top, width and height of the pixels in a mask; None for an empty mask."""
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    if not len(rows):
        return None
    left, top = int(columns[0]), int(rows[0])
    return left, top, int(columns[-1]) - left + 1, int(rows[-1]) - top + 1


def run_lengths(mask: Any) -> list[int]:
    """Return the lengths of runs down the columns of a mask. The first run is outside the mask and may be empty."""
    flat = np.concatenate([[False], mask.ravel(order="F")])
    ends = np.flatnonzero(flat[1:] != flat[:-1])
    return np.diff(np.concatenate([[0], ends, [mask.size]])).tolist()


def projected_box(seen: Array, camera: CameraModel) -> tuple[float, float, float, float] | None:
    """Return left, top, width and height in pixels of points in the camera's frame; None if a point is not in front of the camera."""
    if not len(seen) or seen[:, 2].min() <= 0.0:
        return None
    points = camera.project(seen)
    (left, top), (right, bottom) = points.min(axis=0).tolist(), points.max(axis=0).tolist()
    return left, top, right - left, bottom - top


def is_truncated(seen: Array, camera: CameraModel) -> bool | None:
    """Return True if some points are outside the picture; None without points."""
    if not len(seen):
        return None
    if seen[:, 2].min() <= 0.0:
        return True
    points = camera.project(seen)
    return bool((points < 0.0).any() or (points > (camera.width, camera.height)).any())


def box_3d(matrix: Array, vertices: Array, camera: CameraModel) -> dict[str, Any] | None:
    """Return the box around points in the world, aligned to the orthogonalized axes of a matrix; None without points."""
    if not len(vertices):
        return None
    axes = square_axes(matrix[:3, :3])
    local = vertices @ axes
    low, high = local.min(axis=0), local.max(axis=0)
    center = axes @ ((low + high) / 2)
    corners: Array = np.array(list(product(*zip(low.tolist(), high.tolist(), strict=True))))
    seen = camera.to_camera(corners @ axes.T)
    turned = camera.world_to_camera[:3, :3] @ axes

    projected = None
    if seen[:, 2].min() > 0.0:
        projected = np.column_stack([camera.project(seen), seen[:, 2]]).tolist()
    return {
        "size": (high - low).tolist(),
        "world": {"center": center.tolist(), "rotation": axes.tolist()},
        "camera": {"center": camera.to_camera(center[None])[0].tolist(), "rotation": turned.tolist()},
        "corners": projected,
    }


def square_axes(matrix: Array) -> Array:
    """Return the rotation that is nearest to a matrix for X, then for Y. It ignores scale, mirroring and shear."""
    x = _unit(matrix[:, 0], np.array([1.0, 0.0, 0.0]))
    second = matrix[:, 1] - x * (x @ matrix[:, 1])
    spare = np.eye(3)[int(np.abs(x).argmin())]
    y = _unit(second, _unit(spare - x * (x @ spare), spare))
    return np.column_stack([x, y, np.cross(x, y)])


def _unit(vector: Array, otherwise: Array) -> Array:
    """Return a vector with length 1, or `otherwise` if the vector has almost no length."""
    length = np.linalg.norm(vector)
    if length > 1e-12:
        return vector / length
    return otherwise
