"""Building, patching and looking at geometry-nodes trees."""

from __future__ import annotations

from typing import Any

import pytest

from node_trees import (
    CUBE,
    IN,
    JOIN,
    MOVE,
    NOISE,
    OUT,
    attempt,
    build,
    exported,
    link,
    node,
    patch,
    payload,
    prop,
    rebuild,
    unexamined,
    value,
    wire,
)
from stage import Stage


@pytest.fixture
def stage(emptied_stage: Stage) -> Stage:
    return emptied_stage


def tree(name: str = "GN_Thing") -> Any:
    import bpy

    groups: Any = bpy.data.node_groups
    return groups[name]


def ways() -> tuple[str, ...]:
    """How a step can be taken back; Blender's own undo is proven from 4.5 on."""
    import bpy

    return ("inverse", "memfile") if bpy.app.version >= (4, 5, 0) else ("inverse",)


def group_io(inputs: list[dict[str, Any]] | None = None, **more: Any) -> dict[str, Any]:
    return {"op": "set_group_io", "inputs": inputs, **more}


def number(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "socket_type": "NodeSocketFloat", **more}


# ---------------------------------------------------------------------- targets


@pytest.mark.proves("GN-TREE-01")
def test_a_new_tree_hands_its_geometry_through_and_everything_missing_is_created(stage: Stage) -> None:
    made = build(stage)
    assert made["created"] == ["object", "modifier", "node_group"]
    assert [(each.from_node.name, each.to_node.name) for each in tree().links] == [("group_input", "group_output")]
    import bpy

    thing: Any = bpy.data.objects["Thing"]
    assert thing.modifiers["Nodes"].node_group == tree()
    assert len(thing.data.vertices) == 0


def test_an_object_is_not_created_unless_that_is_allowed(stage: Stage) -> None:
    asked = payload([])
    del asked["target"]["allow_create_object"]
    (finding,) = stage.refusal("geonodes.node_tree", asked)
    assert (finding["pointer"], finding["code"]) == ("/target/object_name", "TARGET_NOT_FOUND")


def test_a_patch_needs_leave_to_create_the_modifier(stage: Stage) -> None:
    stage.do("mesh.create_primitive", {"kind": "cube", "name": "Thing"})
    asked = patch([{"op": "ensure_single_group_io"}])
    asked["ops"].pop(0)
    (finding,) = stage.refusal("geonodes.patch", asked)
    assert finding["pointer"] == "/target/modifier_name"


def test_things_of_another_type_under_the_names_are_refused(stage: Stage) -> None:
    stage.do("object.create_empty", {"name": "Thing"})
    assert attempt(stage)[0]["pointer"] == "/target/object_name"
    stage.do("mesh.create_primitive", {"kind": "cube", "name": "Box"})
    stage.do("modifier.add", {"object": "Box", "name": "Nodes", "settings": {"type": "ARRAY"}})
    assert attempt(stage, name="Box")[0]["pointer"] == "/target/modifier_name"


def test_the_inputs_of_a_modifier_start_with_the_defaults_of_the_group(stage: Stage) -> None:
    build(stage, group_io([number("Height", default=3.0, min=0.5, max=10.0)]))
    build(stage, group_io([number("Width", default=7.0)]))
    held = {each["name"]: each["value"] for each in stage.do("geonodes.inspect", {"object_name": "Thing"})["inputs"]}
    assert held == {"Height": 3.0, "Width": 7.0}


def test_a_changed_interface_reaches_other_objects_and_groups_that_use_the_tree(stage: Stage) -> None:
    build(stage)
    build(stage, node("inner", "GeometryNodeGroup", node_tree="GN_Thing"), name="Outer")
    stage.do(
        "geonodes.node_tree",
        {**payload([], "Twin"), "target": {**payload([], "Twin")["target"], "node_group_name": "GN_Thing"}},
    )
    asked = payload([group_io([number("Height", default=2.0)])])
    for way in ways():
        assert stage.call("geonodes.node_tree", asked, rehearse=way)["reverted_by"] == way
    answer = stage.call("geonodes.node_tree", asked)
    assert sorted(change[1] for change in answer["changes"]) == ["GN_Outer", "GN_Thing", "Thing", "Twin"]
    assert [socket.name for socket in tree("GN_Outer").nodes["inner"].inputs] == ["Geometry", "Height"]
    assert stage.do("geonodes.inspect", {"object_name": "Twin"})["inputs"][0]["value"] == 2.0


def test_links_to_a_socket_that_goes_come_back_with_it(stage: Stage) -> None:
    build(stage, group_io([number("Height")]))
    outer = node("inner", "GeometryNodeGroup", node_tree="GN_Thing"), node("noise", NOISE)
    build(stage, *outer, link(("noise", "Fac"), ("inner", "Height")), value("inner", "Height", 4.0), name="Outer")
    asked = payload([group_io(None, remove_inputs=["Height"])])
    for way in ways():
        assert stage.call("geonodes.node_tree", asked, rehearse=way)["reverted_by"] == way
        assert tree("GN_Outer").nodes["inner"].inputs["Height"].is_linked
    stage.do("geonodes.node_tree", asked)
    assert len(tree("GN_Outer").links) == 1


