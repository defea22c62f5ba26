"""Surfaces that objects are placed on: the surface point on a vertical line, and random points. Reads only."""

from __future__ import annotations

import itertools
import math
from array import array
from bisect import bisect
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from blendwright.tool_api.scene import Block, Kind, Point, Scene
from blendwright.tool_api.tool import Findings
from blendwright.tools.bounding_boxes import SOLID, world_bounds, world_mesh
from blendwright.tools.checks import conflict, evaluated_object
from blendwright.tools.mesh_data import positions_of
from blendwright.tools.place.surface_mask import Mask, attribute_problems, corner_values, cut

# Random points to try for each requested one before the surface counts as full.
MAX_TRIES = 50

# A cube of space that indexes the points in it by position.
Cell = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Hit:
    """A point on a surface, with the unit vector that points away from the surface."""

    point: Point
    normal: Point


def mask_problems(scene: Scene, name: str, mask: Mask | None, at: str) -> Findings:
    """Yield findings that explain why a mask cannot be used. The object must have a surface."""
    if mask is not None and mask.attribute is not None:
        target = scene.require(Kind.OBJECT, name, "/target")
        with world_mesh(scene, target) as mesh:
            assert mesh is not None
            yield from list(attribute_problems(target, mesh, mask.attribute, f"{at}/attribute"))


def surface_problems(scene: Scene, name: str, at: str) -> Findings:
    """Yield findings that explain why an object has no surface to place anything on."""
    target = scene.find(Kind.OBJECT, name)
    problems = list(evaluated_object(scene, name, at))
    yield from problems
    if problems or target is None:
        return
    with world_mesh(scene, target) as mesh:
        empty = mesh is None or not len(mesh.polygons)
    if target.type not in SOLID or empty:
        yield conflict(f"object '{name}' has no faces to place anything on", at, "Name an object with faces.")


def vertical_hit(scene: Scene, target: Block, x: float, y: float, side: str) -> Hit | None:
    """Return the point where the vertical line at x, y meets the outermost surface from above (`top`) or from below."""
    source = scene.evaluated(target)
    [box] = world_bounds(scene, [target])
    margin = 1.0 + box.size(2)
    if side == "top":
        ray_z = -1.0
        start_z = box.high[2] + margin
    else:
        ray_z = 1.0
        start_z = box.low[2] - margin
    start = scene.vector((x, y, start_z))
    to_local = source.matrix_world.inverted_safe()
    direction = to_local.to_3x3() @ scene.vector((0.0, 0.0, ray_z))
    is_hit, point, normal, _ = source.ray_cast(to_local @ start, direction)
    if not is_hit:
        return None
    outward = (to_local.to_3x3().transposed() @ normal).normalized()
    if outward.z * ray_z > 0.0:  # the face points away from the start of the ray
        outward.negate()
    _, _, z = source.matrix_world @ point
    return Hit((x, y, z), (outward.x, outward.y, outward.z))


class Surface:
    """The triangles of an object in the world, limited by a mask, as a source of random points."""

    def __init__(self, scene: Scene, target: Block, mask: Mask | None = None) -> None:
        mirrored = scene.evaluated(target).matrix_world.determinant() < 0.0
        with world_mesh(scene, target) as mesh:
            assert mesh is not None
            flat = positions_of(mesh)
            mesh.calc_loop_triangles()
            self._corners = array("i", bytes(12 * len(mesh.loop_triangles)))
            mesh.loop_triangles.foreach_get("vertices", self._corners)
            values: list[float] | None = None
            if mask is not None and mask.attribute is not None:
                values = corner_values(target, mesh, mask.attribute)
        self._points = list(zip(flat[0::3], flat[1::3], flat[2::3], strict=True))
        self._sign = 1.0
        if mirrored:
            self._sign = -1.0
        if mask is not None:
            self._cut(mask, values)
        # Sums of the areas of the first triangles, in square metres.
        self._area_sums = list(itertools.accumulate(self._area(number) for number in range(len(self._corners) // 3)))

    @property
    def area(self) -> float:
        """Return the total area in square metres."""
        if self._area_sums:
            return self._area_sums[-1]
        return 0.0

    def _cut(self, mask: Mask, values: list[float] | None) -> None:
        """Replace the triangles by the parts of them that the mask selects."""
        points: list[Point] = []
        corners = array("i")
        conditions = list(mask.conditions())
        for number in range(len(self._corners) // 3):
            triangle = self._triangle(number)
            i, j, k = _cross(*triangle)
            if not mask.faces((i * self._sign, j * self._sign, k * self._sign)):
                continue
            corner_attribute: Sequence[float] = (0.0, 0.0, 0.0)
            if values is not None:
                corner_attribute = values[3 * number : 3 * number + 3]
            full = [(*point, value) for point, value in zip(triangle, corner_attribute, strict=True)]
            selected = cut(full, conditions)
            first = len(points)
            points += [(x, y, z) for x, y, z, _ in selected]
            for corner in range(1, len(selected) - 1):
                corners.extend((first, first + corner, first + corner + 1))
        self._points, self._corners = points, corners

    def random_points(self, random: Random, count: int, min_distance: float) -> list[Hit]:
        """Return up to `count` points with a minimum distance. There are fewer if no more fit within the allowed tries."""
        hits: list[Hit] = []
        cells: dict[Cell, list[Point]] = {}
        for _ in range(count * MAX_TRIES):
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
        """Return a random point of the surface, evenly distributed by area."""
        number = min(bisect(self._area_sums, random.random() * self.area), len(self._area_sums) - 1)
        a, b, c = self._triangle(number)
        root, fraction = math.sqrt(random.random()), random.random()
        u, v, w = 1.0 - root, root * (1.0 - fraction), root * fraction
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
    """Return the normal of a triangle, with twice the triangle's area as its length."""
    px, py, pz = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    qx, qy, qz = c[0] - a[0], c[1] - a[1], c[2] - a[2]
    return py * qz - pz * qy, pz * qx - px * qz, px * qy - py * qx


def _cell(point: Point, size: float) -> Cell:
    x, y, z = (math.floor(value / size) for value in point)
    return x, y, z


def _is_near(point: Point, cell: Cell, cells: dict[Cell, list[Point]], min_distance: float) -> bool:
    x, y, z = cell
    for i, j, k in itertools.product((-1, 0, 1), repeat=3):
        for neighbour in cells.get((x + i, y + j, z + k), ()):
            if math.dist(point, neighbour) < min_distance:
                return True
    return False
