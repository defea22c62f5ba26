"""What is checked before Blender and what Blender is then told agree: payloads that can be applied pass, and mean one thing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
import pytest

from blendwright.plan.validate import validate_arguments
from blendwright.tool_api.promises import Idempotence
from blendwright.tools.catalog import tools

if TYPE_CHECKING:
    from support.stage.stage import Stage

TARGET = {"object_name": "Plane", "modifier_name": "G", "node_group_name": "N"}
GEOMETRY = {"name": "Geometry", "socket_type": "NodeSocketGeometry"}
X, XV = {"name": "X", "socket_type": "NodeSocketFloat"}, {"name": "X", "socket_type": "NodeSocketVector"}
FRAME, CUBE, COMPARE = "NodeFrame", "GeometryNodeMeshCube", "FunctionNodeCompare"


def group_io(**fields: Any) -> dict[str, Any]:
    return {"op": "set_group_io", **fields}


def create(node_id: str, bl_idname: str) -> dict[str, Any]:
    return {"op": "create_node", "node_id": node_id, "bl_idname": bl_idname}


def parent(node_id: str, frame: str | None) -> dict[str, Any]:
    return {"op": "set_property", "node_id": node_id, "property": "parent", "value": frame}


def tree_args(*operations: dict[str, Any]) -> dict[str, Any]:
    return {"target": TARGET, "operations": list(operations)}


def patch_args(*ops: dict[str, Any]) -> dict[str, Any]:
    return {"v": 1, "target": {"object_name": "Plane", "modifier_name": "G"}, "ops": list(ops)}


@pytest.fixture
def plane(stage: Stage) -> Stage:
    stage.do("mesh.create_primitive", {"kind": "plane", "name": "Plane"})
    stage.do("geonodes.node_tree", tree_args())
    return stage


def group() -> Any:
    return bpy.data.node_groups["N"]


def inputs() -> list[tuple[str, str]]:
    found = [item for item in group().interface.items_tree if item.item_type == "SOCKET" and item.in_out == "INPUT"]
    return [(item.name, item.socket_type) for item in found]


def twice(plane: Stage, tool: str, args: dict[str, Any]) -> bool:
    """Whether it can be done again; if so, the tree must be the same."""
    plane.do(tool, args)
    before = plane.state.full_root()
    answer = plane.call(tool, args)
    assert not answer["ok"] or plane.state.full_root() == before
    return answer["ok"]


# ---------------------------------------------------------------------- sockets of one name


def test_the_second_socket_of_a_name_can_be_removed_in_the_payload_that_made_it(plane: Stage) -> None:
    made = group_io(replace=True, inputs=[GEOMETRY, X, XV])
    plane.do("geonodes.node_tree", tree_args(made, group_io(remove_inputs=["X#2"])))
    assert inputs() == [("Geometry", "NodeSocketGeometry"), ("X", "NodeSocketFloat")]
    [pointer] = plane.invalid("geonodes.node_tree", tree_args(made, group_io(remove_inputs=["X"])))
    assert pointer == "/operations/1/remove_inputs/0"
    [pointer] = plane.invalid("geonodes.node_tree", tree_args(made, group_io(remove_inputs=["X#1", "X", "X"])))
    assert pointer == "/operations/1/remove_inputs/2"


def test_an_identifier_is_not_judged_before_blender(plane: Stage) -> None:
    made = group_io(replace=True, inputs=[GEOMETRY, X])
    plane.do("geonodes.node_tree", tree_args(made))
    identifier = next(item.identifier for item in group().interface.items_tree if item.name == "X")
    plane.do("geonodes.node_tree", tree_args(made, group_io(remove_inputs=[identifier])))
    assert inputs() == [("Geometry", "NodeSocketGeometry")]


def test_two_sockets_of_one_name_that_are_added_are_two(plane: Stage) -> None:
    made = group_io(replace=True, inputs=[GEOMETRY])
    wire = {"op": "link", "from": {"node_id": "group_input", "socket": "X#2"}, "to": {"node_id": "c", "socket": "Size"}}
    plane.do("geonodes.node_tree", tree_args(made, group_io(inputs=[X, XV]), create("c", CUBE), wire))
    assert [kind for _, kind in inputs()] == ["NodeSocketGeometry", "NodeSocketFloat", "NodeSocketVector"]
    assert group().nodes["c"].inputs["Size"].is_linked


# ---------------------------------------------------------------------- nodes


def test_a_group_input_that_was_deleted_can_be_created_again(plane: Stage) -> None:
    plane.do("geonodes.node_tree", tree_args({"op": "delete_node", "node_id": "group_input"}))
    plane.do("geonodes.node_tree", tree_args(create("group_input", "NodeGroupInput")))
    findings = plane.refusal("geonodes.node_tree", tree_args(create("group_input", "NodeGroupInput")))
    assert findings[0]["pointer"] == "/operations/0/node_id"
    assert plane.invalid("geonodes.node_tree", tree_args(create("group_input", CUBE))) == ["/operations/0/node_id"]


@pytest.mark.parametrize(
    "given",
    [
        {"operation": "BRIGHTER", "data_type": "RGBA"},
        {"data_type": "RGBA", "operation": "BRIGHTER"},
        {"mode": "DIRECTION", "operation": "EQUAL", "data_type": "VECTOR"},
    ],
)
def test_properties_of_a_patch_have_no_order(plane: Stage, given: dict[str, str]) -> None:
    plane.do("geonodes.patch", patch_args({"op": "add_node", "id": "c", "bl_idname": COMPARE, "properties": given}))
    node = group().nodes["c"]
    assert {name: getattr(node, name) for name in given} == given


def test_frames_do_not_go_round(plane: Stage) -> None:
    made = create("f1", FRAME), create("f2", FRAME), parent("f1", "f2")
    assert plane.invalid("geonodes.node_tree", tree_args(*made, parent("f2", "f1"))) == ["/operations/3/value"]
    plane.do("geonodes.node_tree", tree_args(*made))
    [finding] = plane.refusal("geonodes.node_tree", tree_args(parent("f2", "f1")))
    assert (finding["code"], finding["pointer"]) == ("ARGS_INVALID", "/operations/0/value")
    plane.do("geonodes.node_tree", tree_args(parent("f1", None), parent("f2", "f1")))
    assert group().nodes["f2"].parent == group().nodes["f1"]


# ---------------------------------------------------------------------- repeating


LOOSE = {"op": "add_node", "id": "k", "bl_idname": CUBE}
CONE = {**LOOSE, "bl_idname": "GeometryNodeMeshCone"}
GONE = {"op": "remove_node", "node_id": "k"}
SIZE = {"op": "set_input", "node_id": "k", "socket_name": "Size", "value": [1, 1, 1]}
CLEANUP = {"op": "cleanup_unused"}


@pytest.mark.parametrize(
    ("before", "tool", "args"),
    [
        ((), "geonodes.patch", patch_args(LOOSE, SIZE, CLEANUP)),
        ((), "geonodes.patch", patch_args(LOOSE, GONE)),
        ((), "geonodes.patch", patch_args(LOOSE, GONE, CONE)),
        ((LOOSE,), "geonodes.patch", patch_args(GONE, CONE)),
        ((LOOSE,), "geonodes.patch", patch_args(SIZE, CLEANUP)),
        ((LOOSE,), "geonodes.patch", patch_args(SIZE, GONE)),
        ((LOOSE,), "geonodes.patch", patch_args(CLEANUP)),
        ((), "geonodes.node_tree", tree_args(group_io(inputs=[X]))),
        ((), "geonodes.node_tree", tree_args(group_io(inputs=[X]), group_io(remove_inputs=["X"]))),
        ((), "geonodes.node_tree", tree_args(group_io(remove_inputs=["Geometry"]))),
    ],
)
def test_what_is_declared_idempotent_can_be_repeated(
    plane: Stage, before: tuple[dict[str, Any], ...], tool: str, args: dict[str, Any]
) -> None:
    plane.do("geonodes.patch", patch_args(*before))
    declared = tools()[tool].idempotence_for(
        tools()[tool].args_model.model_validate(validate_arguments(tools()[tool], args)[0])
    )
    repeated = twice(plane, tool, args)
    assert repeated or declared is Idempotence.NON_IDEMPOTENT


def test_only_a_patch_that_removes_what_it_needs_is_not_idempotent() -> None:
    patch = tools()["geonodes.patch"]

    def declared(*ops: dict[str, Any]) -> Idempotence:
        return patch.idempotence_for(patch.args_model.model_validate(patch_args(*ops)))

    assert declared(LOOSE, SIZE, CLEANUP) is declared(LOOSE, GONE) is declared(GONE, CONE) is Idempotence.IDEMPOTENT
    assert declared(LOOSE, GONE, CONE) is declared(SIZE, CLEANUP) is declared(SIZE, GONE) is Idempotence.NON_IDEMPOTENT
