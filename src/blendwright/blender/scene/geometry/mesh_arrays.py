"""Many meshes as arrays, and what is wrong with each: all in a few operations, since one at a time costs more than the work itself."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from blendwright.tool_api.surfaces import SurfaceFacts

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]
Indices = npt.NDArray[np.int64]
Integers = npt.NDArray[np.integer[Any]]

# A face is without area below this part of the square of the mesh's size: single precision has no more digits.
EMPTY_PART = 1e-12
FLAT_PART = 1e-6
# Meshes are read together up to so many corners, which take some hundred megabytes on the way.
MOST_CORNERS = 1_000_000


@dataclass(frozen=True, slots=True)
class MeshArrays:
    """One mesh. The corners of a face come in a row, from its start on."""

    positions: npt.NDArray[np.float32]
    corner_vertices: Ints
    starts: Ints
    sizes: Indices
    """How many corners each face has."""
    largest: int
    """Most corners of a face."""
    facts: SurfaceFacts

    @property
    def following(self) -> Indices:
        """The corner that comes next around its face."""
        return _following(self.starts, len(self.corner_vertices))


class MeshReader:
    """Collects meshes, which may go away once they are added, and tells of all of them at the end."""

    def __init__(self) -> None:
        self.read: list[MeshArrays] = []
        self._waiting: list[_Raw] = []
        self._corners = 0

    def add(self, mesh: Any) -> int:
        """The number under which it is found in `read` after `finish`."""
        raw = _Raw(mesh)
        self._waiting.append(raw)
        self._corners += len(raw.corner_vertices)
        number = len(self.read) + len(self._waiting) - 1
        if self._corners > MOST_CORNERS:
            self.finish()
        return number

    def finish(self) -> None:
        if self._waiting:
            self.read += _with_facts(self._waiting)
        self._waiting, self._corners = [], 0


class _Raw:
    """A mesh as Blender stores it; by attributes, since asking edges and corners one by one takes ten times as long."""

    def __init__(self, mesh: Any) -> None:
        attributes = mesh.attributes
        self.positions = np.empty(len(mesh.vertices) * 3, np.float32)
        self.ends = np.empty(len(mesh.edges) * 2, np.int32)
        corners = len(mesh.loops)
        self.corner_vertices, self.corner_edges = np.empty(corners, np.int32), np.empty(corners, np.int32)
        self.starts = np.empty(len(mesh.polygons), np.int32)
        if len(self.positions):
            attributes["position"].data.foreach_get("vector", self.positions)
        if len(self.ends):
            attributes[".edge_verts"].data.foreach_get("value", self.ends)
        if corners:
            attributes[".corner_vert"].data.foreach_get("value", self.corner_vertices)
            attributes[".corner_edge"].data.foreach_get("value", self.corner_edges)
            mesh.polygons.foreach_get("loop_start", self.starts)


def _with_facts(meshes: Sequence[_Raw]) -> list[MeshArrays]:
    number = len(meshes)
    vertices = np.array([len(mesh.positions) // 3 for mesh in meshes])
    edges = np.array([len(mesh.ends) // 2 for mesh in meshes])
    corners = np.array([len(mesh.corner_vertices) for mesh in meshes])
    faces = np.array([len(mesh.starts) for mesh in meshes])
    positions = np.concatenate([mesh.positions for mesh in meshes]).reshape(-1, 3)
    of_vertex, of_edge, of_face = (np.repeat(np.arange(number), counts) for counts in (vertices, edges, faces))
    ends = np.concatenate([mesh.ends for mesh in meshes]) + np.repeat(_before(vertices), edges * 2)
    corner_vertices = np.concatenate([mesh.corner_vertices for mesh in meshes]) + np.repeat(_before(vertices), corners)
    corner_edges = np.concatenate([mesh.corner_edges for mesh in meshes]) + np.repeat(_before(edges), corners)
    starts = np.concatenate([mesh.starts for mesh in meshes]) + np.repeat(_before(corners), faces)

    def count(where: npt.NDArray[np.bool_], owner: Indices) -> list[int]:
        # Most scenes have nothing of a sort that is counted here, which is seen sooner than counted.
        if where.any():
            return np.bincount(owner[where], minlength=number).tolist()
        return [0] * number

    uses = np.bincount(corner_edges, minlength=len(of_edge))
    along = np.bincount(corner_edges[ends[corner_edges * 2] == corner_vertices], minlength=len(of_edge))
    loose, single, crowded = (count(where, of_edge) for where in (uses == 0, uses == 1, uses > 2))
    flipped = count((uses == 2) & (along != 1), of_edge)
    alone = count(np.bincount(ends, minlength=len(of_vertex)) == 0, of_vertex)

    low, high = _bounds(positions, vertices)
    extents = high - low
    sizes = extents.max(axis=1)
    # From a corner of the mesh's own box: far from the origin the terms would cancel each other's digits away. By columns, which are
    # read in a row.
    near = [positions[:, axis] - low[:, axis][of_vertex] for axis in range(3)]
    face_sizes = np.diff(starts, append=len(corner_vertices))
    areas = area_vectors(near, corner_vertices, starts, face_sizes)
    lengths = np.sqrt(areas[0] * areas[0] + areas[1] * areas[1] + areas[2] * areas[2])
    empty = count(lengths <= (EMPTY_PART * sizes * sizes)[of_face], of_face)
    origins = corner_vertices[starts]
    inside = sum(area * column[origins] for area, column in zip(areas, near, strict=True))
    volumes = (np.bincount(of_face, weights=inside, minlength=number) / 3.0).tolist()
    flat = (extents.min(axis=1) <= FLAT_PART * sizes).tolist()
    boxes = _boxes(near, extents, of_vertex, (vertices == 8) & (faces == 6))
    lows, highs = low.tolist(), high.tolist()

    most = np.zeros(number, np.int64)
    filled = faces > 0
    if filled.any():
        most[filled] = np.maximum.reduceat(face_sizes, _before(faces)[filled])
    first_faces = _before(faces)

    arrays: list[MeshArrays] = []
    for index, mesh in enumerate(meshes):
        whole = bool(faces[index]) and not (loose[index] or single[index] or crowded[index] or flipped[index])
        facts = SurfaceFacts(
            vertices=int(vertices[index]),
            edges=int(edges[index]),
            faces=int(faces[index]),
            triangles=int(corners[index] - 2 * faces[index]),
            loose_vertices=alone[index],
            loose_edges=loose[index],
            open_edges=single[index],
            crowded_edges=crowded[index],
            flipped_edges=flipped[index],
            empty_faces=empty[index],
            flat=flat[index],
            is_box=whole and boxes[index],
            volume=volumes[index] if whole else None,
            low=tuple(lows[index]),
            high=tuple(highs[index]),
        )
        own_sizes = face_sizes[first_faces[index] : first_faces[index] + faces[index]]
        points = mesh.positions.reshape(-1, 3)
        arrays.append(MeshArrays(points, mesh.corner_vertices, mesh.starts, own_sizes, int(most[index]), facts))
    return arrays


def _before(counts: Indices) -> Indices:
    """How many there are in all that come before each."""
    return np.cumsum(counts) - counts


def _bounds(positions: npt.NDArray[np.float32], counts: Indices) -> tuple[Floats, Floats]:
    low, high = np.zeros((len(counts), 3)), np.zeros((len(counts), 3))
    filled = counts > 0
    starts = _before(counts)[filled]
    if len(starts):
        low[filled] = np.minimum.reduceat(positions, starts, axis=0)
        high[filled] = np.maximum.reduceat(positions, starts, axis=0)
    return low, high


def _following(starts: Integers, corners: int) -> Indices:
    following = np.arange(1, corners + 1)
    if len(starts):
        following[np.append(starts[1:], corners) - 1] = starts
    return following


def area_vectors(places: Sequence[Floats], corner_vertices: Integers, starts: Integers, sizes: Indices) -> Floats:
    """For each face the direction it looks in, as long as its area: three rows. `places` are three columns, of all vertices."""
    fourth = np.where(sizes > 3, starts + 3, starts)
    a, b, c, d = (corner_vertices[corner] for corner in (starts, starts + 1, starts + 2, fourth))
    # Of a triangle or quadrilateral it is half the product of its diagonals.
    areas = np.array(_cross([axis[c] - axis[a] for axis in places], [axis[d] - axis[b] for axis in places])) / 2.0
    large = sizes > 4
    if large.any():
        corners = corner_vertices[np.repeat(large, sizes)]
        own = sizes[large]
        own_starts = _before(own)
        following = _following(own_starts, len(corners))
        points = [axis[corners] for axis in places]
        parts = _cross(points, [column[following] for column in points])
        areas[:, large] = [np.add.reduceat(part, own_starts) / 2.0 for part in parts]
    return areas


def _cross(one: Sequence[Floats], other: Sequence[Floats]) -> tuple[Floats, Floats, Floats]:
    (ax, ay, az), (bx, by, bz) = one, other
    return ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx


def _boxes(
    near: Sequence[Floats], extents: Floats, of_vertex: Indices, candidates: npt.NDArray[np.bool_]
) -> list[bool]:
    """Which meshes have their vertices at the corners of their box: each corner has three bits, and all eight of them make a byte."""
    chosen = np.flatnonzero(candidates[of_vertex])
    owners = of_vertex[chosen]
    codes, at_corner = np.zeros(len(chosen), np.int64), np.ones(len(chosen), np.bool_)
    for axis in range(3):
        column = near[axis][chosen]
        far = column == extents[owners, axis]
        at_corner &= far | (column == 0.0)
        codes += far.astype(np.int64) << axis
    marks = np.bincount(owners, weights=np.where(at_corner, 1 << codes, 0), minlength=len(extents))
    return (candidates & (marks == 255.0) & (extents.min(axis=1) > 0.0)).tolist()
