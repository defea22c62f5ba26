"""World-space extents of evaluated objects, including their instances. Reads only.

For an object that Blender does not evaluate (hidden in viewports, or in no visible collection), the extent ignores its
modifiers. Its own channels and its parents determine its position.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, product

from blendwright.tool_api.scene import Block, Kind, Point, Scene
from blendwright.tools.mesh_data import positions_of
from blendwright.tools.world_space import world_matrix
from blendwright.values.errors import StepError
from blendwright.values.faults import Fault

# Types of objects that viewports draw, but that have no extent in a render.
BOUNDLESS = frozenset({"EMPTY", "LIGHT", "CAMERA", "SPEAKER", "LIGHT_PROBE", "ARMATURE", "LATTICE"})
# Types of objects that Blender can turn into a mesh.
SOLID = frozenset({"MESH", "CURVE", "SURFACE", "FONT", "META"})
# Modifiers that may create instances. Non-mesh components made by geometry nodes also appear as instances.
INSTANCING = frozenset({"NODES", "PARTICLE_SYSTEM"})
# Largest coordinate in metres: squares of larger ones overflow single precision, so distances are not finite.
MAX_COORDINATE = 1e18
# Smallest radius in metres.
MIN_RADIUS = 1e-3


@dataclass(frozen=True, slots=True)
class BoundingBox:
    """An axis-aligned box given by its two opposite corners."""

    low: Point
    high: Point

    @property
    def center(self) -> Point:
        x, y, z = ((a + b) / 2 for a, b in zip(self.low, self.high, strict=True))
        return x, y, z

    @property
    def corners(self) -> list[Point]:
        sides = zip(self.low, self.high, strict=True)
        return [(x, y, z) for x, y, z in product(*sides)]

    @property
    def radius(self) -> float:
        """Return the radius in metres of the sphere around the box."""
        return max(MIN_RADIUS, math.dist(self.low, self.high) / 2.0)

    def size(self, axis: int) -> float:
        return self.high[axis] - self.low[axis]


# Stand-in for an empty scene: a cube of 2 m at the origin.
NOTHING = BoundingBox((-1.0, -1.0, -1.0), (1.0, 1.0, 1.0))


class Reach:
    """Extents of the objects of one scene. Collects the scene's instances at most once."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._instances: dict[str, list[Point]] | None = None

    def corners(self, obj: Block) -> list[Point]:
        """Return the world-space corners of the object's box and of its instances' boxes; empty without an extent."""
        local_corners = own_box(self._scene, obj)
        if local_corners:
            world_corners = list(_placed(self._scene, local_corners, world_matrix(self._scene, obj)))
        else:
            world_corners = []
        return world_corners + self.instance_corners(obj)

    def bounds(self, obj: Block) -> BoundingBox | None:
        """Return the object's world-axis box, or None without an extent.

        The box is exact for the object itself. Instances contribute the corners of their boxes.
        """
        if obj.type not in SOLID:
            return around(self.corners(obj))
        with world_mesh(self._scene, obj) as mesh:
            extent = bounds_of(mesh)

        points = self.instance_corners(obj)
        if extent:
            points = [extent.low, extent.high, *points]
        return around(points)

    def own_size(self, obj: Block) -> Point:
        """Return the object's size along its local axes, in metres."""
        matrix = world_matrix(self._scene, obj)
        local_points = own_box(self._scene, obj)
        instances = self.instance_corners(obj)
        if instances:
            local_points += _placed(self._scene, instances, matrix.inverted_safe())
        box = around(local_points)
        if box is None:
            return 0.0, 0.0, 0.0
        x, y, z = (box.size(axis) * matrix.col[axis].length for axis in range(3))
        return x, y, z

    def instance_corners(self, obj: Block) -> list[Point]:
        if obj.instance_type == "NONE" and not any(modifier.type in INSTANCING for modifier in obj.modifiers):
            return []
        if self._instances is None:
            self._instances = _instances(self._scene)
        return self._instances.get(obj.name, [])


def around(points: Sequence[Sequence[float]]) -> BoundingBox | None:
    """Return the smallest box around points, or None for no points."""
    if not points:
        return None
    x, y, z = zip(*points, strict=True)
    return BoundingBox((min(x), min(y), min(z)), (max(x), max(y), max(z)))


def bounds_of(mesh: Block | None) -> BoundingBox | None:
    """Return the box around a mesh in its local space, or None without vertices."""
    if mesh is not None:
        positions = positions_of(mesh)
    else:
        positions = ()
    if not positions:
        return None
    x, y, z = positions[0::3], positions[1::3], positions[2::3]
    return BoundingBox((min(x), min(y), min(z)), (max(x), max(y), max(z)))


def own_box(scene: Scene, obj: Block) -> list[Point]:
    """Return the corners of the object's box in its local space, without instances; empty without an extent."""
    if obj.type in BOUNDLESS:
        return []
    source = scene.evaluated(obj)
    if obj.type == "MESH" and source.is_evaluated:
        box = [(x, y, z) for x, y, z in source.bound_box]
        if any(map(any, box)) or len(source.data.vertices):
            return box
        return []
    if obj.type not in SOLID:
        return [(x, y, z) for x, y, z in source.bound_box]
    # Blender's box around a curve includes control points with a margin of their radius, up to a metre on each side.
    # The box of an object that is not evaluated is out of date.
    with shape(scene, obj) as mesh:
        extent = bounds_of(mesh)
    if extent:
        return extent.corners
    return []


