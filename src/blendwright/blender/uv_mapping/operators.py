"""Blender's UV operators. They work only in edit mode, so they run on a copy of the mesh in a temporary object.

The object itself stays unchanged, and so do selection, active object and mode.
"""

import math
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

import bpy
import numpy as np

from blendwright.blender.scene.state import RESERVED_PREFIX
from blendwright.blender.selection import selected_objects

_data: Any = bpy.data
_ops: Any = bpy.ops
TEMPORARY = f"{RESERVED_PREFIX}unwrapped"
# Methods that unfold along seams.
ALONG_SEAMS = frozenset({"angle", "conformal"})


def unwrapped(mesh: Any, method: str, uv_map: str, *, pack: bool, **settings: Any) -> Any:
    """Return the UVs of one of Blender's methods of unwrapping, as a flat array."""
    margin = settings["margin"]
    operators: dict[str, Callable[[], Any]] = {
        "angle": lambda: _ops.uv.unwrap(method="ANGLE_BASED", margin=margin, correct_aspect=False),
        "conformal": lambda: _ops.uv.unwrap(method="CONFORMAL", margin=margin, correct_aspect=False),
        "smart": lambda: _ops.uv.smart_project(
            angle_limit=math.radians(settings["angle_deg"]), island_margin=margin, correct_aspect=False
        ),
        "cube": lambda: _ops.uv.cube_project(cube_size=settings["cube_size"], correct_aspect=False),
    }

    def work() -> None:
        operators[method]()
        if pack:
            _pack(margin, rotate=True, even=True)

    # Blender leaves an island that it cannot unfold unchanged, and only prints a warning. Started from a point, it stays a point.
    return _worked_on(mesh, uv_map, work, from_a_point=method in ALONG_SEAMS)


def without_extent(mesh: Any, uvs: Any) -> int:
    """Return the number of faces with all corners at one point of the map, although they have an area in space."""
    starts, corners = np.empty(len(mesh.polygons), np.int32), np.empty(len(mesh.polygons), np.int32)
    areas = np.empty(len(mesh.polygons), np.float32)
    mesh.polygons.foreach_get("loop_start", starts)
    mesh.polygons.foreach_get("loop_total", corners)
    mesh.polygons.foreach_get("area", areas)
    points: Any = uvs.reshape(-1, 2)
    same: Any = (points == np.repeat(points[starts], corners, axis=0)).all(axis=1)
    return int((np.logical_and.reduceat(same, starts) & (areas > 0.0)).sum())


def packed(mesh: Any, uv_map: str, *, margin: float, rotate: bool, even: bool, tight: bool) -> Any:
    """Return the UVs of a map with its islands packed into the tile, as a flat array."""
    return _worked_on(mesh, uv_map, lambda: _pack(margin, rotate=rotate, even=even, tight=tight))


def _pack(margin: float, *, rotate: bool, even: bool, tight: bool = False) -> None:
    """Pack the islands of the mesh in edit mode."""
    _ops.uv.select_all(action="SELECT")
    if even:
        _ops.uv.average_islands_scale()
    # Packing by exact shapes takes Blender seconds, by bounding boxes milliseconds.
    if tight:
        shape = "CONCAVE"
    else:
        shape = "AABB"
    _ops.uv.pack_islands(margin=margin, rotate=rotate, scale=True, shape_method=shape)


def _worked_on(mesh: Any, uv_map: str, work: Callable[[], Any], *, from_a_point: bool = False) -> Any:
    """Run `work` in edit mode on a copy of a mesh, and return the UVs of the copy."""
    with _in_edit_mode(mesh, uv_map, from_a_point=from_a_point) as copy:
        _ops.mesh.select_all(action="SELECT")
        _ops.uv.select_all(action="SELECT")
        work()
        _ops.object.mode_set(mode="OBJECT")
        uvs = np.empty(len(copy.loops) * 2, np.float32)
        copy.uv_layers[uv_map].data.foreach_get("uv", uvs)
        return uvs


@contextmanager
def _in_edit_mode(mesh: Any, uv_map: str, *, from_a_point: bool) -> Generator[Any]:
    """Yield a copy of a mesh in edit mode. Restore selection, active object and settings afterwards."""
    scene, layer = bpy.context.scene, bpy.context.view_layer
    settings = scene.tool_settings
    selected = selected_objects()
    active, mode, sync = layer.objects.active, tuple(settings.mesh_select_mode), settings.use_uv_select_sync
    copy = mesh.copy()
    copy.name = TEMPORARY
    obj = _data.objects.new(TEMPORARY, copy)
    try:
        _thin_out(copy, uv_map)
        copy.uv_layers.active = copy.uv_layers.get(uv_map) or copy.uv_layers.new(name=uv_map)
        if from_a_point:
            copy.uv_layers.active.data.foreach_set("uv", np.zeros(len(copy.loops) * 2, np.float32))
        for hidden in (".hide_poly", ".hide_edge", ".hide_vert"):
            if hidden in copy.attributes:
                copy.attributes.remove(copy.attributes[hidden])
        scene.collection.objects.link(obj)
        for selected_object in selected:
            selected_object.select_set(False)
        obj.select_set(True)
        layer.objects.active = obj
        settings.use_uv_select_sync = False
        settings.mesh_select_mode = (False, False, True)
        _ops.object.mode_set(mode="EDIT")
        yield copy
    finally:
        if obj.mode != "OBJECT":
            _ops.object.mode_set(mode="OBJECT")
        _data.objects.remove(obj)
        _data.meshes.remove(copy)
        settings.use_uv_select_sync = sync
        settings.mesh_select_mode = mode
        for selected_object in selected:
            selected_object.select_set(True)
        layer.objects.active = active


def _thin_out(copy: Any, uv_map: str) -> None:
    """Remove other UV maps and colours from the copy. They have no effect, and cost a third of the change of modes."""
    for name in [layer.name for layer in copy.uv_layers if layer.name != uv_map]:
        copy.uv_layers.remove(copy.uv_layers[name])
    for name in [attribute.name for attribute in copy.color_attributes]:
        copy.color_attributes.remove(copy.color_attributes[name])
