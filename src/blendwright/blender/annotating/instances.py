"""What there is to annotate: the things in a scene that have a category, each with the shapes that it is made of.

An object is one thing. What a collection instance, geometry nodes or particles repeat is a thing each time where the repeated object has a
category of its own; where only the object that repeats it has one, all of it together is that object.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from blendwright.tool_api.annotations import Labels
from blendwright.values.errors import StepError
from blendwright.values.faults import Fault

Array = npt.NDArray[np.float64]

# Blender fills what an id has no use for with this.
UNUSED = 2**31 - 1
TO_MESH = frozenset({"CURVE", "SURFACE", "FONT", "META"})


@dataclass(frozen=True, slots=True)
class Shape:
    """Corners and triangles in their own space; `key` is equal for shapes that are the same."""

    key: int
    vertices: Array
    triangles: npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Appearance:
    """One time that an object is shown: which one (a pointer), what tells it from others that show the same object, and its shape."""

    source: int
    matrix: Array
    random: float
    shape: Shape | None

    @property
    def location(self) -> Array:
        return self.matrix[:3, 3]


@dataclass(slots=True)
class Thing:
    """One instance. `original` is the object whose space it has."""

    name: str
    instancer: str | None
    category: int
    matrix: Array
    original: Any
    appearances: list[Appearance] = field(default_factory=list[Appearance])

    def world_vertices(self) -> Array:
        placed = [
            each.shape.vertices @ each.matrix[:3, :3].T + each.matrix[:3, 3]
            for each in self.appearances
            if each.shape is not None and len(each.shape.vertices)
        ]
        if placed:
            return np.concatenate(placed)
        return np.zeros((0, 3))


@dataclass(frozen=True, slots=True)
class Shown:
    """The things that a render shows, by their numbers from 1 on, and what else it shows, which has the number 0."""

    things: list[Thing]
    others: list[Appearance]

    def by_source(self) -> Mapping[int, list[tuple[int, Appearance]]]:
        """For each object, where it is shown as a part of what, by the numbers of things."""
        found: dict[int, list[tuple[int, Appearance]]] = {}
        for number, thing in enumerate(self.things, 1):
            for each in thing.appearances:
                found.setdefault(each.source, []).append((number, each))
        for each in self.others:
            if each.source in found:
                found[each.source].append((0, each))
        return found

    def needs_telling_apart(self) -> bool:
        """Whether an object is shown as a part of several things, or also as a part of none."""
        return any(len({number for number, _ in shown}) > 1 for shown in self.by_source().values())


def find_things(scene: Any, depsgraph: Any, labels: Labels) -> Shown:
    """Everything that a render shows; what has a category in the order of names; what is repeated, in Blender's own order."""
    rendered = _rendered(scene)
    evaluated: set[int] = set()
    shapes: dict[int, Shape | None] = {}
    things: dict[tuple[Any, ...], Thing] = {}
    others: list[Appearance] = []
    for entry in depsgraph.object_instances:
        source = entry.object.original
        evaluated.add(source.as_pointer())
        if entry.is_instance and entry.parent is not None:
            instancer = entry.parent.original
        else:
            instancer = None
        if instancer is None:
            shown_by = source
        else:
            shown_by = instancer
        if source.hide_render or shown_by.as_pointer() not in rendered or not entry.show_self:
            continue
        key, owner, category = _owner(labels, source, instancer, tuple(entry.persistent_id))
        matrix: Array = np.array(entry.matrix_world, dtype=np.float64)
        random = (entry.random_id % 2**32) / (2**32 - 1)
        if category is None:
            others.append(Appearance(source.as_pointer(), matrix, random, None))
            continue
        thing = things.get(key)
        if thing is None:
            is_own = owner == source
            if is_own:
                place = matrix
            else:
                place = np.array(owner.evaluated_get(depsgraph).matrix_world, dtype=np.float64)
            if instancer is not None and is_own and instancer != source:
                made_by = instancer.name
            else:
                made_by = None
            thing = things[key] = Thing(owner.name, made_by, category, place, owner)
        shape = _shape(entry.object, shapes)
        thing.appearances.append(Appearance(source.as_pointer(), matrix, random, shape))
    for obj in rendered.values():
        if obj.name in labels.categories and obj.as_pointer() not in evaluated:
            message = f"object '{obj.name}' is in renders, but hidden from viewports: its shape is not known"
            raise StepError.of(Fault.SCENE_CONFLICT, message, cure="Show it, or hide it from renders too.")
    return Shown([things[key] for key in sorted(things)], others)


