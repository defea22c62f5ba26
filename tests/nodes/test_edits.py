"""Both payloads become the same list of edits, each with the pointer of its operation."""

from __future__ import annotations

from typing import Any

import pytest

from blendwright.nodes.edits import AddNode, Edit, Link, RemoveNode, SetInput, SocketRef, are_repeatable, edits_of
from blendwright.nodes.payloads import GnOpsPayload, NodeTreePayload, positions_named

TARGET = {"object_name": "Cube", "modifier_name": "Nodes"}
CUBE = "GeometryNodeMeshCube"


def tree_edits(*operations: dict[str, Any]) -> list[Edit]:
    target = {**TARGET, "node_group_name": "Group"}
    return list(edits_of(NodeTreePayload.model_validate({"target": target, "operations": list(operations)})))


def patch_edits(*operations: dict[str, Any]) -> list[Edit]:
    return list(edits_of(GnOpsPayload.model_validate({"v": 1, "target": TARGET, "ops": list(operations)})))


def test_a_link_means_the_same_in_both_payloads_but_for_its_pointers() -> None:
    from_tree = tree_edits(
        {"op": "link", "from": {"node_id": "a", "socket": "Mesh"}, "to": {"node_id": "b", "socket": "Geometry"}}
    )
    from_patch = patch_edits(
        {"op": "ensure_target"},
        {
            "op": "link",
            "from": {"node_id": "a", "socket_name": "Mesh"},
            "to": {"node_id": "b", "socket_name": "Geometry"},
        },
    )
    assert from_tree == [
        Link(
            "/operations/0",
            SocketRef("a", "Mesh", "/operations/0/from/node_id", "/operations/0/from/socket"),
            SocketRef("b", "Geometry", "/operations/0/to/node_id", "/operations/0/to/socket"),
        )
    ]
    assert from_patch == [
        Link(
            "/ops/1",
            SocketRef("a", "Mesh", "/ops/1/from/node_id", "/ops/1/from/socket_name"),
            SocketRef("b", "Geometry", "/ops/1/to/node_id", "/ops/1/to/socket_name"),
        )
    ]


def test_a_patch_says_how_things_should_be_and_a_tree_what_is_done() -> None:
    created, deleted = tree_edits(
        {"op": "create_node", "node_id": "a", "bl_idname": CUBE, "location": [1, 2]},
        {"op": "delete_node", "node_id": "a"},
    )
    added, removed = patch_edits(
        {"op": "add_node", "id": "a", "bl_idname": CUBE, "x": 1}, {"op": "remove_node", "node_id": "a"}
    )
    assert created == AddNode("/operations/0", "a", "/operations/0/node_id", CUBE, (1.0, 2.0), exist_ok=False)
    assert added == AddNode("/ops/0", "a", "/ops/0/id", CUBE, (1.0, None), exist_ok=True)
    assert deleted == RemoveNode("/operations/1", "a", missing_ok=False)
    assert removed == RemoveNode("/ops/1", "a", missing_ok=True)


def test_an_input_points_to_its_own_operation() -> None:
    (edit,) = patch_edits({"op": "set_input", "node_id": "a", "socket_name": "Size", "value": 2.0})
    assert edit == SetInput("/ops/0", SocketRef("a", "Size", "/ops/0/node_id", "/ops/0/socket_name"), 2.0)


ADD = {"op": "add_node", "id": "a", "bl_idname": CUBE}
SET = {"op": "set_input", "node_id": "a", "socket_name": "Size", "value": 2.0}
REMOVE = {"op": "remove_node", "node_id": "a"}


@pytest.mark.parametrize(
    ("operations", "repeatable"),
    [
        ([ADD, SET, REMOVE], True),
        ([SET, REMOVE], False),
        ([SET, {"op": "cleanup_unused"}], False),
        ([{"op": "cleanup_unused"}, ADD, SET], True),
        ([ADD, REMOVE, {**ADD, "bl_idname": "GeometryNodeMeshCone"}], False),
        ([{"op": "ensure_target"}, {"op": "ensure_single_group_io"}], True),
    ],
)
def test_a_patch_is_repeatable_unless_it_removes_what_it_needs(
    operations: list[dict[str, Any]], repeatable: bool
) -> None:
    assert are_repeatable(patch_edits(*operations)) is repeatable


@pytest.mark.parametrize(
    ("operation", "repeatable"),
    [
        ({"op": "create_node", "node_id": "a", "bl_idname": CUBE}, False),
        ({"op": "delete_node", "node_id": "a"}, False),
        ({"op": "unlink", "to": {"node_id": "a", "socket": "Mesh"}}, False),
        ({"op": "set_group_io", "remove_inputs": ["Size"]}, False),
        ({"op": "set_group_io", "inputs": [{"name": "Size", "socket_type": "NodeSocketFloat"}]}, True),
        ({"op": "set_property", "node_id": "a", "property": "mode", "value": "A"}, True),
    ],
)
def test_operations_of_a_tree_are_repeatable_when_the_second_time_is_not_refused(
    operation: dict[str, Any], repeatable: bool
) -> None:
    assert are_repeatable(tree_edits(operation)) is repeatable


@pytest.mark.parametrize(
    ("key", "positions"),
    [("Value", [0, 2]), ("Value#2", [2]), ("Value#3", []), ("Value#0", []), ("A#1", [3]), ("Other", [])],
)
def test_a_number_after_a_name_means_the_socket_of_that_place_among_its_namesakes(
    key: str, positions: list[int]
) -> None:
    assert positions_named(["Value", "Scale", "Value", "A#1"], key) == positions
