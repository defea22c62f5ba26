"""Geometry of the basic shapes. Faces are listed counter-clockwise as seen from outside."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

from blendwright.tool_api.scene import Point
from blendwright.tools.mesh_data import Geometry, geometry

Parts = tuple[list[Point], list[tuple[int, ...]]]


class Shape(NamedTuple):
    """The parameters of a basic shape. Each kind uses only some of them."""

    kind: str
    size: float
    radius: float
    radius_top: float
    tube_radius: float
    depth: float
    segments: int
    rings: int
    subdivisions: int
    cells: int
    fill: bool
    dimensions: Point | None = None
    origin: str = "center"


@lru_cache(maxsize=64)
def build(shape: Shape) -> Geometry:
    """Return the geometry of a basic shape other than the monkey."""
    return _placed(shape, *BUILDERS[shape.kind](shape))


def from_parts(shape: Shape, vertices: Sequence[Sequence[float]], faces: Sequence[tuple[int, ...]]) -> Geometry:
    """Return the geometry of a given mesh, scaled so that its longest side is `shape.size`."""
    lengths = [max(column) - min(column) for column in zip(*vertices, strict=True)]
    factor = shape.size / max(lengths)
    return _placed(shape, [(x * factor, y * factor, z * factor) for x, y, z in vertices], list(faces))


def _placed(shape: Shape, vertices: list[Point], faces: list[tuple[int, ...]]) -> Geometry:
    if shape.origin != "center":
        heights = [z for _, _, z in vertices]
        end = max(heights)
        if shape.origin == "bottom":
            end = min(heights)
        vertices = [(x, y, z - end) for x, y, z in vertices]
    loose: list[tuple[int, int]] = []
    if shape.kind == "circle" and not shape.fill:
        loose = [(corner, (corner + 1) % shape.segments) for corner in range(shape.segments)]
    return geometry(vertices, faces, loose)


@lru_cache(maxsize=64)
def vertex_count(shape: Shape) -> int:
    """Return the number of vertices that the shape has, without building it."""
    around, rings = shape.segments, shape.rings
    counts = {
        "cube": 8,
        "plane": 4,
        "grid": (shape.cells + 1) ** 2,
        "circle": around,
        "uv_sphere": around * (rings - 1) + 2,
        "ico_sphere": 10 * 4 ** (shape.subdivisions - 1) + 2,
        "cylinder": 2 * around,
        "cone": around + 1,
        "torus": around * rings,
        "monkey": 507,
    }
    if shape.kind == "cone" and shape.radius_top > 0.0:
        return 2 * around
    return counts[shape.kind]


def cube(shape: Shape) -> Parts:
    length_x, length_y, length_z = shape.dimensions or (shape.size, shape.size, shape.size)
    i, j, k = length_x / 2, length_y / 2, length_z / 2
    vertices = [(x, y, z) for x in (-i, i) for y in (-j, j) for z in (-k, k)]
    faces = [(0, 1, 3, 2), (2, 3, 7, 6), (6, 7, 5, 4), (4, 5, 1, 0), (2, 6, 4, 0), (7, 3, 1, 5)]
    return vertices, [tuple(face) for face in faces]


def plane(shape: Shape) -> Parts:
    half = shape.size / 2
    return [(-half, -half, 0.0), (half, -half, 0.0), (-half, half, 0.0), (half, half, 0.0)], [(0, 1, 3, 2)]


def grid(shape: Shape) -> Parts:
    cells, step, half = shape.cells, shape.size / shape.cells, shape.size / 2
    row = cells + 1
    vertices = [(column * step - half, line * step - half, 0.0) for line in range(row) for column in range(row)]
    corners = [line * row + column for line in range(cells) for column in range(cells)]
    return vertices, [(at, at + 1, at + row + 1, at + row) for at in corners]


def circle(shape: Shape) -> Parts:
    faces: list[tuple[int, ...]] = []
    if shape.fill:
        faces.append(tuple(range(shape.segments)))
    return _ring(shape.radius, 0.0, shape.segments), faces


def uv_sphere(shape: Shape) -> Parts:
    count = shape.segments
    vertices: list[Point] = []
    for ring in range(1, shape.rings):
        angle = math.pi * ring / shape.rings
        vertices += _ring(shape.radius * math.sin(angle), -shape.radius * math.cos(angle), count)
    south, north = len(vertices), len(vertices) + 1
    vertices += [(0.0, 0.0, -shape.radius), (0.0, 0.0, shape.radius)]
    last = (shape.rings - 2) * count
    faces: list[tuple[int, ...]] = []
    for corner in range(count):
        after = (corner + 1) % count
        faces.append((after, corner, south))
        faces += [
            (ring * count + corner, ring * count + after, (ring + 1) * count + after, (ring + 1) * count + corner)
            for ring in range(shape.rings - 2)
        ]
        faces.append((last + corner, last + after, north))
    return vertices, faces


def ico_sphere(shape: Shape) -> Parts:
    golden = (1 + math.sqrt(5)) / 2
    corners: list[Point] = [
        (-1, golden, 0), (1, golden, 0), (-1, -golden, 0), (1, -golden, 0),
        (0, -1, golden), (0, 1, golden), (0, -1, -golden), (0, 1, -golden),
        (golden, 0, -1), (golden, 0, 1), (-golden, 0, -1), (-golden, 0, 1),
    ]  # fmt: skip
    faces: list[tuple[int, ...]] = [
        (0, 11, 5), (0, 5, 1), (0, 1, 7), (0, 7, 10), (0, 10, 11), (1, 5, 9), (5, 11, 4), (11, 10, 2), (10, 7, 6), (7, 1, 8),
        (3, 9, 4), (3, 4, 2), (3, 2, 6), (3, 6, 8), (3, 8, 9), (4, 9, 5), (2, 4, 11), (6, 2, 10), (8, 6, 7), (9, 8, 1),
    ]  # fmt: skip
    vertices = [_to_radius(corner, shape.radius) for corner in corners]
    for _ in range(shape.subdivisions - 1):
        vertices, faces = _split(vertices, faces, shape.radius)
    return vertices, faces


def cylinder(shape: Shape) -> Parts:
    return _tube(shape.radius, shape.radius, shape)


def cone(shape: Shape) -> Parts:
    if shape.radius_top > 0.0:
        return _tube(shape.radius, shape.radius_top, shape)
    count = shape.segments
    vertices = [*_ring(shape.radius, -shape.depth / 2, count), (0.0, 0.0, shape.depth / 2)]
    faces: list[tuple[int, ...]] = [(corner, (corner + 1) % count, count) for corner in range(count)]
    if shape.fill:
        faces.append(tuple(reversed(range(count))))
    return vertices, faces


def torus(shape: Shape) -> Parts:
    count, tube = shape.segments, shape.rings
    vertices: list[Point] = []
    for corner in range(count):
        turn = 2 * math.pi * corner / count
        for step in range(tube):
            angle = 2 * math.pi * step / tube
            reach = shape.radius + shape.tube_radius * math.cos(angle)
            vertices.append((reach * math.cos(turn), reach * math.sin(turn), shape.tube_radius * math.sin(angle)))
    faces: list[tuple[int, ...]] = []
    for corner in range(count):
        here, there = corner * tube, (corner + 1) % count * tube
        for step in range(tube):
            after = (step + 1) % tube
            faces.append((here + step, there + step, there + after, here + after))
    return vertices, faces


def _ring(radius: float, height: float, count: int) -> list[Point]:
    angles = (2 * math.pi * corner / count for corner in range(count))
    return [(radius * math.cos(angle), radius * math.sin(angle), height) for angle in angles]


def _tube(bottom: float, top: float, shape: Shape) -> Parts:
    count, half = shape.segments, shape.depth / 2
    vertices = _ring(bottom, -half, count) + _ring(top, half, count)
    faces: list[tuple[int, ...]] = [
        (corner, (corner + 1) % count, count + (corner + 1) % count, count + corner) for corner in range(count)
    ]
    if shape.fill:
        faces += [tuple(reversed(range(count))), tuple(range(count, 2 * count))]
    return vertices, faces


def _to_radius(point: Point, radius: float) -> Point:
    length = math.sqrt(sum(value * value for value in point))
    x, y, z = (value * radius / length for value in point)
    return x, y, z


def _split(vertices: list[Point], faces: list[tuple[int, ...]], radius: float) -> Parts:
    """Split each triangle into four, with the new corners moved onto the sphere."""
    vertices = list(vertices)
    middles: dict[tuple[int, int], int] = {}

    def middle(start: int, end: int) -> int:
        edge = (min(start, end), max(start, end))
        if edge not in middles:
            middles[edge] = len(vertices)
            a, b = vertices[start], vertices[end]
            vertices.append(_to_radius((a[0] + b[0], a[1] + b[1], a[2] + b[2]), radius))
        return middles[edge]

    parts: list[tuple[int, ...]] = []
    for a, b, c in faces:
        ab, bc, ca = middle(a, b), middle(b, c), middle(c, a)
        parts += [(a, ab, ca), (b, bc, ab), (c, ca, bc), (ab, bc, ca)]
    return vertices, parts


BUILDERS: dict[str, Callable[[Shape], Parts]] = {
    builder.__name__: builder for builder in (cube, plane, grid, circle, uv_sphere, ico_sphere, cylinder, cone, torus)
}
