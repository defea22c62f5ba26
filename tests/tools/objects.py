"""Objects on a stage in this process: made by tools, looked up in Blender."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy

if TYPE_CHECKING:
    from support.stage.stage import Stage


def named(name: str) -> Any:
    """Looked up afresh: references do not outlive a reload."""
    return bpy.data.objects[name]


def box(stage: Stage, name: str = "Box", size: float = 2.0, **args: Any) -> Any:
    stage.do("mesh.create_primitive", {"kind": "cube", "name": name, "size": size, **args})
    return named(name)


def empty(stage: Stage, name: str = "Pivot", **args: Any) -> Any:
    stage.do("object.create_empty", {"name": name, **args})
    return named(name)


def bounds(stage: Stage, name: str) -> tuple[list[float], list[float]]:
    found = stage.do("mesh.measure", {"object": name})
    return found["bounds_min"], found["bounds_max"]


def place(name: str) -> Any:
    """Where its origin is in the world."""
    return named(name).matrix_world.translation
