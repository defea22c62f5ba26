"""Meshes as arrays, and the defects of each mesh.

Array operations treat many meshes at once, since the overhead of handling them one at a time exceeds the actual work."""

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

# The area below which a face counts as empty, as a share of the square of the mesh's size: single precision has no more digits.
EMPTY_SHARE = 1e-12
# The thickness up to which a mesh counts as flat, as a share of its size.
FLAT_SHARE = 1e-6
# The number of face corners that are read together. They temporarily take a few hundred megabytes.
MAX_BATCH_CORNERS = 1_000_000


@dataclass(frozen=True, slots=True)
class MeshArrays:
    """The arrays of one mesh and the facts about it. The corners of a face are consecutive, beginning at its start."""

    positions: npt.NDArray[np.float32]
    corner_vertices: Ints
    starts: Ints
    sizes: Indices
    """The number of corners of each face."""
    largest: int
    """The number of corners of the largest face."""
    facts: SurfaceFacts

    @property
    def following(self) -> Indices:
        """Return, for each corner, the index of the next corner around its face."""
        return _following(self.starts, len(self.corner_vertices))


class MeshReader:
    """A reader that collects meshes and converts them in batches into `read`.

    It copies the data of a mesh when the mesh is added, so Blender may free the mesh afterwards."""

    def __init__(self) -> None:
        self.read: list[MeshArrays] = []
        self._waiting: list[_Raw] = []
        self._corners = 0

    def add(self, mesh: Any) -> int:
        """Add a mesh and return its index in `read`. The entry exists after `finish`."""
        raw = _Raw(mesh)
        self._waiting.append(raw)
        self._corners += len(raw.corner_vertices)
        number = len(self.read) + len(self._waiting) - 1
        if self._corners > MAX_BATCH_CORNERS:
            self.finish()
        return number

    def finish(self) -> None:
        """Convert the meshes that still wait."""
        if self._waiting:
            self.read += _with_facts(self._waiting)
        self._waiting, self._corners = [], 0


