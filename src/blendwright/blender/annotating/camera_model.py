"""A pinhole model of a camera: it maps points in the world to positions in the picture."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

# Converts from a camera along -Z with Y up (Blender) to a camera along Z with Y down (OpenCV).
FLIP: Array = np.diag([1.0, -1.0, -1.0, 1.0])


@dataclass(frozen=True, slots=True)
class CameraModel:
    """A pinhole camera. `focal` and `center` are in pixels; `center` counts from the upper left corner of the picture.

    `matrix_world` is Blender's matrix without scale. Clip distances are in metres.
    """

    width: int
    height: int
    focal: tuple[float, float]
    center: tuple[float, float]
    matrix_world: Array
    clip_start: float
    clip_end: float

    @property
    def world_to_camera(self) -> Array:
        """Matrix from the world to OpenCV's camera frame."""
        return FLIP @ np.linalg.inv(self.matrix_world)

    @property
    def intrinsics(self) -> Array:
        """The camera matrix in OpenCV's convention, with the middle of the first pixel at (0, 0)."""
        (fx, fy), (cx, cy) = self.focal, self.center
        return np.array([[fx, 0.0, cx - 0.5], [0.0, fy, cy - 0.5], [0.0, 0.0, 1.0]])

    def to_camera(self, points: Array) -> Array:
        """Return points of the world in the camera's frame."""
        matrix = self.world_to_camera
        return points @ matrix[:3, :3].T + matrix[:3, 3]

    def project(self, seen: Array) -> Array:
        """Return the positions in pixels of points in the camera's frame. All points must be in front of the camera."""
        return seen[:, :2] / seen[:, 2:] * np.array(self.focal) + np.array(self.center)

    def rays(self, rows: Any, columns: Any) -> Array:
        """Return directions in the world through the middles of pixels. Each is one metre long along the camera's axis."""
        (fx, fy), (cx, cy) = self.focal, self.center
        seen = np.stack([(columns + 0.5 - cx) / fx, (rows + 0.5 - cy) / fy, np.ones(len(rows))], axis=1)
        return seen @ self.world_to_camera[:3, :3]


def camera_model(scene: Any, camera: Any, depsgraph: Any) -> CameraModel:
    """Return the model of a perspective camera at the current resolution."""
    render = scene.render
    width = render.resolution_x * render.resolution_percentage // 100
    height = render.resolution_y * render.resolution_percentage // 100
    evaluated = camera.evaluated_get(depsgraph)
    aspects = {"scale_x": render.pixel_aspect_x, "scale_y": render.pixel_aspect_y}
    window: Array = np.array(evaluated.calc_matrix_camera(depsgraph, x=width, y=height, **aspects), dtype=np.float64)
    return CameraModel(
        width=width,
        height=height,
        focal=(window[0, 0] * width / 2, window[1, 1] * height / 2),
        center=((1 - window[0, 2]) * width / 2, (1 + window[1, 2]) * height / 2),
        matrix_world=without_scale(np.array(evaluated.matrix_world, dtype=np.float64)),
        clip_start=evaluated.data.clip_start,
        clip_end=evaluated.data.clip_end,
    )


def without_scale(matrix: Array) -> Array:
    """Return a world matrix with axes of length one. A camera ignores scale."""
    unscaled = matrix.copy()
    unscaled[:3, :3] /= np.linalg.norm(unscaled[:3, :3], axis=0)
    return unscaled
