"""Names of what lies inside a datablock: Blender ends them at a NUL and cuts long ones, so that they would mean another thing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import bpy
import pytest

from tools.objects import box

if TYPE_CHECKING:
    from support.stage.stage import Stage

TREE = {"object_name": "Box", "modifier_name": "G", "node_group_name": "N"}
ATTRIBUTE = {"object": "Box", "name": "NAME", "type": "FLOAT", "value": 1}
PROPERTY = {"name": "Box", "key": "NAME", "value": 1}
NODE = {"op": "create_node", "node_id": "NAME", "bl_idname": "GeometryNodeMeshCube"}
SOCKET = {"name": "X", "socket_type": "NodeSocketFloat", "default_attribute_name": "NAME"}
# Tool, arguments with NAME where the name goes, and its pointer.
NAMES: list[tuple[str, dict[str, Any], str]] = [
    ("mesh.set_attribute", ATTRIBUTE, "/name"),
    ("modifier.add", {"object": "Box", "name": "M", "settings": {"type": "DISPLACE", "vertex_group": "NAME"}}, "/settings/vertex_group"),
    ("modifier.add", {"object": "Box", "name": "M", "settings": {"type": "DISPLACE", "uv_layer": "NAME"}}, "/settings/uv_layer"),
    ("modifier.add", {"object": "Box", "name": "NAME", "settings": {"type": "ARRAY"}}, "/name"),
    ("object.set_property", PROPERTY, "/key"),
    ("geonodes.node_tree", {"target": TREE, "operations": [NODE]}, "/operations/0/node_id"),
    (
        "geonodes.node_tree",
        {"target": TREE, "operations": [{"op": "set_group_io", "inputs": [SOCKET]}]},
        "/operations/0/inputs/0/default_attribute_name",
    ),
    ("geonodes.set_modifier_input", {"object_name": "Box", "socket": "X", "attribute": "NAME"}, "/attribute"),
]  # fmt: skip


def named(args: dict[str, Any], name: str) -> dict[str, Any]:
    return json.loads(json.dumps(args).replace('"NAME"', json.dumps(name)))


@pytest.mark.parametrize("bad", ["a\x00c", "a\nc", "a\x7f"])
@pytest.mark.parametrize(("tool", "args", "pointer"), NAMES)
def test_names_have_no_control_characters(
    stage: Stage, tool: str, args: dict[str, Any], pointer: str, bad: str
) -> None:
    assert stage.invalid(tool, named(args, bad)) == [pointer]


@pytest.mark.parametrize(
    ("tool", "args", "most", "pointer"),
    [
        ("mesh.set_attribute", ATTRIBUTE, 67, "/name"),
        ("object.set_property", PROPERTY, 63, "/key"),
        ("geonodes.node_tree", {"target": TREE, "operations": [NODE]}, 63, "/operations/0/node_id"),
    ],
)
def test_names_are_as_long_as_blender_keeps_them(
    stage: Stage, tool: str, args: dict[str, Any], most: int, pointer: str
) -> None:
    box(stage)
    longest = "ä" * (most // 2) + "a" * (most % 2)
    stage.do(tool, named(args, longest))
    blocks: Any = bpy.data
    held = {
        "mesh.set_attribute": blocks.meshes["Box"].attributes,
        "object.set_property": blocks.objects["Box"],
        "geonodes.node_tree": getattr(blocks.node_groups.get("N"), "nodes", {}),
    }
    assert longest in set(held[tool].keys())
    assert stage.invalid(tool, named(args, longest + "a")) == [pointer]
