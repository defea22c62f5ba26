"""Several meshes as one: places, materials and vertex groups of the others made those of the first."""

from collections.abc import Callable, Sequence
from typing import Any

import bmesh
import bpy
import numpy as np

from blendwright.blender.mesh_editing.editor import new_places, put_in_order, write
from blendwright.blender.scene.state import RESERVED_PREFIX

_new_bmesh: Any = bmesh.new
_data: Any = bpy.data


def join_meshes(target: Any, others: Sequence[tuple[Any, Any]], slot_for: Callable[[Any], int]) -> None:
    """Add the meshes of other objects, each moved by its matrix, to the mesh of an object.

    `slot_for` gives the slot of a material, made where there is none."""
    bm = _new_bmesh()
    try:
        bm.from_mesh(target.data)
        for other, matrix in others:
            moved = other.data.copy()
            moved.name = f"{RESERVED_PREFIX}joined"
            try:
                _move(moved, matrix)
                _take_slots(moved, other, slot_for)
                count = len(bm.verts)
                bm.from_mesh(moved)
                _take_groups(bm, count, other, target)
            finally:
                _data.meshes.remove(moved)
        put_in_order(bm, new_places(bm, set(bm.faces)))
        write(bm, target.data)
    finally:
        bm.free()


def _move(mesh: Any, matrix: Any) -> None:
    mesh.transform(matrix)
    if matrix.determinant() < 0.0:
        mesh.flip_normals()  # mirrored, its faces would look inward


def _take_slots(mesh: Any, other: Any, slot_for: Callable[[Any], int]) -> None:
    own = [slot.material for slot in other.material_slots]
    table = np.array([0 if material is None else slot_for(material) for material in own] or [0], np.int32)
    slots = np.empty(len(mesh.polygons), np.int32)
    mesh.polygons.foreach_get("material_index", slots)
    mesh.polygons.foreach_set("material_index", table[np.minimum(slots, len(table) - 1)])


def _take_groups(bm: Any, first: int, other: Any, target: Any) -> None:
    layer = bm.verts.layers.deform.active
    if layer is None:
        return
    numbers = {group.index: target.vertex_groups[group.name].index for group in other.vertex_groups}
    bm.verts.ensure_lookup_table()
    for vertex in bm.verts[first:]:
        weights = dict(vertex[layer].items())
        vertex[layer].clear()
        for group, weight in weights.items():
            if group in numbers:
                vertex[layer][numbers[group]] = weight