class _Raw:
    """The arrays of a mesh as Blender stores them.

    They are read from attributes, since reading them through the edges and corners takes ten times as long."""

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
    """Concatenate meshes, compute the facts about all of them with array operations, and return one entry per mesh."""
    number = len(meshes)
    vertices = np.array([len(mesh.positions) // 3 for mesh in meshes])
    edges = np.array([len(mesh.ends) // 2 for mesh in meshes])
    corners = np.array([len(mesh.corner_vertices) for mesh in meshes])
    faces = np.array([len(mesh.starts) for mesh in meshes])
    positions = np.concatenate([mesh.positions for mesh in meshes]).reshape(-1, 3)
    numbers = np.arange(number)
    of_vertex, of_edge, of_face = np.repeat(numbers, vertices), np.repeat(numbers, edges), np.repeat(numbers, faces)
    ends = np.concatenate([mesh.ends for mesh in meshes]) + np.repeat(_before(vertices), edges * 2)
    corner_vertices = np.concatenate([mesh.corner_vertices for mesh in meshes]) + np.repeat(_before(vertices), corners)
    corner_edges = np.concatenate([mesh.corner_edges for mesh in meshes]) + np.repeat(_before(edges), corners)
    starts = np.concatenate([mesh.starts for mesh in meshes]) + np.repeat(_before(corners), faces)

    def count(mask: npt.NDArray[np.bool_], owner: Indices) -> list[int]:
        # Most scenes have none of the defects that are counted here, and `any` is faster than counting.
        if mask.any():
            return np.bincount(owner[mask], minlength=number).tolist()
        return [0] * number

    uses = np.bincount(corner_edges, minlength=len(of_edge))
    along = np.bincount(corner_edges[ends[corner_edges * 2] == corner_vertices], minlength=len(of_edge))
    loose, single, crowded = count(uses == 0, of_edge), count(uses == 1, of_edge), count(uses > 2, of_edge)
    flipped = count((uses == 2) & (along != 1), of_edge)
    alone = count(np.bincount(ends, minlength=len(of_vertex)) == 0, of_vertex)

    low, high = _bounds(positions, vertices)
    extents = high - low
    sizes = extents.max(axis=1)
    # Positions relative to a corner of the mesh's box, because far from the origin the terms would cancel out their digits.
    # Stored as three columns, since each of them is contiguous in memory.
    near = [positions[:, axis] - low[:, axis][of_vertex] for axis in range(3)]
    face_sizes = np.diff(starts, append=len(corner_vertices))
    areas = area_vectors(near, corner_vertices, starts, face_sizes)
    lengths = np.sqrt(areas[0] * areas[0] + areas[1] * areas[1] + areas[2] * areas[2])
    empty = count(lengths <= (EMPTY_SHARE * sizes * sizes)[of_face], of_face)
    origins = corner_vertices[starts]
    inside = sum(area * column[origins] for area, column in zip(areas, near, strict=True))
    volumes = (np.bincount(of_face, weights=inside, minlength=number) / 3.0).tolist()
    flat = (extents.min(axis=1) <= FLAT_SHARE * sizes).tolist()
    boxes = _boxes(near, extents, of_vertex, (vertices == 8) & (faces == 6))
    lows, highs = low.tolist(), high.tolist()

    largest = np.zeros(number, np.int64)
    first_faces = _before(faces)
    filled = faces > 0
    if filled.any():
        largest[filled] = np.maximum.reduceat(face_sizes, first_faces[filled])

    arrays: list[MeshArrays] = []
    for index, mesh in enumerate(meshes):
        has_bad_edges = loose[index] or single[index] or crowded[index] or flipped[index]
        is_closed = bool(faces[index]) and not has_bad_edges
        volume = None
        if is_closed:
            volume = volumes[index]
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
            is_box=is_closed and boxes[index],
            volume=volume,
            low=tuple(lows[index]),
            high=tuple(highs[index]),
        )
        sizes_of_mesh = face_sizes[first_faces[index] : first_faces[index] + faces[index]]
        points = mesh.positions.reshape(-1, 3)
        arrays.append(MeshArrays(points, mesh.corner_vertices, mesh.starts, sizes_of_mesh, int(largest[index]), facts))
    return arrays


def _before(counts: Indices) -> Indices:
    """Return, for each entry, the sum of all counts before it."""
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


def area_vectors(columns: Sequence[Floats], corner_vertices: Integers, starts: Integers, sizes: Indices) -> Floats:
    """Return the normal of each face, scaled to the face's area, as three rows.

    `columns` are the x, y and z coordinates of all vertices."""
    a, b, c = corner_vertices[starts], corner_vertices[starts + 1], corner_vertices[starts + 2]
    d = corner_vertices[np.where(sizes > 3, starts + 3, starts)]
    # The area vector of a triangle or quadrilateral is half the cross product of its diagonals.
    areas = np.array(_cross([axis[c] - axis[a] for axis in columns], [axis[d] - axis[b] for axis in columns])) / 2.0

    large = sizes > 4
    if large.any():
        corners = corner_vertices[np.repeat(large, sizes)]
        large_sizes = sizes[large]
        large_starts = _before(large_sizes)
        following = _following(large_starts, len(corners))
        points = [axis[corners] for axis in columns]
        parts = _cross(points, [column[following] for column in points])
        areas[:, large] = [np.add.reduceat(part, large_starts) / 2.0 for part in parts]
    return areas


def _cross(first: Sequence[Floats], second: Sequence[Floats]) -> tuple[Floats, Floats, Floats]:
    (ax, ay, az), (bx, by, bz) = first, second
    return ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx


def _boxes(
    near: Sequence[Floats], extents: Floats, of_vertex: Indices, candidates: npt.NDArray[np.bool_]
) -> list[bool]:
    """Return, for each mesh, True if its vertices are exactly the eight corners of its bounding box.

    Each corner has a number of three bits, one per axis. A mesh is a box if all eight numbers occur."""
    vertices = np.flatnonzero(candidates[of_vertex])
    owners = of_vertex[vertices]
    codes, at_corner = np.zeros(len(vertices), np.int64), np.ones(len(vertices), np.bool_)
    for axis in range(3):
        column = near[axis][vertices]
        far = column == extents[owners, axis]
        at_corner &= far | (column == 0.0)
        codes += far.astype(np.int64) << axis
    marks = np.bincount(owners, weights=np.where(at_corner, 1 << codes, 0), minlength=len(extents))
    return (candidates & (marks == 255.0) & (extents.min(axis=1) > 0.0)).tolist()
