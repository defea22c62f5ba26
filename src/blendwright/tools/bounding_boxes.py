"""How far objects reach in the world: what they evaluate to, their instances included. Reads only.

An object that Blender does not evaluate (hidden from viewports, or in no visible collection) is taken as it is without its
modifiers, where its own channels and its parents place it.
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

# Objects of these types have a drawing, but no extent that a picture would show.
BOUNDLESS = frozenset({"EMPTY", "LIGHT", "CAMERA", "SPEAKER", "LIGHT_PROBE", "ARMATURE", "LATTICE"})
# Types of objects that Blender can turn into a mesh.
SOLID = frozenset({"MESH", "CURVE", "SURFACE", "FONT", "META"})
# Modifiers that may make instances; what other components nodes make of a mesh comes as instances too.
INSTANCING = frozenset({"NODES", "PARTICLE_SYSTEM"})
# Farther out the squares that distances are made of are no longer finite in single precision.
FARTHEST = 1e18
SMALLEST = 1e-3


@dataclass(frozen=True, slots=True)
class BoundingBox:
    """A box along axes."""

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
        """Of the sphere around the box."""
        return max(SMALLEST, math.dist(self.low, self.high) / 2.0)

    def size(self, axis: int) -> float:
        return self.high[axis] - self.low[axis]


# Where there is nothing yet, a set-up is made for a cube of two metres at the origin.
NOTHING = BoundingBox((-1.0, -1.0, -1.0), (1.0, 1.0, 1.0))


class Reach:
    """How far objects reach, asking for the instances of the scene once at the most."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._instances: dict[str, list[Point]] | None = None

    def corners(self, obj: Block) -> list[Point]:
        """The corners of its own box and of those of its instances, in the world; none when it has no extent."""
        own = own_box(self._scene, obj)
        if own:
            placed = list(_placed(self._scene, own, world_matrix(self._scene, obj)))
        else:
            placed = []
        return placed + self.instance_corners(obj)

    def bounds(self, obj: Block) -> BoundingBox | None:
        """The box along the world's axes: exact but for instances, which count with the corners of their boxes."""
        if obj.type not in SOLID:
            return around(self.corners(obj))
        with world_mesh(self._scene, obj) as mesh:
            extent = bounds_of(mesh)
        return around([*((extent.low, extent.high) if extent else ()), *self.instance_corners(obj)])

    def own_size(self, obj: Block) -> Point:
        """The size along its own axes, in metres."""
        matrix = world_matrix(self._scene, obj)
        instances = self.instance_corners(obj)
        if instances:
            inside = _placed(self._scene, instances, matrix.inverted_safe())
        else:
            inside = ()
        box = around([*own_box(self._scene, obj), *inside])
        x, y, z = (box.size(axis) * matrix.col[axis].length if box else 0.0 for axis in range(3))
        return x, y, z

    def instance_corners(self, obj: Block) -> list[Point]:
        if obj.instance_type == "NONE" and not any(modifier.type in INSTANCING for modifier in obj.modifiers):
            return []
        if self._instances is None:
            self._instances = _instances(self._scene)
        return self._instances.get(obj.name, [])


def around(points: Sequence[Sequence[float]]) -> BoundingBox | None:
    """The box around points; None without any."""
    if not points:
        return None
    x, y, z = zip(*points, strict=True)
    return BoundingBox((min(x), min(y), min(z)), (max(x), max(y), max(z)))


def bounds_of(mesh: Block | None) -> BoundingBox | None:
    """The box around a mesh, in its own space; None without vertices."""
    if mesh is not None:
        positions = positions_of(mesh)
    else:
        positions = ()
    if not positions:
        return None
    x, y, z = positions[0::3], positions[1::3], positions[2::3]
    return BoundingBox((min(x), min(y), min(z)), (max(x), max(y), max(z)))


def own_box(scene: Scene, obj: Block) -> list[Point]:
    """The corners of its box in its own space, without instances; none when it has no extent."""
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
    # Blender's box around a curve counts control points with a margin of their radius, up to a metre on each side; that of an
    # object which is not evaluated is an old one.
    with shape(scene, obj) as mesh:
        extent = bounds_of(mesh)
    if extent:
        return extent.corners
    return []


def corners(scene: Scene, objects: Sequence[Block]) -> list[Point]:
    """The corners of the boxes of objects and of their instances; the origin of one that has no extent."""
    reach = Reach(scene)
    all_points: list[Point] = []
    for obj in objects:
        points = reach.corners(obj) or [_origin(scene, obj)]
        _refuse_endless(obj, points)
        all_points += points
    return all_points