def _owner(
    labels: Labels, source: Any, instancer: Any | None, number: tuple[int, ...]
) -> tuple[tuple[Any, ...], Any, int | None]:
    """The key of the thing that something belongs to, the object that it is, and its category."""
    own = labels.categories.get(source.name)
    if instancer is None or instancer == source:
        return (source.name, "", ()), source, own
    if own is not None:
        return (source.name, instancer.name, tuple(each for each in number if each != UNUSED)), source, own
    return (instancer.name, "", ()), instancer, labels.categories.get(instancer.name)


def _rendered(scene: Any) -> dict[int, Any]:
    """The objects that no collection and no setting of their own hides from renders of the first view layer, by pointer."""
    found: dict[int, Any] = {}

    def walk(layer: Any) -> None:
        if layer.collection.hide_render:
            return
        if not layer.exclude:
            found.update({obj.as_pointer(): obj for obj in layer.collection.objects if not obj.hide_render})
        for child in layer.children:
            walk(child)

    walk(scene.view_layers[0].layer_collection)
    return found


def _shape(evaluated: Any, known: dict[int, Shape | None]) -> Shape | None:
    """The shape of an evaluated object, None where it has none that is made of faces."""
    data = evaluated.data
    if data is None:
        return None
    key = data.as_pointer()
    if key not in known:
        if evaluated.type == "MESH":
            known[key] = _of_mesh(key, data)
        elif evaluated.type in TO_MESH:
            mesh = evaluated.to_mesh()
            if mesh is None:
                known[key] = None
            else:
                known[key] = _of_mesh(key, mesh)
            evaluated.to_mesh_clear()
        else:
            known[key] = None
    return known[key]


def _of_mesh(key: int, mesh: Any) -> Shape:
    mesh.calc_loop_triangles()
    vertices = np.empty(len(mesh.vertices) * 3, np.float32)
    mesh.vertices.foreach_get("co", vertices)
    triangles = np.empty(len(mesh.loop_triangles) * 3, np.int32)
    mesh.loop_triangles.foreach_get("vertices", triangles)
    return Shape(key, vertices.reshape(-1, 3).astype(np.float64), triangles.reshape(-1, 3))


def numbers_of(shown: Shown, objects: Mapping[int, int], indices: Any, places: Any | None, randoms: Any | None) -> Any:
    """The number of the thing at each pixel, 0 for none. `objects` gives the index of each object in `indices`; `places` and `randoms` are
    where the shown object stands and its random number, needed where `needs_telling_apart`."""
    numbers = np.zeros(indices.shape, np.int64)
    for source, candidates in shown.by_source().items():
        pixels = indices == objects.get(source, -1)
        alike = {number for number, _ in candidates}
        if len(alike) == 1:
            numbers[pixels] = alike.pop()
        elif places is not None and randoms is not None and pixels.any():
            numbers[pixels] = _nearest(candidates, places[pixels], randoms[pixels])
    return numbers


def _nearest(shown: list[tuple[int, Appearance]], places: Any, randoms: Any) -> Any:
    """Whose place and random number each pixel has. Two that stand at one place are told apart by the random number alone."""
    known = np.array([[*each.location, each.random] for _, each in shown])
    values, inverse = np.unique(np.column_stack([places, randoms]).astype(np.float64), axis=0, return_inverse=True)
    scale = 1.0 + np.abs(known[:, :3]).max()
    best = np.empty(len(values), np.int64)
    for row, value in enumerate(values):
        apart = np.abs(known - value)
        best[row] = shown[int((apart[:, :3].max(axis=1) / scale + apart[:, 3]).argmin())][0]
    return best[inverse.ravel()]
