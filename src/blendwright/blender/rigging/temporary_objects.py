"""Objects of our own in the scene while an operator works: neither the user's objects nor what is selected or active takes any part."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import bpy

from blendwright.blender.scene.state import RESERVED_PREFIX
from blendwright.blender.selection import selected_objects

_data: Any = bpy.data
_ops: Any = bpy.ops


@contextmanager
def temporary_objects(*datas: Any) -> Generator[list[Any]]:
    """An object for each of these data, selected, the last one active; gone afterwards, and everything selected as before."""
    scene: Any = bpy.context.scene
    layer: Any = bpy.context.view_layer
    selected = selected_objects()
    active = layer.objects.active
    objects = [_data.objects.new(f"{RESERVED_PREFIX}rigged{number}", data) for number, data in enumerate(datas)]
    try:
        for one in selected:
            one.select_set(False)
        for one in objects:
            scene.collection.objects.link(one)
            one.select_set(True)
            layer.objects.active = one
        yield objects
    finally:
        if layer.objects.active is not None and layer.objects.active.mode != "OBJECT":
            _ops.object.mode_set(mode="OBJECT")
        for one in objects:
            _data.objects.remove(one)
        for one in selected:
            one.select_set(True)
        layer.objects.active = active


@contextmanager
def bones_in_edit_mode(armature: Any) -> Generator[Any]:
    """The edit bones of an armature. Leaving edit mode rebuilds the poses of all objects that have it."""
    with temporary_objects(armature):
        _ops.object.mode_set(mode="EDIT")
        yield armature.edit_bones
