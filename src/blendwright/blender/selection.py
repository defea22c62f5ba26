"""The selection of the current view layer."""

from __future__ import annotations

from typing import Any

import bpy


def selected_objects() -> list[Any]:
    """Return the selected objects of the current view layer.

    Blender 5.2 lists a removed object as None until it updates the layer. This function skips such entries."""
    layer: Any = bpy.context.view_layer
    return [obj for obj in layer.objects if obj is not None and obj.select_get()]
