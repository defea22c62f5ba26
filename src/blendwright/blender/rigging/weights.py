"""Weights of a mesh for the bones of an armature, computed by Blender's operator on copies."""

from typing import Any

import bpy

from blendwright.blender.rigging.temporary_objects import temporary_objects
from blendwright.blender.scene.state import RESERVED_PREFIX

_data: Any = bpy.data
_ops: Any = bpy.ops
# Method -> type argument of Blender's operator.
PARENT_TYPES = {"heat": "ARMATURE_AUTO", "envelope": "ARMATURE_ENVELOPE"}


def found_weights(mesh: Any, mesh_world: Any, armature: Any, armature_world: Any, method: str) -> dict[str, Any]:
    """Return the computed weights by bone name and vertex index."""
    copy = mesh.copy()
    copy.name = f"{RESERVED_PREFIX}weighted"
    try:
        with temporary_objects(copy, armature) as (skin, rig):
            skin.vertex_groups.clear()
            skin.matrix_world, rig.matrix_world = mesh_world, armature_world
            _ops.object.parent_set(type=PARENT_TYPES[method])
            return weights_of(skin)
    finally:
        _data.meshes.remove(copy)


def weights_of(obj: Any) -> dict[str, dict[int, float]]:
    """Return the weights of a mesh object's vertex groups by group name and vertex index."""
    names = [group.name for group in obj.vertex_groups]
    weights: dict[str, dict[int, float]] = {name: {} for name in names}
    for vertex in obj.data.vertices:
        for element in vertex.groups:
            # A mesh may keep weights of deleted groups.
            if element.group < len(names):
                weights[names[element.group]][vertex.index] = element.weight
    return weights
