"""Steps whose write Blender carries into other datablocks: the hash that they report is the one of the whole scene."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import bpy
import pytest

if TYPE_CHECKING:
    from support.stage.stage import Stage

data: Any = bpy.data
ops: Any = bpy.ops
context: Any = bpy.context
Call = tuple[str, dict[str, Any]]


def linked(name: str, content: Any) -> Any:
    made = data.objects.new(name, content)
    context.scene.collection.objects.link(made)
    return made


def box() -> Any:
    mesh = data.meshes.new("Box")
    mesh.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [], [(0, 1, 2)])
    return linked("Box", mesh)


def keyed_bone() -> None:
    rig = linked("Rig", data.armatures.new("Rig"))
    context.view_layer.objects.active = rig
    ops.object.mode_set(mode="EDIT")
    rig.data.edit_bones.new("Bone").tail = (0, 0, 1)
    ops.object.mode_set(mode="OBJECT")
    bone = rig.pose.bones["Bone"]
    bone.keyframe_insert("location", frame=1)
    bone.location.x = 1
    bone.keyframe_insert("location", frame=10)
    context.scene.frame_set(1)


def emitter() -> None:
    owner = box()
    owner.data.materials.append(data.materials.new("Paint"))
    owner.modifiers.new("Particles", "PARTICLE_SYSTEM")


def shape_keys() -> None:
    owner = box()
    owner.shape_key_add(name="Basis")
    owner.shape_key_add(name="Bent")


def light_linked() -> None:
    lamp = linked("Lamp", data.lights.new("Lamp", "POINT"))
    lit = data.collections.new("Lit")
    lit.objects.link(box())
    lit.collection_objects[0].light_linking.link_state = "EXCLUDE"
    lamp.light_linking.receiver_collection = lit


SET_FRAME: Call = ("animation.set_frame", {"frame": 10})
CASES: dict[str, tuple[Callable[[], None], list[Call]]] = {
    "a keyed bone moves": (keyed_bone, [SET_FRAME]),
    "a cache follows the scene": (emitter, [("scene.set_frame_range", {"start": 3, "end": 9}), SET_FRAME]),
    "particles show a material that is gone": (emitter, [("material.delete", {"name": "Paint", "clear_users": True})]),
    "shape keys know their mesh": (
        shape_keys,
        [("object.rename", {"name": "Box", "new_name": "Other", "rename_data": True})],
    ),
    "an excluded object is renamed": (light_linked, [("object.rename", {"name": "Box", "new_name": "Other"})]),
}


@pytest.mark.parametrize("name", CASES)
def test_the_hash_that_a_step_reports_is_that_of_the_whole_scene(stage: Stage, name: str) -> None:
    build, calls = CASES[name]
    build()
    stage.state.refresh()
    for tool, args in calls:
        stage.do(tool, args)  # compares the two
    root = stage.state.root()
    stage.state.save(stage.scratch / "saved.blend")
    assert stage.state.full_root() == root
    stage.state.open(stage.scratch / "saved.blend")
    assert stage.state.root() == root
