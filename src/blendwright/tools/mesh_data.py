"""Explicit mesh geometry: vertices, edges and faces as flat arrays in an order of our own.

Blender can find the edges itself, but in an order that depends on the number of processor cores; ours come in the order in
which the faces name them, so that a mesh is the same everywhere.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from blendwright.tool_api import Block, Findings, Point
from blendwright.tools.checks import differs


@dataclass(frozen=True, slots=True)
class Geometry:
    """A mesh as Blender stores it: flat single-precision positions, vertex pairs, and the corners of the faces in a row."""

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
    """Geometry from faces, and from edges that belong to none."""
    numbers: dict[tuple[int, int], int] = {}
    starts, corner_vertices, corner_edges = array("i"), array("i"), array("i")
    for face in faces:
        starts.append(len(corner_vertices))
        for here, there in zip(face, [*face[1:], face[0]], strict=True):
            if here < there:
                edge = (here, there)
            else:
                edge = (there, here)
            corner_vertices.append(here)
            corner_edges.append(numbers.setdefault(edge, len(numbers)))
    for here, there in loose:
        numbers.setdefault((here, there) if here < there else (there, here), len(numbers))
    return Geometry(
        positions=array("f", (value for vertex in vertices for value in vertex)),
        edges=array("i", (end for edge in numbers for end in edge)),
        corner_vertices=corner_vertices,
        corner_edges=corner_edges,
        face_starts=starts,
    )


UV_MAP = "UVMap"
# Arguments that mark edges, and what Blender calls the mark.
EDGE_MARKS = {"seams": "use_seam", "sharp": "use_edge_sharp"}


def edge_pairs(faces: Sequence[Sequence[int]], loose: Sequence[Sequence[int]]) -> Iterator[tuple[int, int]]:
    """The edges of faces and the loose ones, the smaller index first; some more than once."""
    for face in faces:
        for here, there in zip(face, [*face[1:], face[0]], strict=True):
            yield (here, there) if here < there else (there, here)
    for here, there in loose:
        yield (here, there) if here < there else (there, here)


def marked_edges(shape: Geometry, pairs: Sequence[Sequence[int]]) -> array[int]:
    """For each edge whether it is among these."""
    wanted = {(min(pair), max(pair)) for pair in pairs}
    ends = zip(shape.edges[::2], shape.edges[1::2], strict=True)
    return array("b", (edge in wanted for edge in ends))


def flat_uvs(uvs: Sequence[Sequence[Sequence[float]]]) -> array[float]:
    """The coordinates of all corners in a row."""
    return array("f", (value for face in uvs for corner in face for value in corner))


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
        # A face that says nothing about shading is smooth since Blender 4.1, which makes a cube look like a pillow.
        mesh.polygons.foreach_set("use_smooth", array("b", bytes(shape.face_count)))


def mesh_differs(mesh: Block, shape: Geometry, at: str) -> Findings:
    """How a mesh differs from geometry, bit by bit."""
    counts = (len(mesh.vertices), len(mesh.edges), len(mesh.polygons))
    expected = (shape.vertex_count, shape.edge_count, shape.face_count)
    if counts != expected:
        yield from differs("its number of vertices, edges and faces", expected, counts, at)
        return
    actual = array("f", bytes(len(shape.positions) * 4))
    mesh.attributes["position"].data.foreach_get("vector", actual)
    if actual != shape.positions:
        yield from differs("that its vertices are where they should be", True, False, at)
    corners = array("i", bytes(len(shape.corner_vertices) * 4))
    if corners:
        mesh.attributes[".corner_vert"].data.foreach_get("value", corners)
    if corners != shape.corner_vertices:
        yield from differs("that its faces join the vertices they should", True, False, at)


def edges_differ(mesh: Block, shape: Geometry, at: str) -> Findings:
    """Whether edges that belong to no face join what they should; those of faces follow from the faces."""
    if len(mesh.edges) == shape.edge_count:
        actual = array("i", bytes(len(shape.edges) * 4))
        mesh.edges.foreach_get("vertices", actual)
        if actual != shape.edges:
            yield from differs("that its edges join the vertices they should", True, False, at)


def positions_of(mesh: Block) -> array[float]:
    """Where its vertices are, flat."""
    positions = array("f", bytes(12 * len(mesh.vertices)))
    if positions:
        mesh.attributes["position"].data.foreach_get("vector", positions)
    return positions
