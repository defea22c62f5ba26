"""Temporary objects in the scene for an operator. The user's objects, selection and active object stay unchanged."""

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
    """Yield a selected object for each of these data; the last one is active. Remove them and restore the selection afterwards."""
    scene: Any = bpy.context.scene
    layer: Any = bpy.context.view_layer
    selected = selected_objects()
    active = layer.objects.active
    objects = [_data.objects.new(f"{RESERVED_PREFIX}rigged{number}", data) for number, data in enumerate(datas)]
    try:
        for obj in selected:
            obj.select_set(False)
        for obj in objects:
            scene.collection.objects.link(obj)
            obj.select_set(True)
            layer.objects.active = obj
        yield objects
    finally:
        if layer.objects.active is not None and layer.objects.active.mode != "OBJECT":
            _ops.object.mode_set(mode="OBJECT")
        for obj in objects:
            _data.objects.remove(obj)
        for obj in selected:
            obj.select_set(True)
        layer.objects.active = active


@contextmanager
def bones_in_edit_mode(armature: Any) -> Generator[Any]:
    """Yield the edit bones of an armature. Leaving edit mode rebuilds the poses of all objects that use it."""
    with temporary_objects(armature):
        _ops.object.mode_set(mode="EDIT")
        yield armature.edit_bones