# ---------------------------------------------------------------------- all or nothing


@pytest.mark.proves("GN-TREE-02")
def test_a_failed_operation_leaves_the_old_tree_untouched(stage: Stage) -> None:
    build(stage, node("box", CUBE), link(("box", "Mesh"), OUT))
    held = tree().as_pointer()
    (finding,) = attempt(
        stage, node("ball", "GeometryNodeMeshUVSphere"), link(("ball", "Mesh"), ("nobody", "Geometry"))
    )
    assert finding["pointer"] == "/operations/1/to/node_id"
    assert tree().as_pointer() == held
    assert "ball" not in tree().nodes
    for way in ways():
        again = stage.call("geonodes.node_tree", payload(node("ball", "GeometryNodeMeshUVSphere")), rehearse=way)
        assert again["reverted_by"] == way
        assert "ball" not in tree().nodes


def test_an_operation_that_was_done_cannot_be_done_again(stage: Stage) -> None:
    build(stage, node("box", CUBE))
    assert attempt(stage, node("box", CUBE))[0]["pointer"] == "/operations/0/node_id"
    gone = {"op": "delete_node", "node_id": "box"}
    build(stage, gone)
    assert attempt(stage, gone)[0]["code"] == "TARGET_NOT_FOUND"
    assert (
        attempt(stage, link(IN, ("group_output", "Geometry"), "unlink"), link(IN, OUT, "unlink"))[0]["pointer"]
        == "/operations/1"
    )


# ---------------------------------------------------------------------- nodes, properties, values


def test_ids_are_kept_on_the_nodes_over_saving_and_opening(stage: Stage) -> None:
    build(stage, node("my node", NOISE))
    path = stage.scratch / "kept.blend"
    stage.state.save(path)
    before = stage.state.root()
    stage.state.open(path)
    assert stage.state.root() == before
    build(stage, value("my node", "Scale", 9.0))
    assert tree().nodes["my node"].inputs["Scale"].default_value == 9.0


def test_trees_from_elsewhere_are_addressed_by_the_names_of_their_nodes(stage: Stage) -> None:
    build(stage)
    tree().nodes["group_input"].name = "Group Input"
    tree().nodes["group_output"].name = "Group Output"
    stage.state.refresh()
    build(stage, node("box", CUBE), link(("box", "Mesh"), OUT))
    assert [each["id"] for each in exported(stage)["nodes"]] == ["group_input", "group_output", "box"]


def test_a_type_that_geometry_trees_do_not_have_is_refused(stage: Stage) -> None:
    (finding,) = attempt(stage, node("x", "ShaderNodeBsdfPrincipled"))
    assert finding["pointer"] == "/operations/0/bl_idname"


def test_sockets_appear_once_a_property_is_set(stage: Stage) -> None:
    switch = node("pick", "GeometryNodeSwitch")
    assert "True" in str(attempt(stage, switch, value("pick", "True", "a text")))
    build(stage, switch, prop("pick", "input_type", "STRING"), value("pick", "True", "a text"))
    assert exported(stage)["nodes"][2]["inputs"]["True"] == "a text"


@pytest.mark.proves("GN-TREE-03")
def test_a_name_that_several_sockets_have_is_an_error_that_lists_them(stage: Stage) -> None:
    compare = node("same", "FunctionNodeRandomValue", data_type="FLOAT_VECTOR")
    build(stage, compare, value("same", "Max", [1, 2, 3]))
    join = node("text", "GeometryNodeGroup", node_tree="GN_Two")
    build(stage, group_io([number("A"), number("A")]), name="Two")
    (finding,) = attempt(stage, join, value("text", "A", 1.0))
    assert finding["pointer"] == "/operations/2/socket"
    assert "'A#1' to 'A#2'" in finding["cure"]
    build(stage, join, value("text", "A#2", 1.0))
    assert [socket.default_value for socket in tree().nodes["text"].inputs if socket.name == "A"] == [0.0, 1.0]


def test_an_unknown_socket_is_an_error_that_names_the_nearest(stage: Stage) -> None:
    (finding,) = attempt(stage, node("noise", NOISE), value("noise", "Scael", 1.0))
    assert "'Scale'" in finding["cure"]


@pytest.mark.parametrize(
    ("key", "held"), [("Scale", "much"), ("Scale", [1, 2, 3]), ("Scale", None), ("Vector", [1, 2]), ("Vector", 1.0)]
)
def test_a_value_that_does_not_fit_is_refused_where_it_stands(stage: Stage, key: str, held: Any) -> None:
    (finding,) = attempt(stage, node("noise", NOISE), value("noise", key, held))
    assert finding["pointer"] == "/operations/1/value"


