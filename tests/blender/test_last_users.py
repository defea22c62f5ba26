"""Steps that take the last user away from a datablock: it is kept by a mark, which no tool has to declare."""

from __future__ import annotations

from typing import Any

import bpy
import pytest

from blendwright.blender.step_modes import HAS_UNDO
from blendwright.tools.modifier.stored_inputs import put_value
from support.stage.stage import Stage

TREE = {"object_name": "Box", "modifier_name": "Nodes"}
TAKEN: list[tuple[str, dict[str, Any], str]] = [
    (
        "modifier.set",
        {"object": "Box", "modifier": "Nodes", "settings": {"type": "NODES", "node_group": "Other"}},
        "Tree",
    ),
    (
        "modifier.set",
        {"object": "Box", "modifier": "Dents", "settings": {"type": "DISPLACE", "texture": "Kept"}},
        "Dent",
    ),
    ("geonodes.set_modifier_input", {"object_name": "Box", "socket": "Paint", "value": "Kept"}, "Given"),
    ("geonodes.patch", {"v": 1, "target": TREE, "ops": [{"op": "remove_node", "node_id": "paint"}]}, "Lone"),
    ("object.set_property", {"name": "Box", "key": "held", "value": 3}, "Held"),
    ("modifier.remove", {"object": "Box", "modifier": "Hair"}, "Strands"),
    ("material.delete", {"name": "Blob", "clear_users": True}, "Dots"),
]


@pytest.mark.parametrize(("tool", "args", "lone"), TAKEN)
def test_what_loses_its_last_user_is_kept_and_no_promise_is_broken(
    stage: Stage, tool: str, args: dict[str, Any], lone: str
) -> None:
    _furnish(stage)
    for way in ("inverse", "memfile") if HAS_UNDO else ("inverse",):
        answer = stage.call(tool, args, rehearse=way)
        assert answer["ok"], answer["message"]
        assert answer["reverted_by"] == way
        assert not _named(lone).use_fake_user
    answer = stage.call(tool, args)
    assert answer["ok"], answer["message"]
    assert _named(lone).use_fake_user
    assert lone in [change[1] for change in answer["changes"]]


def _named(name: str) -> Any:
    held: list[Any] = [bpy.data.node_groups, bpy.data.textures, bpy.data.materials, bpy.data.particles, bpy.data.images]
    return next(blocks[name] for blocks in held if name in blocks)


def _furnish(stage: Stage) -> None:
    """A box that is the only user of all kinds of things."""
    stage.do("mesh.create_primitive", {"kind": "cube", "name": "Box"})
    stage.do("mesh.create_primitive", {"kind": "cube", "name": "Other"})
    other = {"object_name": "Other", "modifier_name": "Nodes", "node_group_name": "Other"}
    stage.do("geonodes.node_tree", {"target": other, "operations": []})
    paint = {"op": "set_group_io", "inputs": [{"name": "Paint", "socket_type": "NodeSocketMaterial"}]}
    target = {**TREE, "node_group_name": "Tree"}
    stage.do("geonodes.node_tree", {"target": target, "operations": [paint]})
    data: Any = bpy.data
    box = data.objects["Box"]
    node = data.node_groups["Tree"].nodes.new("GeometryNodeSetMaterial")
    node.name = "paint"
    node.inputs["Material"].default_value = data.materials.new("Lone")
    put_value(box.modifiers["Nodes"], "Socket_2", data.materials.new("Given"))
    box.modifiers.new("Dents", "DISPLACE").texture = data.textures.new("Dent", "CLOUDS")
    box.modifiers.new("Hair", "PARTICLE_SYSTEM")
    box.particle_systems[0].settings.name = "Strands"
    box["held"] = data.materials.new("Held")
    for blocks, more in ((data.textures, ("CLOUDS",)), (data.materials, ())):
        blocks.new("Kept", *more).use_fake_user = True
    blob: Any = data.materials.new("Blob")
    ball: Any = data.metaballs.new("Ball")
    if blob.node_tree is None:  # Blender 5.0 always has one
        blob.use_nodes = True
    nodes: Any = data.materials["Blob"].node_tree.nodes
    nodes.new("ShaderNodeTexImage").image = data.images.new("Dots", 4, 4)
    ball.materials.append(blob)
    bpy.context.scene.collection.objects.link(data.objects.new("Ball", ball))
    stage.state.refresh()
