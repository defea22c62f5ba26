"""`BpySurfaces`, the evaluated surfaces of objects: their facts, bounds and intersections. This module only reads."""

from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from blendwright.blender.scene.geometry.mesh_arrays import MeshArrays, MeshReader, area_vectors
from blendwright.blender.scene.geometry.triangles import Triangles, all_around, meet, triangles_of
from blendwright.blender.scene.reader import SceneReader
from blendwright.tool_api.surfaces import Point, SurfaceFacts, UvFacts

Floats = npt.NDArray[np.float64]

Bounds = tuple[Point, Point]

Rows = tuple[Sequence[float], Sequence[float], Sequence[float]]
SOLID = frozenset({"MESH", "CURVE", "SURFACE", "FONT", "META"})


class BpySurfaces:
    """The implementation of `blendwright.tool_api.surfaces.Surfaces`. It is valid until the scene changes."""

    def __init__(self, scene: SceneReader, objects: Iterable[Any]) -> None:
        self._scene = scene
        self._arrays: dict[str, MeshArrays] = {}
        self._boxes: dict[str, Bounds | None] = {}
        self._world: dict[str, Floats] = {}
        self._triangles: dict[str, Triangles | None] = {}
        # Cached, because Blender takes longer to return the graph and the matrices than the work on most objects takes.
        self._graph = scene.depsgraph()
        self._matrices: dict[str, Rows] = {}

        reader = MeshReader()
        # Indices in `reader.read` by the address of the evaluated mesh. Objects may share a mesh; writes could move it in memory.
        shared: dict[int, int] = {}
        numbers: dict[str, int] = {}
        for obj in objects:
            with self._mesh(obj) as mesh:
                if mesh is None:
                    continue
                if obj.type != "MESH":
                    numbers[obj.name] = reader.add(mesh)
                    continue
                address = mesh.as_pointer()
                if address not in shared:
                    shared[address] = reader.add(mesh)
                numbers[obj.name] = shared[address]
        reader.finish()
        self._arrays = {name: reader.read[number] for name, number in numbers.items()}

    def facts(self, obj: Any) -> SurfaceFacts | None:
        arrays = self._arrays.get(obj.name)
        if arrays is None:
            return None
        return arrays.facts

    def bounds(self, obj: Any) -> Bounds | None:
        facts = self.facts(obj)
        if facts is None or not facts.vertices:
            return None
        (xx, xy, xz, dx), (yx, yy, yz, dy), (zx, zy, zz, dz) = self._rows(obj)
        if xy or xz or yx or yz or zx or zy:
            points = self._points(obj)
            low, high = np.minimum.reduce(points).tolist(), np.maximum.reduce(points).tolist()
            return (low[0], low[1], low[2]), (high[0], high[1], high[2])
        # The object is not rotated, as most are not: its bounds in the world are the scaled and moved box of the mesh.
        (low_x, low_y, low_z), (high_x, high_y, high_z) = facts.low, facts.high
        x, right = _ordered(xx * low_x + dx, xx * high_x + dx)
        y, back = _ordered(yy * low_y + dy, yy * high_y + dy)
        z, top = _ordered(zz * low_z + dz, zz * high_z + dz)
        if facts.is_box:
            self._boxes[obj.name] = (x, y, z), (right, back, top)
        return (x, y, z), (right, back, top)

    def uv_facts(self, obj: Any) -> UvFacts | None:
        with self._mesh(obj) as mesh:
            if mesh is None or mesh.uv_layers.active is None or not len(mesh.polygons):
                return None
            corners = np.empty(len(mesh.loops) * 2, np.float32)
            mesh.uv_layers.active.uv.foreach_get("vector", corners)
        arrays = self._arrays[obj.name]
        x, y = corners.reshape(-1, 2).astype(np.float64).T
        following = arrays.following
        uv = np.add.reduceat(x * y[following] - y * x[following], arrays.starts) / 2.0
        points = self._points(obj)
        columns = (points - points[0]).T
        areas = area_vectors([columns[0], columns[1], columns[2]], arrays.corner_vertices, arrays.starts, arrays.sizes)
        return UvFacts(float(np.abs(uv).sum()), float(np.sqrt((areas * areas).sum(axis=0)).sum()))

    def touch(self, one: Any, other: Any, within: float) -> bool:
        box, other_box = self._box(one), self._box(other)
        if box and other_box:
            return _boxes_meet(box, other_box, within)
        # An object on a box mostly touches it with a vertex, and testing vertices is faster than intersecting triangles.
        if box and _reaches(self._points(other), box, within):
            return True
        if other_box and _reaches(self._points(one), other_box, within):
            return True
        if (box and self._pierces(other, box, 0.0)) or (other_box and self._pierces(one, other_box, 0.0)):
            return True
        return self._meet(one, other, within)

    def cross(self, one: Any, other: Any, deeper: float) -> bool:
        box, other_box = self._box(one), self._box(other)
        if box and other_box:
            return _boxes_meet(box, other_box, -deeper)
        # A surface that goes through a box mostly does so with an edge, and testing edges is faster than intersecting triangles.
        if box and self._pierces(other, box, deeper):
            return True
        if other_box and self._pierces(one, other_box, deeper):
            return True
        return self._meet(one, other, -deeper / 2.0)

    def shuts_in(self, obj: Any, point: Point) -> bool:
        facts = self.facts(obj)
        if facts is None or not facts.faces or facts.open_edges:
            return False
        triangles = self._triangles_of(obj)
        return triangles is not None and all_around(triangles, point)

    def coincide(self, one: Any, other: Any, within: float) -> bool:
        first, second = self._arrays.get(one.name), self._arrays.get(other.name)
        if first is None or second is None or len(first.positions) != len(second.positions):
            return False
        if not np.array_equal(first.corner_vertices, second.corner_vertices):
            return False
        return bool(np.abs(self._points(one) - self._points(other)).max(initial=0.0) <= within)

    def _pierces(self, obj: Any, box: Bounds, deeper: float) -> bool:
        """Return True if an edge of the surface leads from inside the box to outside, with both ends farther than `deeper` from it."""
        points, arrays = self._points(obj), self._arrays[obj.name]
        beyond = np.maximum.reduce(np.maximum(np.array(box[0]) - points, points - np.array(box[1])), axis=1)
        inside, outside = beyond < -deeper, beyond > deeper
        if not (inside.any() and outside.any()):
            return False
        corners = arrays.corner_vertices
        return bool((inside[corners] & outside[corners[arrays.following]]).any())

    def _meet(self, one: Any, other: Any, growth: float) -> bool:
        first, second = self._triangles_of(one), self._triangles_of(other)
        return first is not None and second is not None and meet(first, second, growth)

    def _triangles_of(self, obj: Any) -> Triangles | None:
        if obj.name not in self._triangles:
            triangles = None
            with self._mesh(obj) as mesh:
                if mesh is not None:
                    triangles = triangles_of(mesh, self._arrays[obj.name], self._points(obj))
            self._triangles[obj.name] = triangles
        return self._triangles[obj.name]

    def _box(self, obj: Any) -> Bounds | None:
        """Return the bounds of an object that is a box along the world axes; None for every other object."""
        if obj.name not in self._boxes:
            self._boxes[obj.name] = None
            self.bounds(obj)
        return self._boxes[obj.name]

    def _points(self, obj: Any) -> Floats:
        """Return the positions of the object's vertices in world space."""
        points = self._world.get(obj.name)
        if points is None:
            matrix = np.array(self._rows(obj), np.float64)
            points = self._world[obj.name] = self._arrays[obj.name].positions @ matrix[:, :3].T + matrix[:, 3]
        return points

    def _rows(self, obj: Any) -> Rows:
        """Return the first three rows of the object's world matrix."""
        rows = self._matrices.get(obj.name)
        if rows is None:
            first, second, third, _ = obj.evaluated_get(self._graph).matrix_world
            rows = self._matrices[obj.name] = (first[:], second[:], third[:])
        return rows

    @contextmanager
    def _mesh(self, obj: Any) -> Generator[Any | None]:
        if obj.type in SOLID:
            evaluated = obj.evaluated_get(self._graph)
        else:
            evaluated = None
        if evaluated is None or not evaluated.is_evaluated:
            yield None
        elif obj.type == "MESH":
            yield evaluated.data
        else:
            with self._scene.evaluated_mesh(obj) as mesh:
                yield mesh


def _ordered(first: float, second: float) -> tuple[float, float]:
    if first <= second:
        return (first, second)
    return (second, first)


def _boxes_meet(first: Bounds, second: Bounds, within: float) -> bool:
    """Return True if the surfaces of two boxes are at most `within` apart. A negative value demands that they overlap by its amount."""
    (low, high), (second_low, second_high) = first, second
    if any(low[i] - within > second_high[i] or high[i] + within < second_low[i] for i in range(3)):
        return False
    # A box inside the other one is far from its surface.
    return not (_is_inside(first, second, within) or _is_inside(second, first, within))


def _is_inside(inner: Bounds, outer: Bounds, within: float) -> bool:
    (low, high), (outer_low, outer_high) = inner, outer
    return all(low[i] - within > outer_low[i] and high[i] + within < outer_high[i] for i in range(3))


def _reaches(points: Floats, box: Bounds, within: float) -> bool:
    """Return True if one of the points is at most `within` from the surface of the box."""
    low, high = box
    beyond = np.maximum(np.array(low) - points, points - np.array(high))
    nearest = np.maximum.reduce(beyond, axis=1)
    return bool((np.abs(nearest) <= within).any())
