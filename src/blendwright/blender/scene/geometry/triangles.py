"""The triangles of a surface in world space, and intersection tests for them."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from mathutils.bvhtree import BVHTree

from blendwright.blender.scene.geometry.mesh_arrays import MeshArrays

Floats = npt.NDArray[np.float64]

# The number of consecutive triangles that share a bounding box. Consecutive triangles are mostly near each other.
BLOCK = 256
# Added to lengths before a division, so that it never divides by zero.
TINY = 1e-30
# The corners of a face that form its first triangle, and the second one of a quadrilateral.
FIRST, SECOND = np.array([[0], [1], [2]]), np.array([[0], [2], [3]])


# The number of evenly spread rays that test whether triangles surround a point, and the turn in radians from one to the next.
RAYS = 64
GOLDEN_ANGLE = math.pi * (3.0 - math.sqrt(5.0))


class Triangles:
    """The corners of triangles, with bounding boxes around blocks of them."""

    def __init__(self, corners: Floats) -> None:
        self._corners = corners
        a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
        self._lows, self._highs = np.minimum(np.minimum(a, b), c), np.maximum(np.maximum(a, b), c)
        starts = np.arange(0, len(corners), BLOCK)
        self._block_lows = np.minimum.reduceat(self._lows, starts, axis=0)
        self._block_highs = np.maximum.reduceat(self._highs, starts, axis=0)
        if len(starts) == 1:
            self.low, self.high = self._block_lows[0], self._block_highs[0]
        else:
            self.low, self.high = self._block_lows.min(axis=0), self._block_highs.max(axis=0)

    @property
    def corners(self) -> Floats:
        return self._corners

    def within(self, low: Floats, high: Floats) -> Floats:
        """Return the corners of the triangles whose bounding box overlaps the given box."""
        if len(self._block_lows) == 1:
            return self._corners[_reach(self._lows, self._highs, low, high)]
        blocks = np.flatnonzero(_reach(self._block_lows, self._block_highs, low, high))
        indices = (blocks[:, None] * BLOCK + np.arange(BLOCK)).ravel()
        indices = indices[indices < len(self._corners)]
        return self._corners[indices[_reach(self._lows[indices], self._highs[indices], low, high)]]


def triangles_of(mesh: Any, arrays: MeshArrays, points: Floats) -> Triangles | None:
    """Return the triangles of a mesh whose vertices have these positions in world space; None if the mesh has no faces."""
    if not arrays.largest:
        return None
    if arrays.largest <= 4:
        # Computing these triangles here is faster, because reading Blender's own takes longer than all other work.
        corners = (arrays.starts + FIRST).T
        if arrays.largest == 4:
            corners = np.concatenate([corners, (arrays.starts[arrays.sizes == 4] + SECOND).T])
        indices = arrays.corner_vertices[corners]
    else:
        mesh.calc_loop_triangles()
        flat = np.empty(len(mesh.loop_triangles) * 3, np.int32)
        mesh.loop_triangles.foreach_get("vertices", flat)
        indices = flat.reshape(-1, 3)
    return Triangles(points[indices])


def meet(one: Triangles, other: Triangles, growth: float) -> bool:
    """Return True if triangles of both surfaces intersect.

    A positive `growth` enlarges the triangles of `one` by it and moves copies of them to both sides by it.
    A negative `growth` shrinks the triangles of both and moves them inward."""
    margin = max(growth, 0.0)
    low, high = np.maximum(one.low, other.low) - margin, np.minimum(one.high, other.high) + margin
    if (low > high).any():
        return False
    first, second = one.within(low, high), other.within(low, high)
    if not len(first) or not len(second):
        return False
    if growth >= 0.0:
        first = _grown(first, growth, np.array([growth, -growth]))
    else:
        inward = np.array([growth])
        first, second = _grown(first, growth, inward), _grown(second, growth, inward)
    return bool(_tree(first).overlap(_tree(second)))


def all_around(triangles: Triangles, point: tuple[float, float, float]) -> bool:
    """Return True if every one of RAYS evenly spread rays from the point hits a triangle."""
    tree = _tree(triangles.corners)
    return all(tree.ray_cast(point, direction)[0] is not None for direction in _directions())


def _directions() -> Iterator[tuple[float, float, float]]:
    for number in range(RAYS):
        z = 1.0 - (2.0 * number + 1.0) / RAYS
        across, angle = math.sqrt(1.0 - z * z), GOLDEN_ANGLE * number
        yield across * math.cos(angle), across * math.sin(angle), z


def _reach(lows: Floats, highs: Floats, low: Floats, high: Floats) -> npt.NDArray[np.bool_]:
    inside: npt.NDArray[np.bool_] = (lows <= high) & (highs >= low)
    return inside[:, 0] & inside[:, 1] & inside[:, 2]


def _grown(corners: Floats, wider: float, shifts: Floats) -> Floats:
    """Move the corners of each triangle away from its center by `wider`, and return copies shifted along the normal by each of `shifts`."""
    outward = corners - np.einsum("ijk->ik", corners)[:, None, :] / 3.0
    lengths = np.sqrt(np.einsum("ijk,ijk->ij", outward, outward))[:, :, None] + TINY
    # A negative `wider` shrinks a small triangle to half its size at most, so that it never turns over.
    wide = corners + outward * (np.maximum(wider, lengths * -0.5) / lengths)
    ax, ay, az = (outward[:, 1] - outward[:, 0]).T
    bx, by, bz = (outward[:, 2] - outward[:, 0]).T
    normals = np.array((ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx)).T
    normals = normals / (np.sqrt(np.einsum("ij,ij->i", normals, normals))[:, None] + TINY)
    return (wide[None] + shifts[:, None, None, None] * normals[None, :, None, :]).reshape(-1, 3, 3)


def _tree(corners: Floats) -> BVHTree:
    points = corners.reshape(-1, 3)
    triangles = np.arange(len(points)).reshape(-1, 3)
    return BVHTree.FromPolygons(points.tolist(), triangles.tolist(), all_triangles=True)
