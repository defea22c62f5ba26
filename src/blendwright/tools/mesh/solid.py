"""Measures of a mesh from its arrays: bounds, area, volume, and how its faces join. Reads one mesh and knows no scene."""

from __future__ import annotations

import math
from array import array
from dataclasses import dataclass

from blendwright.tool_api.scene import Block

Corner = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Joins:
    """How often faces meet at edges: on a closed surface each edge has two, in opposite directions."""

    loose_edges: int
    open_edges: int
    crowded_edges: int
    flipped_edges: int

    @property
    def closed(self) -> bool:
        return not (self.loose_edges or self.open_edges or self.crowded_edges)


def positions_of(mesh: Block) -> array[float]:
    positions = array("f", bytes(12 * len(mesh.vertices)))
    if positions:
        mesh.attributes["position"].data.foreach_get("vector", positions)
    return positions


def bounds_of(positions: array[float]) -> tuple[Corner, Corner] | None:
    """The least and the greatest coordinates; None without vertices."""
    if not positions:
        return None
    x, y, z = positions[0::3], positions[1::3], positions[2::3]
    return (min(x), min(y), min(z)), (max(x), max(y), max(z))


def area_of(mesh: Block) -> float:
    areas = array("f", bytes(4 * len(mesh.polygons)))
    mesh.polygons.foreach_get("area", areas)
    return math.fsum(areas)


def joins_of(mesh: Block) -> Joins:
    count = len(mesh.edges)
    edges, vertices = _corners(mesh)
    ends = array("i", bytes(8 * count))
    mesh.edges.foreach_get("vertices", ends)
    uses, along = [0] * count, [0] * count
    for edge, vertex in zip(edges, vertices, strict=True):
        uses[edge] += 1
        along[edge] += ends[2 * edge] == vertex
    return Joins(
        loose_edges=uses.count(0),
        open_edges=uses.count(1),
        crowded_edges=sum(1 for use in uses if use > 2),
        flipped_edges=sum(1 for use, same in zip(uses, along, strict=True) if use == 2 and same != 1),
    )


def volume_of(mesh: Block, positions: array[float]) -> float:
    """The volume inside a closed surface; negative when its faces look inward."""
    mesh.calc_loop_triangles()
    corners = array("i", bytes(12 * len(mesh.loop_triangles)))
    mesh.loop_triangles.foreach_get("vertices", corners)
    if not corners:
        return 0.0
    # From a point of the mesh itself: far from the origin the terms would cancel each other's digits away.
    ox, oy, oz = positions[0:3]
    points = [
        (x - ox, y - oy, z - oz) for x, y, z in zip(positions[0::3], positions[1::3], positions[2::3], strict=True)
    ]
    return math.fsum(_six_volumes(points, corners)) / 6.0


def _six_volumes(points: list[Corner], corners: array[int]) -> list[float]:
    volumes: list[float] = []
    for a, b, c in zip(corners[0::3], corners[1::3], corners[2::3], strict=True):
        (ax, ay, az), (bx, by, bz), (cx, cy, cz) = points[a], points[b], points[c]
        volumes.append(ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx))
    return volumes


def _corners(mesh: Block) -> tuple[array[int], array[int]]:
    edges = array("i", bytes(4 * len(mesh.loops)))
    vertices = array("i", bytes(4 * len(mesh.loops)))
    mesh.loops.foreach_get("edge_index", edges)
    mesh.loops.foreach_get("vertex_index", vertices)
    return edges, vertices
