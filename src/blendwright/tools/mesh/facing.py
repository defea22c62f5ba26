"""Direction of the normals of a closed mesh, for which inside and outside are defined."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import chain, pairwise
from typing import Literal

from blendwright.tool_api import Point
from blendwright.tools.mesh_data import edge_pairs

# Volumes below this fraction of the cubed size are rounding errors.
NO_VOLUME = 1e-9


def wrong_facing(vertices: Sequence[Point], faces: Sequence[Sequence[int]]) -> Literal["inward", "mixed"] | None:
    """Return "inward" if all normals of a closed mesh point inward, "mixed" if only some do, else None.

    The result is also None for a mesh that is not closed.
    """
    directed_edges: set[tuple[int, int]] = set()
    for face in faces:
        directed_edges.update(zip(face, [*face[1:], face[0]], strict=True))

    is_consistent = len(directed_edges) == sum(map(len, faces))
    if is_consistent and all((end, start) in directed_edges for start, end in directed_edges):
        if directed_edges and _is_inward(vertices, faces):
            return "inward"
        return None
    edges = Counter(edge_pairs(faces, ()))
    if all(count == 2 for count in edges.values()):
        return "mixed"
    return None


def _is_inward(vertices: Sequence[Point], faces: Sequence[Sequence[int]]) -> bool:
    origin = vertices[faces[0][0]]
    # Relative to one of the corners, to keep precision for a mesh far from the origin.
    relative: dict[int, Point] = {}
    for index in set(chain.from_iterable(faces)):
        x, y, z = vertices[index]
        relative[index] = (x - origin[0], y - origin[1], z - origin[2])
    size = max(map(abs, chain.from_iterable(relative.values())))

    volume = 0.0
    for first, *other_corners in faces:
        ax, ay, az = relative[first]
        for second, third in pairwise(other_corners):
            (bx, by, bz), (cx, cy, cz) = relative[second], relative[third]
            volume += ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx)
    return volume / 6.0 < -NO_VOLUME * size**3
