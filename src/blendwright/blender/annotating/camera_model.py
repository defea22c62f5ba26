"""A camera as a pinhole: from points in the world to places in its picture."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

# From a camera that looks along -Z with Y up (Blender) to one that looks along Z with Y down (OpenCV).
FLIP: Array = np.diag([1.0, -1.0, -1.0, 1.0])


@dataclass(frozen=True, slots=True)
class CameraModel:
    """`focal` and `center` are in pixels, the latter from the upper left corner of the picture. `matrix_world` is Blender's, without
    scale."""

    width: int
    height: int
    focal: tuple[float, float]
    center: tuple[float, float]
    matrix_world: Array
    clip_start: float
    clip_end: float

    @property
    def world_to_camera(self) -> Array:
        """To OpenCV's frame."""
        return FLIP @ np.linalg.inv(self.matrix_world)

    @property
    def intrinsics(self) -> Array:
        """With the middle of the first pixel at (0, 0), as OpenCV has it."""
        (fx, fy), (cx, cy) = self.focal, self.center
        return np.array([[fx, 0.0, cx - 0.5], [0.0, fy, cy - 0.5], [0.0, 0.0, 1.0]])

    def to_camera(self, points: Array) -> Array:
        matrix = self.world_to_camera
        return points @ matrix[:3, :3].T + matrix[:3, 3]

    def project(self, seen: Array) -> Array:
        """Places in the picture of points in the camera's frame, all of them before the camera."""
        return seen[:, :2] / seen[:, 2:] * np.array(self.focal) + np.array(self.center)

    def rays(self, rows: Any, columns: Any) -> Array:
        """Directions in the world, one metre deep, through the middles of pixels."""
        (fx, fy), (cx, cy) = self.focal, self.center
        seen = np.stack([(columns + 0.5 - cx) / fx, (rows + 0.5 - cy) / fy, np.ones(len(rows))], axis=1)
        return seen @ self.world_to_camera[:3, :3]


def camera_model(scene: Any, camera: Any, depsgraph: Any) -> CameraModel:
    """The model of a perspective camera at the resolution that is set now."""
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
    """A world matrix whose axes have a length of one, as a camera sees by it."""
    made = matrix.copy()
    made[:3, :3] /= np.linalg.norm(made[:3, :3], axis=0)
    return made
