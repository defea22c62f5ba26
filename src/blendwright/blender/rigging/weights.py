"""Weights of a mesh for the bones of an armature, as Blender's operator finds them: on copies, so that nothing else is written."""

from typing import Any

import bpy

from blendwright.blender.rigging.temporary_objects import temporary_objects
from blendwright.blender.scene.state import RESERVED_PREFIX

_data: Any = bpy.data
_ops: Any = bpy.ops
WAYS = {"heat": "ARMATURE_AUTO", "envelope": "ARMATURE_ENVELOPE"}


def found_weights(mesh: Any, mesh_world: Any, armature: Any, armature_world: Any, method: str) -> dict[str, Any]:
    """Weights by the name of the bone: vertex -> weight."""
    copy = mesh.copy()
    copy.name = f"{RESERVED_PREFIX}weighted"
    try:
        with temporary_objects(copy, armature) as (skin, rig):
            skin.vertex_groups.clear()
            skin.matrix_world, rig.matrix_world = mesh_world, armature_world
            _ops.object.parent_set(type=WAYS[method])
            return weights_of(skin)
    finally:
        _data.meshes.remove(copy)


def weights_of(obj: Any) -> dict[str, dict[int, float]]:
    """What a mesh object's vertex groups hold, by their names."""
    names = [group.name for group in obj.vertex_groups]
    weights: dict[str, dict[int, float]] = {name: {} for name in names}
    for vertex in obj.data.vertices:
        for element in vertex.groups:
            # A mesh may keep weights of groups that are gone.
            if element.group < len(names):
                weights[names[element.group]][vertex.index] = element.weight
    return weights
