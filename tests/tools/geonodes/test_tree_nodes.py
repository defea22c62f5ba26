"""The nodes of a tree: their ids, properties and values."""

from __future__ import annotations

from typing import Any

import bpy
import pytest

from support.stage.stage import Stage
from support.trees.node_trees import (
    CUBE,
    NOISE,
    OUT,
    attempt,
    build,
    exported,
    group_io,
    link,
    node,
    number,
    prop,
    rebuild,
    tree,
    value,
)


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


def test_names_of_another_blender_are_understood_and_told(stage: Stage) -> None:
    """A plan that was written for Blender 5.0 does the same on 5.2, and the other way round."""
    newest, middle = bpy.app.version >= (5, 2, 0), bpy.app.version >= (5, 0, 0)
    done = build(
        stage,
        node("n", "FunctionNodeRandomValue", data_type="FLOAT"),
        value("n", "Max_001" if newest else "Max", 7.5),
        node("r", "GeometryNodeResampleCurve"),
        prop("r", "mode", "LENGTH") if middle else value("r", "Mode", "Length"),
    )
    made = tree().nodes
    assert next(socket for socket in made["n"].inputs if socket.name == "Max" and socket.enabled).default_value == 7.5
    held = made["r"].inputs["Mode"].default_value if middle else made["r"].mode.title()
    assert held == "Length"
    told = [note.split(":")[0] for note in done["notes"]]
    assert "/operations/4" in told and ("/operations/2/socket" in told) == newest