def world_bounds(scene: Scene, objects: Iterable[Block]) -> list[BoundingBox]:
    """The box around each object, along the world's axes; its origin when it has no extent."""
    reach = Reach(scene)
    boxes: list[BoundingBox] = []
    for obj in objects:
        origin = _origin(scene, obj)
        bounds = reach.bounds(obj) or BoundingBox(origin, origin)
        _refuse_endless(obj, (bounds.low, bounds.high))
        boxes.append(bounds)
    return boxes


def everything(scene: Scene, without: str = "") -> list[Point]:
    """The corners of all that a render shows."""
    return [point for box in everything_by_object(scene, without) for point in box]


def everything_by_object(scene: Scene, without: str = "") -> Iterator[list[Point]]:
    """The same for each object; what reaches too far to compute with cannot be shown along with the rest."""
    reach = Reach(scene)
    boxes = (reach.corners(obj) for obj in visible(scene) if obj.name != without)
    return (box for box in boxes if box and _within_reach(box))


def subject_points(scene: Scene, names: Sequence[str], without: str, frames: Sequence[int] = ()) -> list[Point]:
    """What a picture is about: the corners of these objects; of all that a render shows but `without`, where none is named.

    At each of `frames`; at the current one, where none is named.
    """
    points: list[Point] = []
    for frame in frames:
        with scene.at_frame(frame):
            points += _subject_now(scene, names, without)
    return (points if frames else _subject_now(scene, names, without)) or NOTHING.corners


def _subject_now(scene: Scene, names: Sequence[str], without: str) -> list[Point]:
    named = [scene.require(Kind.OBJECT, name) for name in names]
    if named:
        return corners(scene, named)
    return everything(scene, without)


def subject(scene: Scene, names: Sequence[str], without: str) -> BoundingBox:
    """The box around what a picture is about."""
    return around(subject_points(scene, names, without)) or NOTHING


def visible(scene: Scene) -> list[Block]:
    """The objects that a render shows, by name: in a collection that a view layer has and no flag hides."""
    shown: dict[str, Block] = {}
    for layer in scene.active.view_layers:
        if layer.use:
            shown.update((obj.name, obj) for obj in _rendered(layer.layer_collection) if not obj.hide_render)
    extended = [obj for obj in shown.values() if obj.type not in BOUNDLESS or obj.instance_type == "COLLECTION"]
    return sorted(extended, key=lambda obj: obj.name)


def _rendered(layer_collection: Block) -> Iterator[Block]:
    if layer_collection.collection.hide_render:
        return  # which hides what is below it too
    if not layer_collection.exclude:
        yield from layer_collection.collection.objects
    for child in layer_collection.children:
        yield from _rendered(child)


@contextmanager
def mesh_copy(obj: Block) -> Generator[Block, None, None]:
    """An object's mesh as a copy of our own, so that it can be moved; freed at the end."""
    try:
        yield obj.to_mesh()
    finally:
        obj.to_mesh_clear()


@contextmanager
def shape(scene: Scene, obj: Block) -> Generator[Block | None, None, None]:
    """A copy of the mesh that an object evaluates to, in its own space; None when it evaluates to none."""
    if obj.type not in SOLID:
        yield None
        return
    evaluated = scene.evaluated(obj)
    with mesh_copy(evaluated if evaluated.is_evaluated else obj) as mesh:
        yield mesh


@contextmanager
def world_mesh(scene: Scene, obj: Block) -> Generator[Block | None, None, None]:
    """A copy of the mesh that an object evaluates to, in world coordinates; None when it evaluates to none."""
    with shape(scene, obj) as mesh:
        if mesh is not None:
            mesh.transform(world_matrix(scene, obj))
        yield mesh


def _instances(scene: Scene) -> dict[str, list[Point]]:
    """The corners of the boxes of all instances in the scene, by the name of the object that makes them."""
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
    return all(-FARTHEST <= part <= FARTHEST for part in chain(*points))  # false for what is no number, too


def _refuse_endless(obj: Block, points: Iterable[Point]) -> None:
    if not _within_reach(points):
        message = f"object '{obj.name}' reaches farther than can be computed with in single precision"
        raise StepError.of(Fault.SCENE_CONFLICT, message, cure="Make it smaller, or delete it.")
