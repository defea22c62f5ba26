"""What objects hold that a file of them must hold as well: faces, places, UV maps, materials and the pictures on them. Only reads."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from blendwright.wire.file_facts import FileFacts, TextureFacts

SURFACES = frozenset({"MESH", "CURVE", "SURFACE", "FONT", "META"})
# Inputs of a Principled BSDF that formats of other programs have a place for.
INPUTS = ("Base Color", "Metallic", "Roughness", "Normal", "Emission Color")
SURFACE = "Surface"


class _Bounds:
    """The box around points, in as many dimensions as they have."""

    def __init__(self) -> None:
        self._low: Any = None
        self._high: Any = None

    def add(self, points: Any) -> None:
        if len(points):
            low, high = points.min(axis=0), points.max(axis=0)
            if self._low is None:
                self._low = low
            else:
                self._low = np.minimum(self._low, low)
            if self._high is None:
                self._high = high
            else:
                self._high = np.maximum(self._high, high)

    @property
    def corners(self) -> tuple[list[float], list[float]]:
        if self._low is None:
            return [], []
        return [float(each) for each in self._low], [float(each) for each in self._high]


def facts_of(depsgraph: Any, objects: Iterable[Any]) -> FileFacts:
    """Measure objects as the dependency graph sees them."""
    chosen = {obj.session_uid for obj in objects}
    shapes: list[str] = []
    unmapped: set[str] = set()
    materials: dict[str, list[TextureFacts]] = {}
    box, uv_box = _Bounds(), _Bounds()
    triangles = open_edges = uv_maps = 0
    tessellated = _tessellated(depsgraph)
    for instance in depsgraph.object_instances:
        if instance.is_instance:
            owner = instance.parent
        else:
            owner = instance.object
        obj = instance.object
        if owner.original.session_uid not in chosen or obj.type not in SURFACES:
            continue
        if not instance.is_instance and obj.original.session_uid in tessellated:
            continue
        mesh = obj.to_mesh()
        if mesh is not None and len(mesh.polygons):
            mesh.calc_loop_triangles()
            triangles += len(mesh.loop_triangles)
            open_edges += _open_edges(mesh)
            shapes.append(obj.name)
            box.add(_positions(mesh, instance.matrix_world))
            for layer in mesh.uv_layers:
                uv_box.add(_coordinates(layer, len(mesh.loops)))
            uv_maps += len(mesh.uv_layers)
            used = _used_materials(obj, mesh)
            materials |= {each.name: list(textures_of(each)) for each in used if each.name not in materials}
            if not mesh.uv_layers and any(materials[each.name] for each in used):
                unmapped.add(obj.name)
        obj.to_mesh_clear()
    low, high = box.corners
    uv_low, uv_high = uv_box.corners
    return {
        "shapes": sorted(shapes),
        "triangles": triangles,
        "open_edges": open_edges,
        "low": low,
        "high": high,
        "uv_maps": uv_maps,
        "uv_low": uv_low,
        "uv_high": uv_high,
        "unmapped": sorted(unmapped),
        "materials": sorted(materials),
        "textures": [texture for name in sorted(materials) for texture in materials[name]],
    }


def _tessellated(depsgraph: Any) -> frozenset[int]:
    """Texts and curves whose faces the graph has as well, as a mesh that stands where they stand: each face counts once."""
    return frozenset(
        instance.parent.original.session_uid
        for instance in depsgraph.object_instances
        if instance.is_instance
        and instance.object.type == "MESH"
        and instance.parent.type != "MESH"
        and instance.object.original == instance.parent.original
    )


def _positions(mesh: Any, matrix: Any) -> Any:
    values = np.empty(len(mesh.vertices) * 3, np.float32)
    mesh.vertices.foreach_get("co", values)
    place: Any = np.array(matrix, np.float64)
    return values.reshape(-1, 3).astype(np.float64) @ place[:3, :3].T + place[:3, 3]


def _coordinates(layer: Any, corners: int) -> Any:
    values = np.empty(corners * 2, np.float32)
    layer.uv.foreach_get("vector", values)
    return values.reshape(-1, 2)


def _open_edges(mesh: Any) -> int:
    uses = np.empty(len(mesh.loops), np.int32)
    mesh.loops.foreach_get("edge_index", uses)
    return int(np.count_nonzero(np.bincount(uses, minlength=len(mesh.edges)) < 2))


def _used_materials(obj: Any, mesh: Any) -> list[Any]:
    """The materials of a shape's faces; slots that no face has are in no file."""
    indices = np.empty(len(mesh.polygons), np.int32)
    mesh.polygons.foreach_get("material_index", indices)
    slots = [slot.material for slot in obj.material_slots] or list(mesh.materials)
    return [slots[index] for index in np.unique(indices) if index < len(slots) and slots[index] is not None]


def textures_of(material: Any) -> Iterator[TextureFacts]:
    """The pictures that reach the inputs of a material's shader; those that reach its surface by another way count for `Surface`."""
    tree = material.node_tree
    if tree is None:
        output = None
    else:
        output = tree.get_output_node("ALL")
    if output is None or not output.inputs[SURFACE].is_linked:
        return
    shaders = [node for node in _upstream(output.inputs[SURFACE]) if node.type == "BSDF_PRINCIPLED"]
    by_input: dict[str, Any] = {}
    for shader in shaders:
        for name in INPUTS:
            socket = shader.inputs.get(name)
            for image in () if socket is None else _images(_upstream(socket)):
                by_input.setdefault(name, image)
    if not shaders:
        for image in _images(_upstream(output.inputs[SURFACE])):
            by_input.setdefault(SURFACE, image)
    for name, image in by_input.items():
        width, height = image.size
        yield {"material": material.name, "input": name, "image": image.name, "width": width, "height": height}


def _upstream(socket: Any) -> Iterator[Any]:
    """The nodes that a socket gets its value from, whichever way."""
    seen: set[int] = set()
    waiting = [link.from_node for link in socket.links]
    while waiting:
        node = waiting.pop()
        if node.as_pointer() in seen or node.mute:
            continue
        seen.add(node.as_pointer())
        yield node
        waiting += [link.from_node for each in node.inputs for link in each.links]


def _images(nodes: Iterable[Any], depth: int = 0) -> Iterator[Any]:
    for node in nodes:
        if node.type == "TEX_IMAGE" and node.image is not None:
            yield node.image
        elif node.type == "GROUP" and node.node_tree is not None and depth < 8:
            yield from _images(node.node_tree.nodes, depth + 1)
