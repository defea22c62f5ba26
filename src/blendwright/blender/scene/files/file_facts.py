"""Facts about objects that an exported file must reproduce: faces, bounds, UV maps, materials and textures. This module only reads."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from blendwright.wire.file_facts import FileFacts, TextureFacts

SURFACES = frozenset({"MESH", "CURVE", "SURFACE", "FONT", "META"})
# Inputs of a Principled BSDF that formats of other programs can store.
INPUTS = ("Base Color", "Metallic", "Roughness", "Normal", "Emission Color")
SURFACE = "Surface"


class _Bounds:
    """The bounding box of points with any number of dimensions."""

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
        return self._low.tolist(), self._high.tolist()


def facts_of(depsgraph: Any, objects: Iterable[Any]) -> FileFacts:
    """Measure objects and their instances as the dependency graph evaluates them, in world space."""
    object_ids = {obj.session_uid for obj in objects}
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
        if owner.original.session_uid not in object_ids or obj.type not in SURFACES:
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
            has_textures = False
            for material in _used_materials(obj, mesh):
                if material.name not in materials:
                    materials[material.name] = list(textures_of(material))
                has_textures = has_textures or bool(materials[material.name])
            if has_textures and not mesh.uv_layers:
                unmapped.add(obj.name)
        obj.to_mesh_clear()

    textures: list[TextureFacts] = []
    for name in sorted(materials):
        textures += materials[name]
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
        "textures": textures,
    }


def _tessellated(depsgraph: Any) -> frozenset[int]:
    """Return the session ids of texts and curves that the graph also lists as a mesh instance of themselves.

    Their faces must count only once."""
    session_ids: set[int] = set()
    for instance in depsgraph.object_instances:
        if not instance.is_instance or instance.object.type != "MESH" or instance.parent.type == "MESH":
            continue
        if instance.object.original == instance.parent.original:
            session_ids.add(instance.parent.original.session_uid)
    return frozenset(session_ids)


def _positions(mesh: Any, matrix: Any) -> Any:
    values = np.empty(len(mesh.vertices) * 3, np.float32)
    mesh.vertices.foreach_get("co", values)
    world: Any = np.array(matrix, np.float64)
    return values.reshape(-1, 3).astype(np.float64) @ world[:3, :3].T + world[:3, 3]


def _coordinates(layer: Any, corners: int) -> Any:
    values = np.empty(corners * 2, np.float32)
    layer.uv.foreach_get("vector", values)
    return values.reshape(-1, 2)


def _open_edges(mesh: Any) -> int:
    uses = np.empty(len(mesh.loops), np.int32)
    mesh.loops.foreach_get("edge_index", uses)
    return int(np.count_nonzero(np.bincount(uses, minlength=len(mesh.edges)) < 2))


def _used_materials(obj: Any, mesh: Any) -> list[Any]:
    """Return the materials that faces of the mesh use. Exporters drop slots without faces."""
    indices = np.empty(len(mesh.polygons), np.int32)
    mesh.polygons.foreach_get("material_index", indices)
    slots = [slot.material for slot in obj.material_slots] or list(mesh.materials)
    materials: list[Any] = []
    for index in np.unique(indices):
        if index < len(slots) and slots[index] is not None:
            materials.append(slots[index])
    return materials


def textures_of(material: Any) -> Iterator[TextureFacts]:
    """Yield the first picture that reaches each input of the material's Principled shaders.

    For a material without such a shader, yield the first picture that reaches its surface, as the input `Surface`."""
    tree = material.node_tree
    if tree is None:
        return
    output = tree.get_output_node("ALL")
    if output is None or not output.inputs[SURFACE].is_linked:
        return

    shaders = [node for node in _upstream(output.inputs[SURFACE]) if node.type == "BSDF_PRINCIPLED"]
    by_input: dict[str, Any] = {}
    for shader in shaders:
        for name in INPUTS:
            socket = shader.inputs.get(name)
            if socket is not None:
                for image in _images(_upstream(socket)):
                    by_input.setdefault(name, image)
    if not shaders:
        for image in _images(_upstream(output.inputs[SURFACE])):
            by_input.setdefault(SURFACE, image)

    for name, image in by_input.items():
        width, height = image.size
        yield {"material": material.name, "input": name, "image": image.name, "width": width, "height": height}


def _upstream(socket: Any) -> Iterator[Any]:
    """Yield every node that directly or indirectly feeds a socket, except muted nodes and the nodes behind them."""
    seen: set[int] = set()
    waiting = [link.from_node for link in socket.links]
    while waiting:
        node = waiting.pop()
        if node.as_pointer() in seen or node.mute:
            continue
        seen.add(node.as_pointer())
        yield node
        for node_input in node.inputs:
            waiting += [link.from_node for link in node_input.links]


def _images(nodes: Iterable[Any], depth: int = 0) -> Iterator[Any]:
    for node in nodes:
        if node.type == "TEX_IMAGE" and node.image is not None:
            yield node.image
        elif node.type == "GROUP" and node.node_tree is not None and depth < 8:
            yield from _images(node.node_tree.nodes, depth + 1)
