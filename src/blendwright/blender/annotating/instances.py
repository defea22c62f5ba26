"""The instances to annotate: objects in a scene that have a category, each with the shapes that it consists of.

An object is one instance. Collection instances, geometry nodes and particles repeat objects. Each repetition is a separate instance
if the repeated object has a category. If only the repeating object has one, all repetitions together are that object.
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

# Blender's filler for unused parts of a persistent id.
UNUSED = 2**31 - 1
# Types of objects that Blender can convert to a mesh.
TO_MESH = frozenset({"CURVE", "SURFACE", "FONT", "META"})


@dataclass(frozen=True, slots=True)
class Shape:
    """Vertices and triangles in local space. Equal shapes have an equal `key`."""

    key: int
    vertices: Array
    triangles: npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Appearance:
    """An occurrence of an object in the render. `source` is the object's pointer.

    `matrix` and `random` distinguish it from other occurrences of the same object. `shape` is None if unknown.
    """

    source: int
    matrix: Array
    random: float
    shape: Shape | None

    @property
    def location(self) -> Array:
        return self.matrix[:3, 3]


@dataclass(slots=True)
class Thing:
    """An instance. `original` is the object whose local space it uses."""

    name: str
    instancer: str | None
    category: int
    matrix: Array
    original: Any
    appearances: list[Appearance] = field(default_factory=list[Appearance])

    def world_vertices(self) -> Array:
        """Return the vertices of all its shapes in the world."""
        parts: list[Array] = []
        for appearance in self.appearances:
            shape, matrix = appearance.shape, appearance.matrix
            if shape is not None and len(shape.vertices):
                parts.append(shape.vertices @ matrix[:3, :3].T + matrix[:3, 3])
        if parts:
            return np.concatenate(parts)
        return np.zeros((0, 3))


@dataclass(frozen=True, slots=True)
class Shown:
    """All that a render shows: things, numbered from 1, and appearances without category, which have the number 0."""

    things: list[Thing]
    unlabelled: list[Appearance]

    def by_source(self) -> Mapping[int, list[tuple[int, Appearance]]]:
        """Return for each object with a category its appearances, each with the number of its thing."""
        numbered: dict[int, list[tuple[int, Appearance]]] = {}
        for number, thing in enumerate(self.things, 1):
            for appearance in thing.appearances:
                numbered.setdefault(appearance.source, []).append((number, appearance))
        for appearance in self.unlabelled:
            if appearance.source in numbered:
                numbered[appearance.source].append((0, appearance))
        return numbered

    def needs_telling_apart(self) -> bool:
        """Return True if one object appears in several things, or both inside and outside of things."""
        return any(len(_thing_numbers(shown)) > 1 for shown in self.by_source().values())


def _thing_numbers(candidates: list[tuple[int, Appearance]]) -> set[int]:
    return {number for number, _ in candidates}


def find_things(scene: Any, depsgraph: Any, labels: Labels) -> Shown:
    """Return everything that a render shows. Things are sorted by name, repetitions by Blender's identifiers.

    Raise StepError if an object with a category is hidden from viewports, because its shape is then unknown.
    """
    rendered = _rendered(scene)
    evaluated: set[int] = set()
    shapes: dict[int, Shape | None] = {}
    things: dict[tuple[Any, ...], Thing] = {}
    unlabelled: list[Appearance] = []
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
            unlabelled.append(Appearance(source.as_pointer(), matrix, random, None))
            continue
        thing = things.get(key)
        if thing is None:
            is_own = owner == source
            if is_own:
                thing_matrix = matrix
            else:
                thing_matrix = np.array(owner.evaluated_get(depsgraph).matrix_world, dtype=np.float64)
            if instancer is not None and is_own and instancer != source:
                instancer_name = instancer.name
            else:
                instancer_name = None
            thing = things[key] = Thing(owner.name, instancer_name, category, thing_matrix, owner)
        shape = _shape(entry.object, shapes)
        thing.appearances.append(Appearance(source.as_pointer(), matrix, random, shape))

    for obj in rendered.values():
        if obj.name in labels.categories and obj.as_pointer() not in evaluated:
            message = f"object '{obj.name}' is visible in renders but hidden from viewports, so its shape is unknown"
            raise StepError.of(Fault.SCENE_CONFLICT, message, cure="Show it in viewports, or hide it from renders too.")
    return Shown([things[key] for key in sorted(things)], unlabelled)


def _owner(
    labels: Labels, source: Any, instancer: Any | None, number: tuple[int, ...]
) -> tuple[tuple[Any, ...], Any, int | None]:
    """Return the key of the thing that an appearance belongs to, the object of the thing, and its category."""
    category = labels.categories.get(source.name)
    if instancer is None or instancer == source:
        return (source.name, "", ()), source, category
    if category is not None:
        used_parts = tuple(part for part in number if part != UNUSED)
        return (source.name, instancer.name, used_parts), source, category
    return (instancer.name, "", ()), instancer, labels.categories.get(instancer.name)


def _rendered(scene: Any) -> dict[int, Any]:
    """Return the objects by pointer that neither a collection nor the object hides from renders of the first view layer."""
    objects: dict[int, Any] = {}

    def walk(layer: Any) -> None:
        if layer.collection.hide_render:
            return
        if not layer.exclude:
            for obj in layer.collection.objects:
                if not obj.hide_render:
                    objects[obj.as_pointer()] = obj
        for child in layer.children:
            walk(child)

    walk(scene.view_layers[0].layer_collection)
    return objects


def _shape(evaluated: Any, known: dict[int, Shape | None]) -> Shape | None:
    """Return the shape of an evaluated object; None if it has no faces. `known` caches shapes by data pointer."""
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
    """Return the number of the thing at each pixel, 0 for none.

    `objects` maps each object to its index in `indices`. `places` and `randoms` are the position and random number of the shown
    object per pixel. They are required if `needs_telling_apart` returns True.
    """
    numbers = np.zeros(indices.shape, np.int64)
    for source, candidates in shown.by_source().items():
        pixels = indices == objects.get(source, -1)
        thing_numbers = _thing_numbers(candidates)
        if len(thing_numbers) == 1:
            numbers[pixels] = thing_numbers.pop()
        elif places is not None and randoms is not None and pixels.any():
            numbers[pixels] = _nearest(candidates, places[pixels], randoms[pixels])
    return numbers


def _nearest(shown: list[tuple[int, Appearance]], places: Any, randoms: Any) -> Any:
    """Return for each pixel the number of the appearance with the nearest position and random number."""
    candidates = np.array([[*appearance.location, appearance.random] for _, appearance in shown])
    values, inverse = np.unique(np.column_stack([places, randoms]).astype(np.float64), axis=0, return_inverse=True)
    scale = 1.0 + np.abs(candidates[:, :3]).max()
    best = np.empty(len(values), np.int64)
    for row, value in enumerate(values):
        distances = np.abs(candidates - value)
        best[row] = shown[int((distances[:, :3].max(axis=1) / scale + distances[:, 3]).argmin())][0]
    return best[inverse.ravel()]
