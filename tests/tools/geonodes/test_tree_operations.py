"""Every operation of both payloads by itself: what it does to a real tree."""

from __future__ import annotations

from typing import Any

import pytest

from support.stage.stage import Stage
from support.trees.node_trees import CUBE, IN, JOIN, NOISE, OUT, attempt, build, link, node, patch, tree, value, wire


def ends() -> set[tuple[str, str]]:
    return {(each.from_node.name, each.to_node.name) for each in tree().links}


def patched(stage: Stage, *ops: dict[str, Any]) -> dict[str, Any]:
    return stage.do("geonodes.patch", patch(ops))


# ---------------------------------------------------------------------- NODE_TREE


@pytest.mark.proves("GN-TREE-07")
def test_create_node_makes_a_node_of_the_type_under_its_id_at_its_place(stage: Stage) -> None:
    build(stage, {"op": "create_node", "node_id": "n1", "bl_idname": NOISE, "location": [100, 200]})
    made = tree().nodes["n1"]
    assert (made.bl_idname, tuple(made.location)) == (NOISE, (100.0, 200.0))
    (finding,) = attempt(stage, node("n1", NOISE))
    assert finding["pointer"] == "/operations/0/node_id"


@pytest.mark.proves("GN-TREE-08")
def test_set_input_default_gives_an_input_its_value(stage: Stage) -> None:
    build(stage, node("noise", NOISE), value("noise", "Scale", 9.0))
    assert tree().nodes["noise"].inputs["Scale"].default_value == 9.0


@pytest.mark.proves("GN-TREE-09")
def test_delete_node_removes_the_node_and_its_links(stage: Stage) -> None:
    build(stage, node("all", JOIN), link(IN, ("all", "Geometry")), link(("all", "Geometry"), OUT))
    assert ends() == {("group_input", "all"), ("all", "group_output")}
    build(stage, {"op": "delete_node", "node_id": "all"})
    assert "all" not in tree().nodes and ends() == set()
    (finding,) = attempt(stage, {"op": "delete_node", "node_id": "all"})
    assert finding["code"] == "TARGET_NOT_FOUND"


@pytest.mark.proves("GN-TREE-11")
def test_group_input_and_group_output_can_be_linked_without_being_created(stage: Stage) -> None:
    build(
        stage, link(IN, OUT, "unlink"), node("all", JOIN), link(IN, ("all", "Geometry")), link(("all", "Geometry"), OUT)
    )
    kinds = {tree().nodes[name].bl_idname for name in ("group_input", "group_output")}
    assert kinds == {"NodeGroupInput", "NodeGroupOutput"}
    assert ends() == {("group_input", "all"), ("all", "group_output")}


# ---------------------------------------------------------------------- GN_OPS


@pytest.mark.proves("GN-OPS-04")
def test_add_node_makes_a_node_once_at_x_and_y(stage: Stage) -> None:
    build(stage)
    for _ in range(2):
        patched(stage, {"op": "add_node", "id": "noise_1", "bl_idname": NOISE, "x": 120, "y": 40})
    made = [each for each in tree().nodes if each.bl_idname == NOISE]
    assert [(each.name, tuple(each.location)) for each in made] == [("noise_1", (120.0, 40.0))]


@pytest.mark.proves("GN-OPS-05")
def test_set_input_gives_an_input_its_value(stage: Stage) -> None:
    build(stage)
    patched(
        stage,
        {"op": "add_node", "id": "noise_1", "bl_idname": NOISE},
        {"op": "set_input", "node_id": "noise_1", "socket_name": "Scale", "value": 5.5},
    )
    assert tree().nodes["noise_1"].inputs["Scale"].default_value == 5.5


@pytest.mark.proves("GN-OPS-06")
def test_remove_node_removes_it_and_does_not_mind_that_it_is_gone(stage: Stage) -> None:
    build(stage)
    patched(stage, {"op": "add_node", "id": "box", "bl_idname": CUBE})
    for _ in range(2):
        patched(stage, {"op": "remove_node", "node_id": "box"})
        assert "box" not in tree().nodes


@pytest.mark.proves("GN-OPS-07")
def test_link_and_unlink_make_and_remove_a_link(stage: Stage) -> None:
    build(stage)
    patched(stage, {"op": "add_node", "id": "box", "bl_idname": CUBE}, wire(("box", "Mesh"), OUT))
    assert ends() == {("box", "group_output")}
    patched(stage, wire(("box", "Mesh"), OUT, "unlink"))
    assert ends() == set()


@pytest.mark.proves("GN-OPS-08")
def test_cleanup_unused_removes_what_the_output_does_not_need_and_no_more(stage: Stage) -> None:
    build(stage, node("box", CUBE), link(("box", "Mesh"), OUT), node("loose", NOISE))
    patched(stage, {"op": "cleanup_unused"})
    assert {each.name for each in tree().nodes} == {"box", "group_input", "group_output"}
