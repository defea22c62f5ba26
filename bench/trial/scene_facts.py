"""What a scene is, as plain data for checks: sizes and places in the world, materials, parents, light, what moves, what the camera sees.

Runs inside a Blender, since it measures what Blender evaluates.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

# So many moments of an animation are looked at, beside its first frame.
MOMENTS = 4


def scene_facts() -> dict[str, Any]:
    import bpy

    blender: Any = bpy
    scene = blender.context.scene
    now = scene.frame_current
    frames = [scene.frame_start, scene.frame_end]
    motion: dict[int, dict[str, Any]] = {}
    if any(one.animation_data and one.animation_data.action for one in scene.objects):
        for moment in range(MOMENTS + 1):
            frame = frames[0] + (frames[1] - frames[0]) * moment // MOMENTS
            scene.frame_set(frame)
            motion[frame] = {one.name: _pose(scene, one) for one in scene.objects}
        scene.frame_set(now)
    blender.context.view_layer.update()
    return {
        "objects": {one.name: _object(scene, one) for one in scene.objects},
        "camera": scene.camera.name if scene.camera else None,
        "frames": frames,
        "motion": motion,
        # Whoever keeps a material for its own sake does not use it.
        "materials": {one.name: one.users - one.use_fake_user for one in blender.data.materials},
    }


def _object(scene: Any, one: Any) -> dict[str, Any]:
    import bpy

    blender: Any = bpy
    corners = _corners(one)
    evaluated = one.evaluated_get(blender.context.evaluated_depsgraph_get())
    is_mesh = one.type == "MESH"
    return {
        "type": one.type,
        "location": list(one.matrix_world.translation),
        "rotation": list(one.rotation_euler),
        "scale": list(one.scale),
        "hidden": one.hide_render,
        "low": [min(corner[axis] for corner in corners) for axis in range(3)] if corners else None,
        "high": [max(corner[axis] for corner in corners) for axis in range(3)] if corners else None,
        "dimensions": list(evaluated.dimensions),
        "parent": one.parent.name if one.parent else None,
        "collections": [collection.name for collection in one.users_collection],
        "materials": [_material(slot.material) for slot in one.material_slots if slot.material],
        "light": [one.data.type, one.data.energy, *one.data.color] if one.type == "LIGHT" else None,
        "in_frame": _in_frame(scene, corners),
        "triangles": _triangles(evaluated) if is_mesh else 0,
        "mesh": _mesh(one) if is_mesh else None,
    }


def _pose(scene: Any, one: Any) -> dict[str, Any]:
    corners = _corners(one)
    middle = [sum(corner[axis] for corner in corners) / 8 for axis in range(3)] if corners else None
    return {
        "rotation": list(one.matrix_local.to_quaternion()),
        "middle": middle or list(one.matrix_world.translation),
        "in_frame": _in_frame(scene, corners) if corners else None,
    }


def _corners(one: Any) -> list[Any]:
    import bpy
    from mathutils import Vector

    blender: Any = bpy
    if one.type != "MESH":
        return []
    evaluated = one.evaluated_get(blender.context.evaluated_depsgraph_get())
    return [evaluated.matrix_world @ Vector(corner) for corner in evaluated.bound_box]


def _in_frame(scene: Any, corners: list[Any]) -> bool:
    """Whether its bounds are inside the frame, before the camera."""
    if scene.camera is None or not corners:
        return False
    # It has no stubs.
    world_to_camera_view: Any = import_module("bpy_extras.object_utils").world_to_camera_view
    seen = [world_to_camera_view(scene, scene.camera, corner) for corner in corners]
    return all(0 <= p[0] <= 1 and 0 <= p[1] <= 1 and p[2] > 0 for p in seen)


def _triangles(evaluated: Any) -> int:
    mesh = evaluated.to_mesh()
    mesh.calc_loop_triangles()
    count = len(mesh.loop_triangles)
    evaluated.to_mesh_clear()
    return count


def _mesh(one: Any) -> dict[str, Any]:
    """How many triangles it has, the part of its faces that covers anything of the UV map, and where the faces of each material are."""
    mesh = one.data
    mesh.calc_loop_triangles()
    layer = mesh.uv_layers.active
    mapped = sum(_covers(face, layer.data) for face in mesh.polygons) if layer else 0
    faces: dict[str, list[list[float]]] = {}
    for face in mesh.polygons:
        slots = one.material_slots
        material = slots[face.material_index].material if face.material_index < len(slots) else None
        if material is not None:
            faces.setdefault(material.name, []).append(list(one.matrix_world @ face.center))
    return {"triangles": len(mesh.loop_triangles), "mapped": mapped / max(1, len(mesh.polygons)), "faces": faces}


def _covers(face: Any, uvs: Any) -> bool:
    points = [uvs[index].uv for index in face.loop_indices]
    pairs = zip(points, [*points[1:], points[0]], strict=True)
    return abs(sum(a[0] * b[1] - b[0] * a[1] for a, b in pairs)) > 1e-9


def _material(material: Any) -> dict[str, Any]:
    shader = material.node_tree.nodes.get("Principled BSDF") if material.node_tree else None
    if shader is None:
        return {"name": material.name, "color": list(material.diffuse_color)[:3], "metallic": 0.0}
    inputs = shader.inputs
    return {
        "name": material.name,
        "color": _color_of(inputs["Base Color"]),
        "metallic": inputs["Metallic"].default_value,
    }


def _color_of(socket: Any) -> list[float]:
    """The colour of an input; of one that nodes feed, the mean of the colours in them."""
    found: list[list[float]] = []
    waiting, seen = [socket], set[str]()
    while waiting:
        one = waiting.pop()
        if not one.is_linked:
            if one.type == "RGBA":
                found.append(list(one.default_value)[:3])
            continue
        node = one.links[0].from_node
        if node.name in seen:
            continue
        seen.add(node.name)
        if node.type == "VALTORGB":
            found += [list(element.color)[:3] for element in node.color_ramp.elements]
        elif node.type == "RGB":
            found.append(list(node.outputs[0].default_value)[:3])
        else:
            waiting += [each for each in node.inputs if each.type == "RGBA" and each.enabled]
    return (
        [sum(color[part] for color in found) / len(found) for part in range(3)]
        if found
        else list(socket.default_value)[:3]
    )