def corners(scene: Scene, objects: Sequence[Block]) -> list[Point]:
    """Return the corners of the boxes of objects and their instances; for an object without an extent, its origin.

    Raise StepError if an object is too large for single precision.
    """
    reach = Reach(scene)
    all_points: list[Point] = []
    for obj in objects:
        points = reach.corners(obj) or [_origin(scene, obj)]
        _refuse_endless(obj, points)
        all_points += points
    return all_points


def world_bounds(scene: Scene, objects: Iterable[Block]) -> list[BoundingBox]:
    """Return each object's world-axis box; for an object without an extent, an empty box at its origin.

    Raise StepError if an object is too large for single precision.
    """
    reach = Reach(scene)
    boxes: list[BoundingBox] = []
    for obj in objects:
        origin = _origin(scene, obj)
        bounds = reach.bounds(obj) or BoundingBox(origin, origin)
        _refuse_endless(obj, (bounds.low, bounds.high))
        boxes.append(bounds)
    return boxes


def everything(scene: Scene, without: str = "") -> list[Point]:
    """Return the corners of the boxes of all rendered objects except `without`."""
    return list(chain.from_iterable(everything_by_object(scene, without)))


def everything_by_object(scene: Scene, without: str = "") -> Iterator[list[Point]]:
    """Yield, for each rendered object except `without`, the corners of its box.

    Objects without an extent, and objects too large for single precision, are skipped.
    """
    reach = Reach(scene)
    for obj in visible(scene):
        if obj.name == without:
            continue
        box = reach.corners(obj)
        if box and _within_reach(box):
            yield box


def subject_points(scene: Scene, names: Sequence[str], without: str, frames: Sequence[int] = ()) -> list[Point]:
    """Return the corners of the boxes of the named objects, or of all rendered objects except `without` if none is
    named.

    The result covers each frame of `frames`, or the current frame if `frames` is empty. In an empty scene, return the
    corners of `NOTHING`.
    """
    points: list[Point] = []
    for frame in frames:
        with scene.at_frame(frame):
            points += _current_subject(scene, names, without)
    if not frames:
        points = _current_subject(scene, names, without)
    return points or NOTHING.corners


def _current_subject(scene: Scene, names: Sequence[str], without: str) -> list[Point]:
    named = [scene.require(Kind.OBJECT, name) for name in names]
    if named:
        return corners(scene, named)
    return everything(scene, without)


def subject(scene: Scene, names: Sequence[str], without: str) -> BoundingBox:
    """Return the box around the named objects, or around all rendered objects except `without` if none is named."""
    return around(subject_points(scene, names, without)) or NOTHING


def visible(scene: Scene) -> list[Block]:
    """Return the objects that a render shows, sorted by name.

    Such an object is in a collection of an enabled view layer, and no render flag hides it.
    """
    shown: dict[str, Block] = {}
    for layer in scene.active.view_layers:
        if layer.use:
            shown.update((obj.name, obj) for obj in _rendered(layer.layer_collection) if not obj.hide_render)
    with_extent = [obj for obj in shown.values() if obj.type not in BOUNDLESS or obj.instance_type == "COLLECTION"]
    return sorted(with_extent, key=lambda obj: obj.name)


def _rendered(layer_collection: Block) -> Iterator[Block]:
    if layer_collection.collection.hide_render:
        return  # this hides its child collections as well
    if not layer_collection.exclude:
        yield from layer_collection.collection.objects
    for child in layer_collection.children:
        yield from _rendered(child)


@contextmanager
def mesh_copy(obj: Block) -> Generator[Block, None, None]:
    """Yield a temporary copy of the object's mesh that the caller may modify; free it at the end."""
    try:
        yield obj.to_mesh()
    finally:
        obj.to_mesh_clear()


@contextmanager
def shape(scene: Scene, obj: Block) -> Generator[Block | None, None, None]:
    """Yield a temporary copy of the object's evaluated mesh in local space, or None if the object has no mesh."""
    if obj.type not in SOLID:
        yield None
        return
    source = scene.evaluated(obj)
    if not source.is_evaluated:
        source = obj
    with mesh_copy(source) as mesh:
        yield mesh


@contextmanager
def world_mesh(scene: Scene, obj: Block) -> Generator[Block | None, None, None]:
    """Yield a temporary copy of the object's evaluated mesh in world space, or None if the object has no mesh."""
    with shape(scene, obj) as mesh:
        if mesh is not None:
            mesh.transform(world_matrix(scene, obj))
        yield mesh


def _instances(scene: Scene) -> dict[str, list[Point]]:
    """Return the world-space box corners of all instances, by the name of the object that creates them."""
    by_instancer: dict[str, list[Point]] = {}
    for instance in scene.depsgraph().object_instances:
        if instance.is_instance and instance.object.type not in BOUNDLESS:
            corners = _placed(scene, instance.object.bound_box, instance.matrix_world)
            by_instancer.setdefault(instance.parent.original.name, []).extend(corners)
    return by_instancer


def _placed(scene: Scene, points: Iterable[Sequence[float]], matrix: Block) -> Iterator[Point]:
    for point in points:
        x, y, z = matrix @ scene.vector(point)
        yield x, y, z


def _origin(scene: Scene, obj: Block) -> Point:
    x, y, z = world_matrix(scene, obj).translation
    return x, y, z


def _within_reach(points: Iterable[Point]) -> bool:
    return all(-MAX_COORDINATE <= part <= MAX_COORDINATE for part in chain(*points))  # also False for NaN


def _refuse_endless(obj: Block, points: Iterable[Point]) -> None:
    if not _within_reach(points):
        message = f"object '{obj.name}' is too large to compute with in single precision"
        raise StepError.of(Fault.SCENE_CONFLICT, message, cure="Make it smaller, or delete it.")
