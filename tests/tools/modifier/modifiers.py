"""Modifiers of the box on the stage: settings of every type, and short ways to add and find them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import bpy

if TYPE_CHECKING:
    from support.stage.stage import Stage

# For every type: settings, and the attributes that they must show in.
CASES: list[tuple[dict[str, Any], dict[str, Any]]] = [
    (
        {"type": "ARRAY", "count": 4, "constant_offset": [3, 0, 0], "use_merge_vertices": True, "merge_threshold": 0.5},
        {"count": 4, "use_constant_offset": True, "use_relative_offset": False, "merge_threshold": 0.5},
    ),
    (
        {"type": "ARRAY", "relative_offset": [0, 2, 0]},
        {"use_relative_offset": True, "relative_offset_displace": (0, 2, 0)},
    ),
    ({"type": "ARRAY", "fit_type": "FIT_LENGTH", "fit_length": 9}, {"fit_type": "FIT_LENGTH", "fit_length": 9}),
    ({"type": "ARRAY", "offset_object": "Ball"}, {"use_object_offset": True, "use_relative_offset": False}),
    (
        {
            "type": "BEVEL",
            "width": 0.25,
            "segments": 3,
            "limit_method": "ANGLE",
            "angle_limit_deg": 45,
            "affect": "EDGES",
        },
        {"width": 0.25, "segments": 3, "angle_limit": math.radians(45)},
    ),
    (
        {"type": "BOOLEAN", "object": "Ball", "operation": "UNION", "solver": "EXACT", "use_self": True},
        {"operation": "UNION", "solver": "EXACT", "use_self": True},
    ),
    (
        {"type": "MIRROR", "axes": ["Y", "Z"], "bisect_axes": ["Y"], "mirror_object": "Ball", "use_clip": True},
        {"use_axis": (False, True, True), "use_bisect_axis": (False, True, False), "use_clip": True},
    ),
    (
        {"type": "SOLIDIFY", "thickness": 0.5, "offset": 0, "use_rim": False},
        {"thickness": 0.5, "offset": 0, "use_rim": False},
    ),
    ({"type": "SUBSURF", "levels": 3}, {"levels": 3, "render_levels": 3}),
    (
        {"type": "SUBSURF", "levels": 1, "render_levels": 2, "subdivision_type": "SIMPLE"},
        {"levels": 1, "render_levels": 2},
    ),
    ({"type": "DECIMATE", "ratio": 0.5}, {"ratio": 0.5, "decimate_type": "COLLAPSE"}),
    ({"type": "DECIMATE", "decimate_type": "DISSOLVE", "angle_limit_deg": 10}, {"angle_limit": math.radians(10)}),
    (
        {"type": "SCREW", "angle_deg": 180, "steps": 8, "screw_offset": 2, "axis": "X", "object": "Ball"},
        {"angle": math.pi, "steps": 8, "render_steps": 8, "screw_offset": 2, "axis": "X"},
    ),
    ({"type": "DISPLACE", "strength": 0.5, "mid_level": 0, "direction": "Z"}, {"strength": 0.5, "direction": "Z"}),
    (
        {"type": "WIREFRAME", "thickness": 0.05, "use_replace": False, "material_offset": 1},
        {"thickness": 0.05, "use_replace": False, "material_offset": 1},
    ),
    (
        {"type": "SIMPLE_DEFORM", "deform_method": "TWIST", "angle_deg": 90, "deform_axis": "Z", "limits": [0.25, 1]},
        {"deform_method": "TWIST", "angle": math.pi / 2, "deform_axis": "Z", "limits": (0.25, 1.0)},
    ),
    ({"type": "SIMPLE_DEFORM", "deform_method": "TAPER", "factor": -0.5}, {"deform_method": "TAPER", "factor": -0.5}),
    ({"type": "CAST", "cast_type": "CYLINDER", "factor": 0.7}, {"cast_type": "CYLINDER", "factor": 0.7}),
    ({"type": "SMOOTH", "factor": 0.25, "iterations": 4}, {"factor": 0.25, "iterations": 4}),
    ({"type": "WELD", "merge_threshold": 0.02, "mode": "CONNECTED"}, {"merge_threshold": 0.02, "mode": "CONNECTED"}),
    ({"type": "TRIANGULATE", "ngon_method": "CLIP", "min_vertices": 5}, {"ngon_method": "CLIP", "min_vertices": 5}),
    ({"type": "WEIGHTED_NORMAL", "weight": 70, "keep_sharp": True}, {"weight": 70, "keep_sharp": True}),
]


def modifier(name: str = "It", owner: str = "Box") -> Any:
    return bpy.data.objects[owner].modifiers[name]


def add(stage: Stage, settings: dict[str, Any], name: str = "It", **more: Any) -> dict[str, Any]:
    return stage.do("modifier.add", {"object": "Box", "name": name, "settings": settings, **more})
