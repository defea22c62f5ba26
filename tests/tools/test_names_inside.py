"""Names of what lies inside a datablock: Blender ends them at a NUL and cuts long ones, so that they would mean another thing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
import pytest

from tools.objects import box

if TYPE_CHECKING:
    from stage import Stage

TREE = {"object_name": "Box", "modifier_name": "G", "node_group_name": "N"}


def attribute(name: str) -> dict[str, Any]:
    return {"object": "Box", "name": name, "type": "FLOAT", "value": 1}


def settings(**values: Any) -> dict[str, Any]:
    return {"object": "Box", "name": "M", "settings": values}


def node(node_id: str) -> dict[str, Any]:
    made = {"op": "create_node", "node_id": node_id, "bl_idname": "GeometryNodeMeshCube"}
    return {"target": TREE, "operations": [made]}


def reading(name: str) -> dict[str, Any]:
    socket = {"name": "X", "socket_type": "NodeSocketFloat", "default_attribute_name": name}
    return {"target": TREE, "operations": [{"op": "set_group_io", "inputs": [socket]}]}


@pytest.mark.parametrize("bad", ["a\x00c", "a\nc", "a\x7f"])
@pytest.mark.parametrize(
    ("tool", "make", "pointer"),
    [
        ("mesh.set_attribute", attribute, "/name"),
        ("modifier.add", lambda name: settings(type="DISPLACE", vertex_group=name), "/settings/vertex_group"),
        ("modifier.add", lambda name: settings(type="DISPLACE", uv_layer=name), "/settings/uv_layer"),
        ("modifier.add", lambda name: {**settings(type="ARRAY"), "name": name}, "/name"),
        ("object.set_property", lambda name: {"name": "Box", "key": name, "value": 1}, "/key"),
        ("geonodes.node_tree", node, "/operations/0/node_id"),
        ("geonodes.node_tree", reading, "/operations/0/inputs/0/default_attribute_name"),
        (
            "geonodes.set_modifier_input",
            lambda name: {"object_name": "Box", "socket": "X", "attribute": name},
            "/attribute",
        ),
    ],
)  # fmt: skip
def test_names_have_no_control_characters(stage: Stage, tool: str, make: Any, pointer: str, bad: str) -> None:
    assert stage.invalid(tool, make(bad)) == [pointer]


@pytest.mark.parametrize(
    ("tool", "make", "most", "pointer"),
    [
        ("mesh.set_attribute", attribute, 67, "/name"),
        ("object.set_property", lambda name: {"name": "Box", "key": name, "value": 1}, 63, "/key"),
        ("geonodes.node_tree", node, 63, "/operations/0/node_id"),
    ],
)  # fmt: skip
def test_names_are_as_long_as_blender_keeps_them(stage: Stage, tool: str, make: Any, most: int, pointer: str) -> None:
    box(stage)
    longest = "ä" * (most // 2) + "a" * (most % 2)
    stage.do(tool, make(longest))
    held = {
        "mesh.set_attribute": lambda: bpy.data.meshes["Box"].attributes,
        "object.set_property": lambda: bpy.data.objects["Box"],
        "geonodes.node_tree": lambda: bpy.data.node_groups["N"].nodes,
    }
    assert longest in set(held[tool]().keys())
    assert stage.invalid(tool, make(longest + "a")) == [pointer]
