"""What an object amounts to after its modifiers: every component, instances included, as counts and bounds.

Responsible for: counting what is really there. Curves, points, volumes and instances are no part of the evaluated mesh; from
Blender 4.5 on they are in the evaluated geometry, before that only in the list of all instances of the scene.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from blendwright.blender.scene.reader import SceneReader
from blendwright.tool_api.scene import GeometryFacts

Points = npt.NDArray[np.float64]

# Instances may hold instances; Blender itself stops at eight.
DEEPEST = 8
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
                one = _of_data(instance.object.data, open_edges)
                if instance.object.type == "CURVE":
                    # Curves that nodes made have no splines here: that there are some is all that can be said.
                    one = replace(one, curves=max(1, one.curves))
                # Other components of the object itself come as instances that stand where it stands.
                loose += instance.object.type == "MESH"
                facts.append(_moved(one, (origin @ np.array(instance.matrix_world))[None]))
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
        places = matrices[reference_indices == number]
        if len(places) and depth < DEEPEST:
            facts.append(_moved(_of_reference(reference, open_edges, depth + 1), places))
    names = frozenset(attributes.keys()) - {".reference_index", "instance_transform", "position"}
    facts.append(GeometryFacts(attributes=names))
    return replace(_total(facts), loose_instances=count)


def _of_reference(reference: Any, open_edges: bool, depth: int) -> GeometryFacts:
    """What one instance is made of: geometry, an object, or a collection."""
    if hasattr(reference, "instances_pointcloud"):
        return _of_set(reference, open_edges, depth)
    if hasattr(reference, "all_objects"):
        members = reference.all_objects
    else:
        members = [reference]
    return _total(
        [
            _moved(_of_set(member.evaluated_geometry(), open_edges, depth), np.array(member.matrix_world)[None])
            for member in members
            if member.is_evaluated
        ]
    )


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


def _moved(facts: GeometryFacts, places: Points) -> GeometryFacts:
    """The same geometry at each of the places."""
    times = len(places)
    many = {name: getattr(facts, name) * times for name in COUNTS}
    if facts.open_edges is not None:
        many["open_edges"] = facts.open_edges * times
    if facts.low is None or facts.high is None:
        return replace(facts, **many)
    ends = np.array([facts.low, facts.high])
    corners = np.array([[ends[x, 0], ends[y, 1], ends[z, 2], 1.0] for x in (0, 1) for y in (0, 1) for z in (0, 1)])
    moved_corners: Any = np.matmul(places, corners.T).transpose(0, 2, 1)[:, :, :3].reshape(-1, 3)
    return _bounded(replace(facts, **many), moved_corners)


def _total(facts: Iterable[GeometryFacts]) -> GeometryFacts:
    parts = list(facts)
    counts = {name: sum(getattr(one, name) for one in parts) for name in COUNTS}
    open_edges = [one.open_edges for one in parts if one.open_edges is not None]
    lows = np.array([one.low for one in parts if one.low is not None])
    highs = np.array([one.high for one in parts if one.high is not None])
    return GeometryFacts(
        **counts,
        open_edges=sum(open_edges) if open_edges else None,
        attributes=frozenset[str]().union(*(one.attributes for one in parts)),
        low=_corner(lows.min(axis=0)) if len(lows) else None,
        high=_corner(highs.max(axis=0)) if len(highs) else None,
    )


def _corner(values: Points) -> tuple[float, float, float]:
    return (float(values[0]), float(values[1]), float(values[2]))
