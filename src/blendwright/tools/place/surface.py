"""Surfaces to put things on: where a vertical ray hits one, and random points on it. Reads only."""

from __future__ import annotations

import itertools
import math
from array import array
from bisect import bisect
from dataclasses import dataclass
from random import Random

from blendwright.tool_api.scene import Block, Kind, Point, Scene
from blendwright.tool_api.tool import Findings
from blendwright.tools.bounding_boxes import SOLID, world_bounds, world_mesh
from blendwright.tools.checks import conflict, evaluated_object
from blendwright.tools.mesh_data import positions_of
from blendwright.tools.place.surface_mask import Mask, attribute_problems, corner_values, cut

# How many random points are tried for each requested one before the surface counts as full.
TRIES = 50

Cell = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Hit:
    """A point on a surface, with the direction that looks away from it."""

    point: Point
    normal: Point


def mask_problems(scene: Scene, name: str, mask: Mask | None, at: str) -> Findings:
    """Why a mask means nothing on an object, which has a surface."""
    if mask is not None and mask.attribute is not None:
        target = scene.require(Kind.OBJECT, name, "/target")
        with world_mesh(scene, target) as mesh:
            assert mesh is not None
            yield from list(attribute_problems(target, mesh, mask.attribute, f"{at}/attribute"))


def surface_problems(scene: Scene, name: str, at: str) -> Findings:
    """Why nothing can be put on an object."""
    target = scene.find(Kind.OBJECT, name)
    problems = list(evaluated_object(scene, name, at))
    yield from problems
    if problems or target is None:
        return
    with world_mesh(scene, target) as mesh:
        empty = mesh is None or not len(mesh.polygons)
    if target.type not in SOLID or empty:
        yield conflict(f"object '{name}' has no faces to put anything on", at, "Name an object with faces.")


def vertical_hit(scene: Scene, target: Block, x: float, y: float, side: str) -> Hit | None:
    """Where the outermost surface above (side `top`) or below (`bottom`) meets the vertical at x, y."""
    source = scene.evaluated(target)
    [box] = world_bounds(scene, [target])
    if side == "top":
        down = -1.0
    else:
        down = 1.0
    away = 1.0 + box.size(2)
    start = scene.vector((x, y, box.high[2] + away if side == "top" else box.low[2] - away))
    into = source.matrix_world.inverted_safe()
    hit, point, normal, _ = source.ray_cast(into @ start, into.to_3x3() @ scene.vector((0.0, 0.0, down)))
    if not hit:
        return None
    outward = (into.to_3x3().transposed() @ normal).normalized()
    if outward.z * down > 0.0:  # a face that looks the other way
        outward.negate()
    _, _, z = source.matrix_world @ point
    return Hit((x, y, z), (outward.x, outward.y, outward.z))


class Surface:
    """The triangles of an object in the world, for random points."""

    def __init__(self, scene: Scene, target: Block, mask: Mask | None = None) -> None:
        mirrored = scene.evaluated(target).matrix_world.determinant() < 0.0
        with world_mesh(scene, target) as mesh:
            assert mesh is not None
            flat = positions_of(mesh)
            mesh.calc_loop_triangles()
            self._corners = array("i", bytes(12 * len(mesh.loop_triangles)))
            mesh.loop_triangles.foreach_get("vertices", self._corners)
            if mask is None:
                attribute = None
            else:
                attribute = mask.attribute
            if attribute is None:
                values = None
            else:
                values = corner_values(target, mesh, attribute)
        self._points = list(zip(flat[0::3], flat[1::3], flat[2::3], strict=True))
        if mirrored:
            self._sign = -1.0
        else:
            self._sign = 1.0
        if mask is not None:
            self._cut(mask, values)
        self._sums = list(itertools.accumulate(self._area(number) for number in range(len(self._corners) // 3)))

    @property
    def area(self) -> float:
        if self._sums:
            return self._sums[-1]
        return 0.0

    def _cut(self, mask: Mask, values: list[float] | None) -> None:
        """Keep the part of the triangles that the mask leaves."""
        points: list[Point] = []
        corners = array("i")
        conditions = list(mask.conditions())
        for number in range(len(self._corners) // 3):
            triangle = self._triangle(number)
            i, j, k = _cross(*triangle)
            if not mask.faces((i * self._sign, j * self._sign, k * self._sign)):
                continue
            if values is not None:
                at = values[3 * number : 3 * number + 3]
            else:
                at = (0.0, 0.0, 0.0)
            left = cut([(*point, value) for point, value in zip(triangle, at, strict=True)], conditions)
            first = len(points)
            points += [(x, y, z) for x, y, z, _ in left]
            for corner in range(1, len(left) - 1):
                corners.extend((first, first + corner, first + corner + 1))
        self._points, self._corners = points, corners

    def random_points(self, random: Random, count: int, min_distance: float) -> list[Hit]:
        """Up to `count` points that keep a distance from each other; fewer when no more were found a place."""
        hits: list[Hit] = []
        cells: dict[Cell, list[Point]] = {}
        for _ in range(count * TRIES):
            if len(hits) == count:
                break
            hit = self._random_point(random)
            if min_distance > 0.0:
                cell = _cell(hit.point, min_distance)
                if _is_near(hit.point, cell, cells, min_distance):
                    continue
                cells.setdefault(cell, []).append(hit.point)
            hits.append(hit)
        return hits

    def _random_point(self, random: Random) -> Hit:
        """A point on the surface, each part as likely as its share of the area."""
        number = min(bisect(self._sums, random.random() * self.area), len(self._sums) - 1)
        a, b, c = self._triangle(number)
        root, turn = math.sqrt(random.random()), random.random()
        u, v, w = 1.0 - root, root * (1.0 - turn), root * turn
        x, y, z = (u * i + v * j + w * k for i, j, k in zip(a, b, c, strict=True))
        i, j, k = _cross(a, b, c)
        length = math.sqrt(i * i + j * j + k * k) * self._sign
        return Hit((x, y, z), (i / length, j / length, k / length))

    def _triangle(self, number: int) -> tuple[Point, Point, Point]:
        a, b, c = self._corners[3 * number : 3 * number + 3]
        return self._points[a], self._points[b], self._points[c]

    def _area(self, number: int) -> float:
        i, j, k = _cross(*self._triangle(number))
        return math.sqrt(i * i + j * j + k * k) / 2.0


def _cross(a: Point, b: Point, c: Point) -> Point:
    """The normal of a triangle, twice as long as its area."""
    px, py, pz = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    qx, qy, qz = c[0] - a[0], c[1] - a[1], c[2] - a[2]
    return py * qz - pz * qy, pz * qx - px * qz, px * qy - py * qx


def _cell(point: Point, size: float) -> Cell:
    x, y, z = (math.floor(value / size) for value in point)
    return x, y, z


def _is_near(point: Point, cell: Cell, cells: dict[Cell, list[Point]], min_distance: float) -> bool:
    x, y, z = cell
    for i, j, k in itertools.product((-1, 0, 1), repeat=3):
        for other in cells.get((x + i, y + j, z + k), ()):
            if math.dist(point, other) < min_distance:
                return True
    return False
