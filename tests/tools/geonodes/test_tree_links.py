"""What nodes are joined by: links, zones, and the sockets of the group."""

from __future__ import annotations

import pytest

from support.stage.stage import Stage
from support.trees.node_trees import (
    CUBE,
    IN,
    JOIN,
    NOISE,
    OUT,
    ZONES,
    attempt,
    build,
    exported,
    group_io,
    items,
    link,
    node,
    number,
    order,
    prop,
    rebuild,
    tree,
    value,
    zone,
)

# ---------------------------------------------------------------------- links


def test_links_that_do_not_fit_are_refused(stage: Stage) -> None:
    (finding,) = attempt(stage, node("noise", NOISE), link(("noise", "Color"), OUT))
    assert finding["pointer"] == "/operations/1"
    assert "RGBA" in finding["message"]


@pytest.mark.proves("GN-TREE-04")
def test_a_multi_input_socket_keeps_the_order_in_which_links_are_made(stage: Stage) -> None:
    boxes = [each for name in "dbca" for each in [*node(name, CUBE), link((name, "Mesh"), ("all", "Geometry"))]]
    build(stage, node("all", JOIN), boxes)
    assert order() == ["d", "b", "c", "a"]
    build(stage, link(("b", "Mesh"), ("all", "Geometry"), "unlink"))
    assert order() == ["d", "c", "a"]
    build(stage, link(("b", "Mesh"), ("all", "Geometry")), {"op": "delete_node", "node_id": "c"})
    assert order() == ["d", "a", "b"]
    assert rebuild(stage, "Thing", "Copy")["ok"]
    assert exported(stage, "Copy") == exported(stage)


@pytest.mark.proves("GN-TREE-10")
def test_unlinking_one_side_takes_all_its_links(stage: Stage) -> None:
    build(stage, node("all", JOIN), node("a", CUBE), link(("a", "Mesh"), ("all", "Geometry")), link(("a", "Mesh"), OUT))
    build(stage, {"op": "unlink", "from": {"node_id": "a", "socket": "Mesh"}})
    assert len(tree().links) == 0


# ---------------------------------------------------------------------- zones


@pytest.mark.proves("GN-TREE-05")
@pytest.mark.parametrize("kind", ZONES)
def test_zones_are_paired_and_have_items(stage: Stage, kind: str) -> None:
    import bpy

    if kind == "ForeachGeometryElement" and bpy.app.version < (4, 5, 0):
        pytest.skip("for-each zones came with Blender 4.3")
    build(stage, zone(kind), link(IN, ("begin", "Geometry")))
    assert tree().nodes["begin"].paired_output.name == "end"
    name = ZONES[kind][1][-1]["name"]
    build(stage, value("begin", name, 3))
    assert rebuild(stage, "Thing", "Copy")["ok"]
    assert exported(stage, "Copy") == exported(stage)


def test_items_that_stay_keep_their_links(stage: Stage) -> None:
    build(stage, zone("Repeat"), link(IN, ("begin", "Geometry")), value("begin", "Turn", 0.5))
    build(stage, prop("end", "repeat_items", items(("Turn", "INT"), ("More", "VECTOR"), ("Geometry", "GEOMETRY"))))
    names = [socket.name for socket in tree().nodes["end"].inputs if socket.name]
    assert names == ["Turn", "More", "Geometry"]
    assert tree().nodes["begin"].inputs["Geometry"].is_linked
    assert attempt(stage, prop("end", "repeat_items", items(("A", "FLOAT"), ("A", "FLOAT"))))[0]["pointer"].endswith(
        "/name"
    )


def test_only_the_right_last_node_ends_a_zone(stage: Stage) -> None:
    wrong = node("end", "GeometryNodeSimulationOutput"), node("begin", "GeometryNodeRepeatInput", paired_output="end")
    assert attempt(stage, *wrong)[0]["pointer"] == "/operations/2/value"


# ---------------------------------------------------------------------- the group's sockets


@pytest.mark.proves("GN-TREE-06")
def test_sockets_of_the_group_are_added_changed_ordered_and_removed(stage: Stage) -> None:
    build(stage, group_io([number("A"), number("B", default=2.0), number("C", panel=["Box"])]))
    build(stage, group_io([number("B", min=1.0)], remove_inputs=["A"]))
    shown = exported(stage)["interface"]["inputs"]
    assert [each["name"] for each in shown] == ["Geometry", "B", "C"]
    assert shown[1] == {"name": "B", "socket_type": "NodeSocketFloat", "default": 2.0, "min": 1.0}
    assert shown[2]["panel"] == ["Box"]
    build(
        stage,
        group_io([number("C", panel=[]), {"name": "Geometry", "socket_type": "NodeSocketGeometry"}], replace=True),
    )
    assert [each["name"] for each in exported(stage)["interface"]["inputs"]] == ["C", "Geometry"]
    assert (
        attempt(stage, group_io([{"name": "X", "socket_type": "NodeSocketNothing"}]))[0]["pointer"]
        == "/operations/0/inputs/0/socket_type"
    )
    assert attempt(stage, group_io(None, remove_outputs=["X"]))[0]["code"] == "TARGET_NOT_FOUND"


def test_a_menu_of_the_group_has_its_default_once_the_tree_says_its_items(stage: Stage) -> None:
    menu = {"name": "Shape", "socket_type": "NodeSocketMenu", "default": "Round"}
    build(
        stage,
        group_io([menu]),
        node("pick", "GeometryNodeMenuSwitch", enum_items=[{"name": "Square"}, {"name": "Round"}]),
        link(("group_input", "Shape"), ("pick", "Menu")),
    )
    assert exported(stage)["interface"]["inputs"][1] == menu
    assert rebuild(stage, "Thing", "Copy")["ok"]
    assert exported(stage, "Copy") == exported(stage)
