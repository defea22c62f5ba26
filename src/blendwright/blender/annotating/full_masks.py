"""All of a thing that is within the picture, whatever stands before it: rays through the pixels where something nearer is seen."""

from typing import Any

import numpy as np
import numpy.typing as npt
from mathutils import Vector
from mathutils.bvhtree import BVHTree

from blendwright.blender.annotating.camera_model import CameraModel
from blendwright.blender.annotating.instances import Appearance, Shape, Thing

Array = npt.NDArray[np.float64]
Pixels = npt.NDArray[np.bool_]

# Flatter than this there is no way back from the world to the space of a shape.
FLATTEST = 1e-18


class FullMasks:
    """Finds what is hidden; shapes that occur often are sorted once."""

    def __init__(self, camera: CameraModel, depths: Any, something: Pixels) -> None:
        self._camera = camera
        self._depths = depths
        self._something = something
        self._trees: dict[int, Any] = {}

    def mask(self, thing: Thing, visible: Pixels) -> Pixels | None:
        """None where its shape is not known."""
        shaped = [each for each in thing.appearances if each.shape is not None]
        if len(shaped) < len(thing.appearances) and not shaped:
            return None
        full = visible.copy()
        for each in shaped:
            if each.shape is not None and len(each.shape.triangles):
                self._add(each, each.shape, full)
        return full

    def _add(self, part: Appearance, shape: Shape, full: Pixels) -> None:
        camera = self._camera
        if abs(np.linalg.det(part.matrix[:3, :3])) < FLATTEST:
            return
        seen = camera.to_camera(shape.vertices @ part.matrix[:3, :3].T + part.matrix[:3, 3])
        farthest = seen[:, 2].max()
        if farthest <= camera.clip_start or seen[:, 2].min() >= camera.clip_end:
            return
        window = self._window(seen)
        # What would be seen there is hidden by something nearer, or it is seen.
        hidden = self._something[window] & (self._depths[window] < farthest) & ~full[window]
        rows, columns = np.nonzero(hidden)
        if not len(rows):
            return
        rows, columns = rows + (window[0].start or 0), columns + (window[1].start or 0)
        back = np.linalg.inv(part.matrix)
        directions = camera.rays(rows, columns)
        starts = camera.matrix_world[:3, 3] + directions * camera.clip_start
        origins = starts @ back[:3, :3].T + back[:3, 3]
        ways = directions @ back[:3, :3].T
        lengths = np.linalg.norm(ways, axis=1) * (camera.clip_end - camera.clip_start)
        tree = self._tree(shape)
        met = [
            tree.ray_cast(Vector(origin), Vector(way), length)[0] is not None
            for origin, way, length in zip(origins.tolist(), ways.tolist(), lengths.tolist(), strict=True)
        ]
        full[rows[met], columns[met]] = True

    def _window(self, seen: Array) -> tuple[slice, slice]:
        """The pixels between the outermost points, all of them where one is not before the camera."""
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
