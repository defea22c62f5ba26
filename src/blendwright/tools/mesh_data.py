"""Explicit mesh geometry: vertices, edges and faces as flat arrays in a deterministic order.

Blender can compute the edges itself, but their order then depends on the number of processor cores. Here edges have the
order in which the faces use them, so that a mesh is the same on every machine.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from blendwright.tool_api import Block, Findings, Point
from blendwright.tools.checks import differs


@dataclass(frozen=True, slots=True)
class Geometry:
    """A mesh in Blender's storage format: flat single-precision positions, vertex pairs of edges, and consecutive face
    corners.
    """

    positions: array[float]
    edges: array[int]
    corner_vertices: array[int]
    corner_edges: array[int]
    face_starts: array[int]

    @property
    def vertex_count(self) -> int:
        return len(self.positions) // 3

    @property
    def edge_count(self) -> int:
        return len(self.edges) // 2

    @property
    def face_count(self) -> int:
        return len(self.face_starts)


def geometry(
    vertices: Sequence[Point], faces: Sequence[Sequence[int]], loose: Sequence[Sequence[int]] = ()
) -> Geometry:
    """Return the geometry made of faces and of loose edges that belong to no face."""
    edge_numbers: dict[tuple[int, int], int] = {}
    face_starts, corner_vertices, corner_edges = array("i"), array("i"), array("i")
    for face in faces:
        face_starts.append(len(corner_vertices))
        for start, end in zip(face, [*face[1:], face[0]], strict=True):
            corner_vertices.append(start)
            corner_edges.append(edge_numbers.setdefault(_edge(start, end), len(edge_numbers)))
    for start, end in loose:
        edge_numbers.setdefault(_edge(start, end), len(edge_numbers))
    return Geometry(
        positions=array("f", chain.from_iterable(vertices)),
        edges=array("i", chain.from_iterable(edge_numbers)),
        corner_vertices=corner_vertices,
        corner_edges=corner_edges,
        face_starts=face_starts,
    )


def _edge(start: int, end: int) -> tuple[int, int]:
    """Return the vertex pair of an edge, the smaller index first."""
    if start < end:
        return start, end
    return end, start


UV_MAP = "UVMap"
# Argument that marks edges -> Blender's name of the mark.
EDGE_MARKS = {"seams": "use_seam", "sharp": "use_edge_sharp"}


def edge_pairs(faces: Sequence[Sequence[int]], loose: Sequence[Sequence[int]]) -> Iterator[tuple[int, int]]:
    """Yield the vertex pairs of all face edges and loose edges, the smaller index first, possibly repeated."""
    for face in faces:
        for start, end in zip(face, [*face[1:], face[0]], strict=True):
            yield _edge(start, end)
    for start, end in loose:
        yield _edge(start, end)


def marked_edges(shape: Geometry, pairs: Sequence[Sequence[int]]) -> array[int]:
    """Return one flag per edge of `shape`: 1 if the edge is among `pairs`, else 0."""
    wanted = {(min(pair), max(pair)) for pair in pairs}
    ends = zip(shape.edges[::2], shape.edges[1::2], strict=True)
    return array("b", (edge in wanted for edge in ends))


def flat_uvs(uvs: Sequence[Sequence[Sequence[float]]]) -> array[float]:
    """Return the UV coordinates of all face corners as one flat array."""
    corners = chain.from_iterable(uvs)
    return array("f", chain.from_iterable(corners))


def fill_mesh(mesh: Block, shape: Geometry) -> None:
    """Write geometry into an empty mesh."""
    mesh.vertices.add(shape.vertex_count)
    mesh.attributes["position"].data.foreach_set("vector", shape.positions)
    if shape.edges:
        mesh.edges.add(shape.edge_count)
        mesh.edges.foreach_set("vertices", shape.edges)
    if shape.face_starts:
        mesh.loops.add(len(shape.corner_vertices))
        mesh.loops.foreach_set("vertex_index", shape.corner_vertices)
        mesh.loops.foreach_set("edge_index", shape.corner_edges)
        mesh.polygons.add(shape.face_count)
        mesh.polygons.foreach_set("loop_start", shape.face_starts)
        # Since Blender 4.1 a face without a shading flag is smooth, which makes a cube look like a pillow.
        mesh.polygons.foreach_set("use_smooth", array("b", bytes(shape.face_count)))


def mesh_differs(mesh: Block, shape: Geometry, at: str) -> Findings:
    """Yield findings where the vertices or faces of a mesh are not bitwise equal to `shape`."""
    counts = (len(mesh.vertices), len(mesh.edges), len(mesh.polygons))
    expected = (shape.vertex_count, shape.edge_count, shape.face_count)
    if counts != expected:
        yield from differs("its number of vertices, edges and faces", expected, counts, at)
        return
    actual = array("f", bytes(len(shape.positions) * 4))
    mesh.attributes["position"].data.foreach_get("vector", actual)
    if actual != shape.positions:
        yield from differs("that its vertices have the expected positions", True, False, at)
    corners = array("i", bytes(len(shape.corner_vertices) * 4))
    if corners:
        mesh.attributes[".corner_vert"].data.foreach_get("value", corners)
    if corners != shape.corner_vertices:
        yield from differs("that its faces join the expected vertices", True, False, at)


def edges_differ(mesh: Block, shape: Geometry, at: str) -> Findings:
    """Yield a finding if the edges of a mesh do not join the same vertices as those in `shape`.

    This matters for loose edges; face edges follow from the faces, which `mesh_differs` compares.
    """
    if len(mesh.edges) == shape.edge_count:
        actual = array("i", bytes(len(shape.edges) * 4))
        mesh.edges.foreach_get("vertices", actual)
        if actual != shape.edges:
            yield from differs("that its edges join the expected vertices", True, False, at)


def positions_of(mesh: Block) -> array[float]:
    """Return the vertex positions of a mesh as one flat array, in its local space."""
    positions = array("f", bytes(12 * len(mesh.vertices)))
    if positions:
        mesh.attributes["position"].data.foreach_get("vector", positions)
    return positions
