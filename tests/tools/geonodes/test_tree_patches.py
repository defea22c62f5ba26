"""Patching a tree, setting the inputs of its modifier, and looking at it."""

from __future__ import annotations

import pytest

from support.stage.stage import Stage
from support.trees.node_trees import (
    CUBE,
    IN,
    JOIN,
    MOVE,
    NOISE,
    OUT,
    build,
    exported,
    group_io,
    items,
    link,
    node,
    number,
    order,
    patch,
    prop,
    tree,
    unexamined,
    value,
    wire,
    zone,
)

# ---------------------------------------------------------------------- patches


PATCH = [
    {"op": "ensure_single_group_io"},
    {"op": "add_node", "id": "all", "bl_idname": JOIN, "x": 100},
    {"op": "add_node", "id": "a", "bl_idname": CUBE},
    {"op": "add_node", "id": "b", "bl_idname": CUBE},
    {"op": "add_node", "id": "end", "bl_idname": "GeometryNodeRepeatOutput",
     "properties": {"repeat_items": items(("G", "GEOMETRY"), ("N", "INT"))}},
    {"op": "add_node", "id": "begin", "bl_idname": "GeometryNodeRepeatInput", "properties": {"paired_output": "end"}},
    {"op": "set_input", "node_id": "a", "socket_name": "Size", "value": [1, 2, 3]},
    wire(("a", "Mesh"), ("all", "Geometry")),
    wire(("b", "Mesh"), ("all", "Geometry")),
    wire(("a", "Mesh"), ("all", "Geometry"), "unlink"),
    wire(("a", "Mesh"), ("all", "Geometry")),
    wire(("all", "Geometry"), ("begin", "G")),
    wire(("begin", "G"), ("end", "G")),
    wire(("end", "G"), OUT),
    {"op": "remove_node", "node_id": "nobody"},
    {"op": "add_node", "id": "loose", "bl_idname": NOISE},
    {"op": "cleanup_unused"},
]  # fmt: skip


@pytest.mark.proves("GN-OPS-01")
def test_a_patch_that_is_applied_twice_gives_the_same_tree_and_hash(stage: Stage) -> None:
    first = stage.call("geonodes.patch", patch(PATCH))
    assert first["ok"], first["message"]
    shown = exported(stage)
    again = stage.call("geonodes.patch", patch(PATCH))
    assert again["ok"]
    assert again["changes"] == []
    assert again["after"] == first["after"]
    assert exported(stage) == shown
    assert order("Nodes") == ["b", "a"]


def test_cleaning_up_keeps_zones_that_are_used_and_frames_around_what_stays(stage: Stage) -> None:
    build(
        stage,
        zone("Repeat"), link(IN, ("begin", "Geometry")), link(("begin", "Geometry"), ("end", "Geometry")), link(("end", "Geometry"), OUT),
        node("frame", "NodeFrame"), node("empty frame", "NodeFrame"), prop("end", "parent", "frame"),
        node("noise", NOISE), node("move", MOVE), link(("noise", "Color"), ("move", "Offset")),
    )  # fmt: skip
    stage.do("geonodes.patch", patch([{"op": "cleanup_unused"}]))
    assert sorted(tree().nodes.keys()) == ["begin", "end", "frame", "group_input", "group_output"]


@pytest.mark.proves("GN-OPS-03")
def test_several_group_nodes_become_one_and_their_links_move(stage: Stage) -> None:
    build(
        stage,
        group_io([number("Size")]),
        node("second in", "NodeGroupInput"), node("second out", "NodeGroupOutput"), node("box", CUBE), node("all", JOIN),
        link(("second in", "Geometry"), ("all", "Geometry")), link(("box", "Mesh"), ("all", "Geometry")),
        link(("second in", "Size"), ("box", "Size")), link(IN, OUT, "unlink"), link(("all", "Geometry"), ("second out", "Geometry")),
    )  # fmt: skip
    stage.do("geonodes.patch", patch([{"op": "ensure_single_group_io"}]))
    assert sorted(tree().nodes.keys()) == ["all", "box", "group_input", "group_output"]
    assert order() == ["group_input", "box"]
    ends = {(each.from_node.name, each.to_node.name) for each in tree().links}
    assert {("all", "group_output"), ("group_input", "box")} < ends


def test_a_patch_does_not_make_another_type_out_of_a_node(stage: Stage) -> None:
    build(stage, node("box", CUBE))
    (finding,) = unexamined(stage, "geonodes.patch", patch([{"op": "add_node", "id": "box", "bl_idname": NOISE}]))
    assert (finding["pointer"], finding["code"]) == ("/ops/1/id", "SCENE_CONFLICT")


# ---------------------------------------------------------------------- modifier inputs


def test_an_input_of_the_modifier_reaches_the_result(stage: Stage) -> None:
    build(
        stage,
        group_io([number("Size", default=1.0)]),
        node("box", CUBE),
        link(("group_input", "Size"), ("box", "Size")),
        link(("box", "Mesh"), OUT),
    )
    asked = {"object_name": "Thing", "socket": "Size", "value": 4}
    assert stage.do("geonodes.set_modifier_input", asked)["changed"]
    assert not stage.do("geonodes.set_modifier_input", asked)["changed"]
    assert stage.do("geonodes.gates", {"object_name": "Thing"})["geometry"]["size"] == [4.0, 4.0, 4.0]
    assert stage.refusal("geonodes.set_modifier_input", {**asked, "socket": "Sise"})[0]["pointer"] == "/socket"
    assert stage.refusal("geonodes.set_modifier_input", {**asked, "value": "big"})[0]["pointer"] == "/value"
    assert stage.invalid("geonodes.set_modifier_input", {**asked, "attribute": "width"})


# ---------------------------------------------------------------------- looking


def test_a_diagram_has_every_node_and_link(stage: Stage) -> None:
    build(
        stage,
        node("noise", NOISE),
        value("noise", "Scale", 3.0),
        node("frame", "NodeFrame"),
        prop("noise", "parent", "frame"),
    )
    shown = stage.do("geonodes.inspect", {"object_name": "Thing", "formats": ["mermaid"]})
    assert shown["tree"] is None
    assert shown["mermaid"].splitlines() == [
        "flowchart LR",
        '  n0["group_input: GroupInput"]',
        '  n1["group_output: GroupOutput"]',
        '  subgraph n2["frame: Frame"]',
        '    n3["noise: TexNoise<br/>Scale = 3.0"]',
        "  end",
        '  n0 -->|"Geometry → Geometry"| n1',
    ]
