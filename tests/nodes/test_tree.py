"""A tree as a value and the payload that builds it are two forms of one thing."""

from __future__ import annotations

from blendwright.nodes.payloads import NodeTreePayload, TreeTarget
from blendwright.nodes.tree import Tree, new_tree, to_payload
from nodes.built_trees import from_payload

TARGET = TreeTarget(object_name="Cube", modifier_name="GeometryNodes", node_group_name="G")
TREE = Tree.model_validate(
    {
        "interface": {
            "inputs": [
                {"name": "Geometry", "socket_type": "NodeSocketGeometry"},
                {"name": "Height", "socket_type": "NodeSocketFloat", "default": 2.0, "min": 0.0, "panel": ["Size"]},
            ],
            "outputs": [{"name": "Geometry", "socket_type": "NodeSocketGeometry"}],
        },
        "nodes": [
            {
                "id": "out",
                "bl_idname": "GeometryNodeRepeatOutput",
                "location": [300, 0],
                "properties": {"repeat_items": [{"name": "Geometry", "socket_type": "GEOMETRY"}]},
            },
            {
                "id": "in",
                "bl_idname": "GeometryNodeRepeatInput",
                "location": [0, 0],
                "properties": {"paired_output": "out", "label": "Loop"},
                "inputs": {"Iterations": 4},
            },
            {"id": "group_output", "bl_idname": "NodeGroupOutput", "location": [500, 10]},
        ],
        "links": [{"from": {"node_id": "in", "socket": "Geometry"}, "to": {"node_id": "out", "socket": "Geometry"}}],
    }
)


def test_a_tree_is_its_own_payload_and_back() -> None:
    for tree in (TREE, new_tree()):
        payload = to_payload(tree, TARGET)
        read_again = NodeTreePayload.model_validate(payload.model_dump(mode="json"))
        assert from_payload(read_again) == tree


def test_a_tree_survives_json() -> None:
    assert Tree.model_validate_json(TREE.model_dump_json()) == TREE


def test_the_given_ids_come_first_and_a_missing_one_is_deleted_by_the_payload() -> None:
    assert [node.id for node in TREE.nodes] == ["group_output", "out", "in"]
    deleted = [each for each in to_payload(TREE, TARGET).operations if each.op == "delete_node"]
    assert [each.node_id for each in deleted] == ["group_input"]


def test_a_zone_is_paired_after_all_nodes_have_their_items() -> None:
    names = [each.property for each in to_payload(TREE, TARGET).operations if each.op == "set_property"]
    assert names == ["location", "repeat_items", "label", "paired_output"]


def test_what_is_not_said_of_a_socket_is_not_written() -> None:
    height = TREE.interface.inputs[1].model_dump()
    assert height == {
        "name": "Height",
        "socket_type": "NodeSocketFloat",
        "default": 2.0,
        "min": 0.0,
        "panel": ["Size"],
    }


def test_what_a_node_computes_with_is_set_before_what_it_does() -> None:
    compare = {
        "id": "c",
        "bl_idname": "FunctionNodeCompare",
        "location": [0, 0],
        # As Blender lists them.
        "properties": {"operation": "BRIGHTER", "data_type": "RGBA"},
    }
    tree = Tree.model_validate({"interface": {"inputs": [], "outputs": []}, "nodes": [compare], "links": []})
    names = [each.property for each in to_payload(tree, TARGET).operations if each.op == "set_property"]
    assert names == ["data_type", "operation"]
