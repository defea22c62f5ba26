"""Counts and bounds of an object's geometry after its modifiers, including all components and instances.

The evaluated mesh contains no curves, points, volumes or instances. From Blender 4.5 on, the evaluated geometry contains them. In
older versions, only the list of all instances of the scene shows them.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from blendwright.blender.scene.reader import SceneReader
from blendwright.tool_api.scene import GeometryFacts, Point

Points = npt.NDArray[np.float64]

# The deepest nesting of instances within instances, as in Blender.
MAX_DEPTH = 8
COUNTS = ("vertices", "edges", "faces", "curves", "points", "volumes", "strokes")


class Evaluation(SceneReader):
    """The part of the Scene port that measures evaluated geometry."""

    def geometry_facts(self, obj: Any, *, open_edges: bool = False) -> GeometryFacts | None:
        evaluated = self.evaluated(obj)
        if not evaluated.is_evaluated:
            return None
        if hasattr(evaluated, "evaluated_geometry"):
            return _of_set(evaluated.evaluated_geometry(), open_edges, 0)
        return self._of_instances(evaluated, open_edges)

    def _of_instances(self, evaluated: Any, open_edges: bool) -> GeometryFacts:
        facts = [_of_data(evaluated.data, open_edges)]
        origin: Any = np.array(evaluated.matrix_world.inverted_safe())
        loose = 0
        for instance in self.depsgraph().object_instances:
            if instance.is_instance and instance.parent == evaluated:
                part = _of_data(instance.object.data, open_edges)
                if instance.object.type == "CURVE":
                    # Curves from nodes have no splines here, so their number is unknown; count at least one.
                    part = replace(part, curves=max(1, part.curves))
                # Instances of other types are components of the object itself.
                if instance.object.type == "MESH":
                    loose += 1
                facts.append(_moved(part, (origin @ np.array(instance.matrix_world))[None]))
        return replace(_total(facts), loose_instances=loose)


def _of_set(geometry: Any, open_edges: bool, depth: int) -> GeometryFacts:
    parts = (geometry.mesh, geometry.curves, geometry.pointcloud, geometry.volume, geometry.grease_pencil)
    facts = [_of_data(part, open_edges) for part in parts if part is not None]
    instances = geometry.instances_pointcloud()
    if instances is None:
        return _total(facts)

    count = len(instances.points)
    attributes = instances.attributes
    reference_indices = np.empty(count, np.int32)
    attributes[".reference_index"].data.foreach_get("value", reference_indices)
    transforms = np.empty(count * 16, np.float32)
    attributes["instance_transform"].data.foreach_get("value", transforms)
    matrices = transforms.reshape(count, 4, 4).transpose(0, 2, 1).astype(np.float64)
    for number, reference in enumerate(geometry.instance_references()):
        transforms_of_reference = matrices[reference_indices == number]
        if len(transforms_of_reference) and depth < MAX_DEPTH:
            facts.append(_moved(_of_reference(reference, open_edges, depth + 1), transforms_of_reference))

    names = frozenset(attributes.keys()) - {".reference_index", "instance_transform", "position"}
    facts.append(GeometryFacts(attributes=names))
    return replace(_total(facts), loose_instances=count)


def _of_reference(reference: Any, open_edges: bool, depth: int) -> GeometryFacts:
    """Return the facts about the source of an instance: geometry, an object, or a collection."""
    if hasattr(reference, "instances_pointcloud"):
        return _of_set(reference, open_edges, depth)
    if hasattr(reference, "all_objects"):
        members = reference.all_objects
    else:
        members = [reference]

    facts: list[GeometryFacts] = []
    for member in members:
        if member.is_evaluated:
            part = _of_set(member.evaluated_geometry(), open_edges, depth)
            facts.append(_moved(part, np.array(member.matrix_world)[None]))
    return _total(facts)


def _of_data(data: Any, open_edges: bool) -> GeometryFacts:
    kind = type(data).__name__
    if kind == "Mesh":
        facts = GeometryFacts(vertices=len(data.vertices), edges=len(data.edges), faces=len(data.polygons))
        if open_edges:
            facts = replace(facts, open_edges=_open_edges(data))
        return _with_attributes(facts, data, facts.vertices)
    if kind == "Curves":
        return _with_attributes(GeometryFacts(curves=len(data.curves)), data, len(data.curves))
    if kind == "PointCloud":
        return _with_attributes(GeometryFacts(points=len(data.points)), data, len(data.points))
    if kind == "Volume":
        return GeometryFacts(volumes=1)
    if kind.startswith("GreasePencil"):
        return GeometryFacts(strokes=sum(len(_strokes(layer)) for layer in data.layers))
    if kind in ("Curve", "SurfaceCurve", "TextCurve"):
        return GeometryFacts(curves=len(data.splines))
    return GeometryFacts()


def _strokes(layer: Any) -> Any:
    if hasattr(layer, "current_frame"):
        frame = layer.current_frame()
    else:
        frame = None
    return getattr(getattr(frame, "drawing", None), "strokes", ())


def _with_attributes(facts: GeometryFacts, data: Any, count: int) -> GeometryFacts:
    facts = replace(facts, attributes=frozenset(data.attributes.keys()))
    if not count:
        return facts
    attribute = data.attributes["position"].data
    values = np.empty(len(attribute) * 3, np.float32)
    attribute.foreach_get("vector", values)
    return _bounded(facts, values.reshape(-1, 3).astype(np.float64))


def _open_edges(mesh: Any) -> int:
    uses = np.empty(len(mesh.loops), np.int32)
    mesh.loops.foreach_get("edge_index", uses)
    return int(np.count_nonzero(np.bincount(uses, minlength=len(mesh.edges)) != 2))


def _bounded(facts: GeometryFacts, positions: Points) -> GeometryFacts:
    return replace(facts, low=_corner(positions.min(axis=0)), high=_corner(positions.max(axis=0)))


def _moved(facts: GeometryFacts, transforms: Points) -> GeometryFacts:
    """Return the facts about one copy of the geometry for each 4x4 matrix in `transforms`."""
    copies = len(transforms)
    counts = {name: getattr(facts, name) * copies for name in COUNTS}
    if facts.open_edges is not None:
        counts["open_edges"] = facts.open_edges * copies
    if facts.low is None or facts.high is None:
        return replace(facts, **counts)

    corners = np.array([(*corner, 1.0) for corner in product(*zip(facts.low, facts.high, strict=True))])
    moved_corners: Any = np.matmul(transforms, corners.T).transpose(0, 2, 1)[:, :, :3].reshape(-1, 3)
    return _bounded(replace(facts, **counts), moved_corners)


def _total(parts: Sequence[GeometryFacts]) -> GeometryFacts:
    """Return the facts about all parts together: summed counts, all attributes, and the bounds around everything."""
    counts = {name: sum(getattr(part, name) for part in parts) for name in COUNTS}
    total = replace(GeometryFacts(), **counts)

    open_edges = [part.open_edges for part in parts if part.open_edges is not None]
    if open_edges:
        total = replace(total, open_edges=sum(open_edges))
    attributes = frozenset[str]().union(*(part.attributes for part in parts))

    corners: list[Point] = []
    for part in parts:
        if part.low is not None and part.high is not None:
            corners += [part.low, part.high]
    if corners:
        total = _bounded(total, np.array(corners))
    return replace(total, attributes=attributes)


def _corner(values: Points) -> tuple[float, float, float]:
    return (float(values[0]), float(values[1]), float(values[2]))
