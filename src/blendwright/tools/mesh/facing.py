"""To which side the faces of a mesh look, as far as it can be told: of a closed one, whose inside is known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

from blendwright.tool_api import Point
from blendwright.tools.mesh_data import edge_pairs

# A volume below this part of the cube of its size is what arithmetic leaves of none.
NO_VOLUME = 1e-9


def wrong_facing(vertices: Sequence[Point], faces: Sequence[Sequence[int]]) -> Literal["inward", "mixed"] | None:
    """Whether a closed mesh has its faces turned inward, or some inward and some outward; None where it is sound or not closed."""
    ways = {way for face in faces for way in zip(face, [*face[1:], face[0]], strict=True)}
    alike = len(ways) == sum(map(len, faces))
    if alike and all((there, here) in ways for here, there in ways):
        if ways and _is_inward(vertices, faces):
            return "inward"
        return None
    edges = Counter(edge_pairs(faces, ()))
    if all(count == 2 for count in edges.values()):
        return "mixed"
    return None


def _is_inward(vertices: Sequence[Point], faces: Sequence[Sequence[int]]) -> bool:
    origin = vertices[faces[0][0]]
    used = {index for face in faces for index in face}
    # From a corner of its own, so that nothing is lost where it is far from the origin.
    near = {index: tuple(part - zero for part, zero in zip(vertices[index], origin, strict=True)) for index in used}
    size = max(abs(part) for point in near.values() for part in point)
    volume = 0.0
    for first, *others in faces:
        ax, ay, az = near[first]
        for second, third in pairwise(others):
            (bx, by, bz), (cx, cy, cz) = near[second], near[third]
            volume += ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx)
    return volume / 6.0 < -NO_VOLUME * size**3
