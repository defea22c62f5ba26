"""Full masks: all pixels of an instance within the picture, including hidden ones. Rays test the pixels with a nearer object."""

from typing import Any

import numpy as np
import numpy.typing as npt
from mathutils import Vector
from mathutils.bvhtree import BVHTree

from blendwright.blender.annotating.camera_model import CameraModel
from blendwright.blender.annotating.instances import Appearance, Shape, Thing

Array = npt.NDArray[np.float64]
Pixels = npt.NDArray[np.bool_]

# The minimum determinant of a shape's matrix. Below it, the matrix has no usable inverse.
MIN_DETERMINANT = 1e-18


class FullMasks:
    """A finder of hidden pixels. It keeps one search tree per shape, because shapes may occur often."""

    def __init__(self, camera: CameraModel, depths: Any, something: Pixels) -> None:
        self._camera = camera
        self._depths = depths
        self._something = something
        self._trees: dict[int, Any] = {}

    def mask(self, thing: Thing, visible: Pixels) -> Pixels | None:
        """Return the visible and hidden pixels of an instance; None if the shape is unknown."""
        has_shape = not thing.appearances
        full = visible.copy()
        for appearance in thing.appearances:
            shape = appearance.shape
            if shape is None:
                continue
            has_shape = True
            if len(shape.triangles):
                self._add(appearance, shape, full)
        if has_shape:
            return full
        return None

    def _add(self, part: Appearance, shape: Shape, full: Pixels) -> None:
        """Add the hidden pixels of one appearance to `full`."""
        camera = self._camera
        if abs(np.linalg.det(part.matrix[:3, :3])) < MIN_DETERMINANT:
            return
        seen = camera.to_camera(shape.vertices @ part.matrix[:3, :3].T + part.matrix[:3, 3])
        farthest = seen[:, 2].max()
        if farthest <= camera.clip_start or seen[:, 2].min() >= camera.clip_end:
            return
        window = self._window(seen)
        # A pixel can only be hidden if it shows an object nearer than the shape's farthest point.
        hidden = self._something[window] & (self._depths[window] < farthest) & ~full[window]
        rows, columns = np.nonzero(hidden)
        if not len(rows):
            return
        rows, columns = rows + (window[0].start or 0), columns + (window[1].start or 0)

        back = np.linalg.inv(part.matrix)
        directions = camera.rays(rows, columns)
        starts = camera.matrix_world[:3, 3] + directions * camera.clip_start
        origins = starts @ back[:3, :3].T + back[:3, 3]
        local_directions = directions @ back[:3, :3].T
        lengths = np.linalg.norm(local_directions, axis=1) * (camera.clip_end - camera.clip_start)

        tree = self._tree(shape)
        hits: list[bool] = []
        for origin, direction, length in zip(
            origins.tolist(), local_directions.tolist(), lengths.tolist(), strict=True
        ):
            location = tree.ray_cast(Vector(origin), Vector(direction), length)[0]
            hits.append(location is not None)
        full[rows[hits], columns[hits]] = True

    def _window(self, seen: Array) -> tuple[slice, slice]:
        """Return the pixels around the points; the whole picture if a point is not in front of the camera."""
        camera = self._camera
        if seen[:, 2].min() <= camera.clip_start:
            return slice(0, camera.height), slice(0, camera.width)
        points = camera.project(seen)
        low = np.clip(np.floor(points.min(axis=0)), 0, (camera.width, camera.height)).astype(int)
        high = np.clip(np.ceil(points.max(axis=0)), 0, (camera.width, camera.height)).astype(int)
        return slice(int(low[1]), int(high[1])), slice(int(low[0]), int(high[0]))

    def _tree(self, shape: Shape) -> Any:
        if shape.key not in self._trees:
            self._trees[shape.key] = BVHTree.FromPolygons(
                shape.vertices.tolist(), shape.triangles.tolist(), all_triangles=True
            )
        return self._trees[shape.key]