def test_datablocks_are_given_by_name(stage: Stage) -> None:
    stage.do("mesh.create_primitive", {"kind": "cube", "name": "Box"})
    ask = node("info", "GeometryNodeObjectInfo")
    build(stage, ask, value("info", "Object", "Box"))
    assert tree().nodes["info"].inputs["Object"].default_value.name == "Box"
    (finding,) = attempt(stage, value("info", "Object", "Bax"))
    assert finding["pointer"] == "/operations/0/value"
    assert "'Box'" in finding["cure"]
    build(stage, value("info", "Object", None))
    assert tree().nodes["info"].inputs["Object"].default_value is None


def test_a_property_that_is_not_there_or_does_not_take_the_value_is_refused(stage: Stage) -> None:
    assert attempt(stage, node("noise", NOISE, noise_dimension="2D"))[0]["cure"].count("noise_dimensions")
    assert attempt(stage, node("noise", NOISE, noise_dimensions="5D"))[0]["pointer"] == "/operations/1/value"


def test_ramps_and_curves_are_properties(stage: Stage) -> None:
    stops = [
        {"position": 0.0, "color": [1, 0, 0, 1]},
        {"position": 0.4, "color": [0, 1, 0, 1]},
        {"position": 0.9, "color": [0, 0, 1, 1]},
    ]
    points = [{"location": [0.0, 0.2]}, {"location": [0.5, 0.9], "handle_type": "VECTOR"}, {"location": [1.0, 0.1]}]
    build(
        stage,
        node("ramp", "ShaderNodeValToRGB", color_ramp={"interpolation": "CONSTANT", "elements": stops}),
        node("curve", "ShaderNodeFloatCurve", mapping={"curves": [points]}),
    )
    ramp = tree().nodes["ramp"].color_ramp
    assert [round(stop.position, 3) for stop in ramp.elements] == [0.0, 0.4, 0.9]
    assert [tuple(round(x, 3) for x in point.location) for point in tree().nodes["curve"].mapping.curves[0].points] == [
        (0.0, 0.2), (0.5, 0.9), (1.0, 0.1),
    ]  # fmt: skip
    assert rebuild(stage, "Thing", "Copy")["ok"]
    assert exported(stage, "Copy") == exported(stage)


def test_a_group_cannot_be_inside_itself_by_any_way(stage: Stage) -> None:
    build(stage, node("inner", "GeometryNodeGroup"))
    build(stage, node("inner", "GeometryNodeGroup", node_tree="GN_Thing"), name="Outer")
    for wanted in ("GN_Thing", "GN_Outer"):
        (finding,) = attempt(stage, prop("inner", "node_tree", wanted))
        assert (finding["pointer"], finding["code"]) == ("/operations/0/value", "SCENE_CONFLICT")


# ---------------------------------------------------------------------- links


def test_links_that_do_not_fit_are_refused(stage: Stage) -> None:
    (finding,) = attempt(stage, node("noise", NOISE), link(("noise", "Color"), OUT))
    assert finding["pointer"] == "/operations/1"
    assert "RGBA" in finding["message"]


def order(name: str = "GN_Thing") -> list[str]:
    links = sorted(tree(name).nodes["all"].inputs[0].links, key=lambda each: each.multi_input_sort_id)
    assert [each.multi_input_sort_id for each in links] == list(range(len(links)))
    return [each.from_node.name for each in links]


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


def test_unlinking_one_side_takes_all_its_links(stage: Stage) -> None:
    build(stage, node("all", JOIN), node("a", CUBE), link(("a", "Mesh"), ("all", "Geometry")), link(("a", "Mesh"), OUT))
    build(stage, {"op": "unlink", "from": {"node_id": "a", "socket": "Mesh"}})
    assert len(tree().links) == 0


# ---------------------------------------------------------------------- zones


def items(*pairs: tuple[str, str]) -> list[dict[str, str]]:
    return [{"name": name, "socket_type": kind} for name, kind in pairs]


ZONES = {
    "Repeat": ("repeat_items", items(("Geometry", "GEOMETRY"), ("Turn", "FLOAT"))),
    "Simulation": (
        "state_items",
        [{**each, "attribute_domain": "POINT"} for each in items(("Geometry", "GEOMETRY"), ("Age", "INT"))],
    ),
    "ForeachGeometryElement": ("input_items", items(("Scale", "FLOAT"))),
}


def zone(kind: str) -> list[dict[str, Any]]:
    listed, wanted = ZONES[kind]
    last = node("end", f"GeometryNode{kind}Output", **{listed: wanted})
    return [*last, *node("begin", f"GeometryNode{kind}Input", paired_output="end")]


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
