"""Mesh data outside RNA values: attributes, faces, weights, render layers.

The content must not depend on the objects that use the mesh. Reading may ask these objects as a shortcut.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from operator import attrgetter
from typing import Any

import bpy
import numpy as np

from blendwright.blender.fingerprint.attributes import (
    ROOMS,
    Blobs,
    Rooms,
    add_attributes,
    all_by_name,
    can_be_looked_up,
    foreach_get,
    hashed_names,
    names_of,
)
from blendwright.blender.fingerprint.canonical import fold_array
from blendwright.blender.fingerprint.walk import Out, Walk

_blocks: Any = bpy.data
_groups, _attributes, _data, _polygons = map(attrgetter, ("groups", "attributes", "data", "polygons"))
_app: Any = bpy.app

# The number of vertices up to which reading them is faster than searching an object that uses the mesh.
_FEW_VERTICES = 2000
# Positions of vertices, and how edges and faces join them: (attribute, value, numbers per element, arrays to read into).
_WHOLE, _FLOATS = ROOMS["<i4"], ROOMS["<f4"]
_Topology = tuple[str, str, int, Rooms]
_TOPOLOGY: tuple[_Topology, ...] = (
    ("position", "vector", 3, _FLOATS),
    (".edge_verts", "value", 2, _WHOLE),
    (".corner_vert", "value", 1, _WHOLE),
)
_IN_TOPOLOGY = tuple(name for name, *_ in _TOPOLOGY)
# The attribute type of UV layers. Their domain is the face corner.
_TYPE_OF_UVS = "Float2Attribute"
# Custom normals and Freestyle marks became attributes in Blender 4.5.
_MARKS_ARE_ATTRIBUTES = _app.version >= (4, 5, 0)


def encode_mesh(walk: Walk, mesh: Any, out: Out) -> None:
    """Append the geometry and attributes of one mesh to `out`."""
    attributes = mesh.attributes
    _encode_same_names(walk, tuple(names_of(attributes)), (mesh,), (attributes,), (out,))


def encode_meshes(walk: Walk, meshes: Sequence[Any], outs: Sequence[Out]) -> None:
    """Append to each of `outs` what `encode_mesh` appends for its mesh. Meshes with the same attribute names are read together."""
    attributes = [*map(_attributes, meshes)]
    same_names: dict[tuple[str, ...], list[int]] = {}
    names_per_mesh: list[list[str]] = [*map(names_of, attributes)]
    for index, names in enumerate(names_per_mesh):
        same_names.setdefault(tuple(names), []).append(index)
    for names, indices in same_names.items():
        group_meshes = [meshes[index] for index in indices]
        group_attributes = [attributes[index] for index in indices]
        group_outs = [outs[index] for index in indices]
        _encode_same_names(walk, names, group_meshes, group_attributes, group_outs)


def _encode_same_names(
    walk: Walk, names: tuple[str, ...], meshes: Sequence[Any], attributes: Sequence[Any], outs: Sequence[Out]
) -> None:
    """Append the content of meshes whose attributes have the same names."""
    topology, other_names, can_look_up = _layout(names)
    # Half of a mesh's attributes are not hashed, so looking up the others by name is faster than listing all.
    if can_look_up:
        stored = attributes
    else:
        stored = [*map(all_by_name, attributes)]
    blobs = Blobs()
    _add_topology(meshes, topology, stored, outs, blobs)
    types: set[str] = set()
    for name in other_names:
        types |= add_attributes(name, [by_name[name] for by_name in stored], outs, blobs)
    blobs.finish()
    for index, mesh in enumerate(meshes):
        out = outs[index]
        encode_texture_space(walk, mesh, out)
        if other_names:
            # The layers that a render uses by default. The layers active in the interface are not content.
            out.append(attributes[index].default_color_name)
            if _TYPE_OF_UVS in types:
                layers = mesh.uv_layers
            else:
                layers = ()
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
    """Return the topology attributes that these names contain, the other hashed names, and True if lookup by name is possible.

    The result is cached, because most meshes have the same names.
    """
    topology: list[_Topology | None] = []
    for part in _TOPOLOGY:
        if part[0] in names:
            topology.append(part)
        else:
            topology.append(None)
    return tuple(topology), hashed_names(names, _IN_TOPOLOGY), can_be_looked_up(names)


def _add_topology(
    meshes: Sequence[Any],
    topology: tuple[_Topology | None, ...],
    attributes: Sequence[Mapping[str, Any]],
    outs: Sequence[Out],
    blobs: Blobs,
) -> None:
    """Append positions, edges, corners and face starts. An absent attribute has no elements.

    Reading goes through the attributes, because Blender copies their bytes in one piece.
    """
    for part in topology:
        if part is None:
            for out in outs:
                out.append(b"")
            continue
        name, value, width, rooms = part
        if rooms is _WHOLE:
            add = blobs.add
        else:
            add = blobs.add_floats
        stored = [by_name[name] for by_name in attributes]
        for data, out in zip([*map(_data, stored)], outs, strict=True):
            array = rooms[len(data) * width]
            foreach_get(data, value, array)
            add(array, out)
    for faces, out in zip([*map(_polygons, meshes)], outs, strict=True):
        starts = _WHOLE[len(faces)]
        foreach_get(faces, "loop_start", starts.obj)  # not copied in one piece, hence the array
        blobs.add(starts, out)


def encode_texture_space(_walk: Walk, data: Any, out: Out) -> None:
    """Append the texture space, unless it is computed. Reading a computed one would compute it."""
    if not data.use_auto_texspace:
        space = np.array([*data.texspace_location, *data.texspace_size], "<f4")
        out.append(fold_array(space).tobytes())


def encode_weights(points: Any, out: Out) -> None:
    """Append (point, group, weight) of every weight. Points without weights add nothing."""
    points_and_groups: list[int] = []
    weights: list[float] = []
    for index, point in enumerate(points):
        for element in sorted([(item.group, item.weight) for item in point.groups]):
            points_and_groups += (index, element[0])
            weights.append(element[1])
    if not points_and_groups:
        return
    blobs = Blobs()
    blobs.add(np.array(points_and_groups, "<i4"), out)
    blobs.add(fold_array(np.array(weights, "<f4")), out)
    blobs.finish()


def encode_lattice(_walk: Walk, lattice: Any, out: Out) -> None:
    encode_weights(lattice.points, out)


def _has_weights(walk: Walk, mesh: Any) -> bool:
    """Return True if a mesh's weights count.

    The mesh keeps the weights, but only an object that uses it shows the names of the groups. Without such an object,
    weights count if there are any. The order of the checks only affects speed.
    """
    shown = walk.grouped.get(mesh)
    if shown is not None:
        return shown
    vertices = mesh.vertices
    if not walk.all_grouped:
        if len(vertices) <= _FEW_VERTICES and not _any_weight(vertices):
            return False
        for user in _blocks.objects:
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
