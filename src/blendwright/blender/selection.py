"""What is selected in the current view layer."""

from __future__ import annotations

from typing import Any

import bpy


def selected_objects() -> list[Any]:
    """An object that was just removed is None in its layer until Blender has brought the layer up to date (5.2)."""
    layer: Any = bpy.context.view_layer
    return [one for one in layer.objects if one is not None and one.select_get()]
