"""Armatures on a stage in this process, and where their bones and the meshes on them stand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy

from tools.objects import named

if TYPE_CHECKING:
    from support.stage.stage import Stage

UPPER = {"name": "Upper", "head": [0, 0, 0], "tail": [0, 0, 1]}
LOWER = {"name": "Lower", "tail": [0, 0, 2], "parent": "Upper", "connected": True}


def rig(stage: Stage, name: str = "Rig", bones: list[dict[str, Any]] | None = None, **args: Any) -> Any:
    stage.do("armature.create", {"name": name, "bones": bones or [UPPER, LOWER], **args})
    return named(name)


def pose(stage: Stage, *bones: dict[str, Any], **args: Any) -> dict[str, Any]:
    return stage.do("pose.set", {"object": "Rig", "bones": list(bones), **args})


def ends(bone: str, name: str = "Rig") -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Head and tail of a posed bone in the world."""
    bpy.context.view_layer.update()
    obj = named(name)
    posed = obj.pose.bones[bone]
    return tuple(obj.matrix_world @ posed.head), tuple(obj.matrix_world @ posed.tail)


def center(name: str) -> Any:
    """The middle of an object's vertices after its modifiers, in the world."""
    bpy.context.view_layer.update()
    evaluated = named(name).evaluated_get(bpy.context.evaluated_depsgraph_get())
    places = [evaluated.matrix_world @ vertex.co for vertex in evaluated.data.vertices]
    return [sum(place[axis] for place in places) / len(places) for axis in range(3)]
