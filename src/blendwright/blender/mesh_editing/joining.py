"""Joining of several meshes into one. The target receives the positions, materials and vertex groups of the other meshes."""

from collections.abc import Callable, Sequence
from typing import Any

import bmesh
import bpy
import numpy as np

from blendwright.blender.mesh_editing.editor import canonical_order, put_in_order, write
from blendwright.blender.scene.state import RESERVED_PREFIX

_new_bmesh: Any = bmesh.new
_data: Any = bpy.data


def join_meshes(target: Any, sources: Sequence[tuple[Any, Any]], slot_for: Callable[[Any], int]) -> None:
    """Add the meshes of other objects, each moved by its matrix, to the mesh of an object.

    `slot_for` returns the slot of a material in the object and adds a missing one.
    """
    bm = _new_bmesh()
    try:
        bm.from_mesh(target.data)
        for obj, matrix in sources:
            moved = obj.data.copy()
            moved.name = f"{RESERVED_PREFIX}joined"
            try:
                _move(moved, matrix)
                _take_slots(moved, obj, slot_for)
                count = len(bm.verts)
                bm.from_mesh(moved)
                _take_groups(bm, count, obj, target)
            finally:
                _data.meshes.remove(moved)
        put_in_order(bm, canonical_order(bm, set(bm.faces)))
        write(bm, target.data)
    finally:
        bm.free()


def _move(mesh: Any, matrix: Any) -> None:
    """Transform a mesh by a matrix, and flip its normals if the matrix mirrors."""
    mesh.transform(matrix)
    if matrix.determinant() < 0.0:
        mesh.flip_normals()  # otherwise the faces of a mirrored mesh would look inward


def _take_slots(mesh: Any, obj: Any, slot_for: Callable[[Any], int]) -> None:
    """Renumber the material slots of a mesh from the numbers in its object to the numbers in the target."""
    numbers: list[int] = []
    for slot in obj.material_slots:
        if slot.material is None:
            numbers.append(0)
        else:
            numbers.append(slot_for(slot.material))
    table = np.array(numbers or [0], np.int32)
    slots = np.empty(len(mesh.polygons), np.int32)
    mesh.polygons.foreach_get("material_index", slots)
    mesh.polygons.foreach_set("material_index", table[np.minimum(slots, len(table) - 1)])


def _take_groups(bm: Any, first: int, obj: Any, target: Any) -> None:
    """Renumber the vertex groups of the vertices from `first` on, from the numbers in their object to the numbers in the target."""
    layer = bm.verts.layers.deform.active
    if layer is None:
        return
    numbers = {group.index: target.vertex_groups[group.name].index for group in obj.vertex_groups}
    bm.verts.ensure_lookup_table()
    for vertex in bm.verts[first:]:
        weights = dict(vertex[layer].items())
        vertex[layer].clear()
        for group, weight in weights.items():
            if group in numbers:
                vertex[layer][numbers[group]] = weight
