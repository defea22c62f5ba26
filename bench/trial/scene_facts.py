"""What a scene is, as plain data for checks: sizes and places in the world, materials, parents, light, what the camera sees.

Runs inside a Blender, since it measures what Blender evaluates.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any


def scene_facts() -> dict[str, Any]:
    import bpy
    from mathutils import Vector

    blender: Any = bpy
    # It has no stubs.
    world_to_camera_view: Any = import_module("bpy_extras.object_utils").world_to_camera_view
    scene = blender.context.scene
    blender.context.view_layer.update()
    depsgraph = blender.context.evaluated_depsgraph_get()
    objects: dict[str, dict[str, Any]] = {}
    for one in scene.objects:
        evaluated = one.evaluated_get(depsgraph)
        corners: list[Any] = []
        if one.type == "MESH":
            corners = [evaluated.matrix_world @ Vector(corner) for corner in evaluated.bound_box]
        seen: list[Any] = (
            [world_to_camera_view(scene, scene.camera, corner) for corner in corners] if scene.camera else []
        )
        objects[one.name] = {
            "type": one.type,
            "location": list(one.matrix_world.translation),
            "low": [min(corner[axis] for corner in corners) for axis in range(3)] if corners else None,
            "high": [max(corner[axis] for corner in corners) for axis in range(3)] if corners else None,
            "dimensions": list(evaluated.dimensions),
            "parent": one.parent.name if one.parent else None,
            "materials": [_material(slot.material) for slot in one.material_slots if slot.material],
            "light": [one.data.type, one.data.energy, *one.data.color] if one.type == "LIGHT" else None,
            # Whether its bounds are inside the frame, before the camera.
            "in_frame": bool(seen) and all(0 <= p[0] <= 1 and 0 <= p[1] <= 1 and p[2] > 0 for p in seen),
        }
    return {"objects": objects, "camera": scene.camera.name if scene.camera else None}


def _material(material: Any) -> dict[str, Any]:
    shader = material.node_tree.nodes.get("Principled BSDF") if material.node_tree else None
    if shader is None:
        return {"name": material.name, "color": list(material.diffuse_color)[:3], "metallic": 0.0}
    inputs = shader.inputs
    return {
        "name": material.name,
        "color": list(inputs["Base Color"].default_value)[:3],
        "metallic": inputs["Metallic"].default_value,
    }
