"""Mesh data outside RNA values: attributes, faces, weights, render layers.

Responsible for: what makes a mesh's geometry. Must not depend on the objects that use the mesh, though it may ask them
as a shortcut.
"""

from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from itertools import repeat
from operator import attrgetter
from typing import Any

import bpy
import numpy as np

from blendwright.blender.fingerprint.attributes import (
    ROOMS,
    SMALL,
    Blobs,
    Rooms,
    add_attributes,
    all_by_name,
    can_be_looked_up,
    foreach_get,
    hashed_names,
    names_of,
)
from blendwright.blender.fingerprint.canonical import fold_array, folded_bytes
from blendwright.blender.fingerprint.walk import Out, Walk

_data: Any = bpy.data
_groups = attrgetter("groups")
_attributes = attrgetter("attributes")
_app: Any = bpy.app

# Up to this many vertices it is quicker to look at them than to look for an object that uses the mesh.
_FEW_VERTICES = 2000
# Where the vertices are and how edges and faces join them: (attribute, value, numbers per element, room for them).
_WHOLE, _FLOATS = ROOMS["<i4"], ROOMS["<f4"]
_Topology = tuple[str, str, int, Rooms]
_TOPOLOGY: tuple[_Topology, ...] = (
    ("position", "vector", 3, _FLOATS),
    (".edge_verts", "value", 2, _WHOLE),
    (".corner_vert", "value", 1, _WHOLE),
)
_IN_TOPOLOGY = tuple(name for name, *_ in _TOPOLOGY)
# Layers of UVs are attributes of this type, on the corners of faces.
_TYPE_OF_UVS = "Float2Attribute"
# Custom normals and Freestyle marks became attributes in Blender 4.5.
_MARKS_ARE_ATTRIBUTES = _app.version >= (4, 5, 0)


def encode_mesh(walk: Walk, mesh: Any, out: Out) -> None:
    encode_meshes(walk, (mesh,), (out,))


def encode_meshes(walk: Walk, meshes: Sequence[Any], outs: Sequence[Out]) -> None:
    """What makes the geometry of meshes; those with attributes of the same names together."""
    attributes = [*map(_attributes, meshes)]
    alike: dict[tuple[str, ...], list[tuple[Any, Any, Out]]] = {}
    for names, mesh in zip(map(tuple, map(names_of, attributes)), zip(meshes, attributes, outs, strict=True), strict=True):
        alike.setdefault(names, []).append(mesh)
    for names, found in alike.items():
        topology, others, can_look_up = _layout(names)
        if not can_look_up:
            found = [(mesh, all_by_name(stored), out) for mesh, stored, out in found]
        blobs = Blobs()
        _add_topology(found, topology, blobs)
        types = [add_attributes(stored, others, out, blobs) for _, stored, out in found] if others else repeat(())
        blobs.finish()
        for (mesh, _, out), of_mesh in zip(found, types):
            _add_rest(walk, mesh, of_mesh, out)
    

def _add_rest(walk: Walk, mesh: Any, types: Collection[str], out: Out) -> None:
    """All but the attributes of a mesh, given the types of these."""
    encode_texture_space(walk, mesh, out)
    if types:
        # Which layers a render uses by default; the ones active in the interface stay out.
        out.append(mesh.attributes.default_color_name)
        layers = mesh.uv_layers if _TYPE_OF_UVS in types else ()
        if len(layers):
            out.append([layer.name for layer in layers if layer.active_render])
    skin = mesh.skin_vertices
    if len(skin):
        walk.structs(skin, out)
    if not _MARKS_ARE_ATTRIBUTES:
        _encode_old_marks(mesh, out)
    if _has_weights(walk, mesh):
        encode_weights(mesh.vertices, out)


@lru_cache(maxsize=1024)
def _layout(names: tuple[str, ...]) -> tuple[tuple[_Topology | None, ...], tuple[str, ...], bool]:
    """What a mesh with attributes of these names has of its topology, its other attributes, and whether names are enough to find them.

    Kept, because most meshes have the same ones."""
    topology = tuple(part if part[0] in names else None for part in _TOPOLOGY)
    return topology, hashed_names(names, _IN_TOPOLOGY), can_be_looked_up(names)


def _add_topology(
    meshes: Sequence[tuple[Any, Mapping[str, Any], Out]], topology: tuple[_Topology | None, ...], blobs: Blobs
) -> None:
    """Through the attributes, whose bytes Blender copies in one piece; an attribute that is absent has no elements."""
    for part in topology:
        if part is None:
            for _, _, out in meshes:
                out.append(b"")
            continue
        name, value, width, rooms = part
        for _, attributes, out in meshes:
            data = attributes[name].data
            array = rooms[len(data) * width]
            foreach_get(data, value, array)
            # Small ones as `Blobs` would, without the detour: most meshes of a large scene are.
            if array.nbytes <= SMALL:
                out.append(array.tobytes() if rooms is _WHOLE else folded_bytes(array))
            elif rooms is _WHOLE:
                blobs.add(array, out)
            else:
                blobs.add_floats(array, out)
    for mesh, _, out in meshes:
        faces = mesh.polygons
        starts = _WHOLE[len(faces)].obj  # not copied in one piece, hence the array
        foreach_get(faces, "loop_start", starts)
        blobs.add(starts, out)


def encode_texture_space(_walk: Walk, data: Any, out: Out) -> None:
    """The texture space, unless it is computed (reading it would compute it)."""
    if not data.use_auto_texspace:
        space = np.array([*data.texspace_location, *data.texspace_size], "<f4")
        out.append(fold_array(space).tobytes())


def encode_weights(points: Any, out: Out) -> None:
    """(point, group, weight) of every weight; points without weights cost nothing in the hash."""
    places: list[int] = []
    weights: list[float] = []
    for index, point in enumerate(points):
        for element in sorted([(item.group, item.weight) for item in point.groups]):
            places += (index, element[0])
            weights.append(element[1])
    if not places:
        return
    blobs = Blobs()
    blobs.add(np.array(places, "<i4"), out)
    blobs.add(fold_array(np.array(weights, "<f4")), out)
    blobs.finish()


def encode_lattice(_walk: Walk, lattice: Any, out: Out) -> None:
    encode_weights(lattice.points, out)


def _has_weights(walk: Walk, mesh: Any) -> bool:
    """Whether weights count: the mesh keeps the groups, but only an object that uses it shows their names.

    Where no object uses it, weights count if there are any. The order of the questions is one of speed only.
    """
    shown = walk.grouped.get(mesh)
    if shown is not None:
        return shown
    vertices = mesh.vertices
    if not walk.all_grouped:
        if len(vertices) <= _FEW_VERTICES and not _any_weight(vertices):
            return False
        for user in _data.objects:
            if user.data == mesh:
                return bool(user.vertex_groups)
    return _any_weight(vertices)


def _any_weight(vertices: Any) -> bool:
    return any(map(len, map(_groups, vertices)))


def _encode_old_marks(mesh: Any, out: Out) -> None:
    if mesh.has_custom_normals:
        normals = np.empty(len(mesh.loops) * 3, "<f4")
        mesh.corner_normals.foreach_get("vector", normals)
        out.append(fold_array(normals).tobytes())
    for elements in (mesh.edges, mesh.polygons):
        marks = np.empty(len(elements), "?")
        elements.foreach_get("use_freestyle_mark", marks)
        out.append(np.flatnonzero(marks).astype("<i4").tobytes())
