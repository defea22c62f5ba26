"""Every gate: a plan that fails just it, and the repair that passes. The plans are the files in tests/cases/gates."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

import pytest

from blendwright.tools.geonodes import gate_report as judging
from blendwright.tools.geonodes.gate_report import ADVISORY, REQUIRED, Gate
from support.stage.stage import Stage
from support.trees.node_trees import CUBE, IN, MOVE, OUT, build, link, node, payload, value

CASES = Path(__file__).parents[2] / "cases" / "gates"
EVERY: dict[str, dict[str, Any]] = {
    path.stem.upper(): json.loads(path.read_text()) for path in sorted(CASES.glob("*.json"))
}
# Blender tells its warnings from 4.5 on.
WARNINGS_MIN = (4, 5, 0)


def report(stage: Stage, gates: list[dict[str, Any]] | None = None, name: str = "Thing") -> dict[str, Any]:
    return stage.do("geonodes.gates", {"object_name": name, "gates": gates or []})


def status(shown: dict[str, Any], gate: str) -> str:
    return next(verdict["status"] for verdict in shown["gates"] if verdict["gate"] == gate)


def go_round(stage: Stage, name: str) -> None:
    """A circle, in two calls: within one it would be refused before."""
    build(stage, node("one", MOVE), node("two", MOVE), link(("one", "Geometry"), ("two", "Geometry")), name=name)
    build(stage, link(("two", "Geometry"), ("one", "Geometry")), name=name)


def test_every_gate_has_a_case() -> None:
    assert EVERY.keys() == set(get_args(Gate))


@pytest.mark.proves("GN-GATE-01", "GN-GATE-04")
@pytest.mark.parametrize("gate", EVERY)
def test_a_plan_fails_just_this_gate_and_its_repair_passes(stage: Stage, gate: str) -> None:
    import bpy

    case = EVERY[gate]
    if gate == "NO_NODE_WARNINGS" and bpy.app.version < WARNINGS_MIN:
        pytest.skip("this Blender does not tell its warnings")
    for call in case["plan"]:
        stage.do(call["tool"], call["args"])
    shown = report(stage, case["gates"])
    assert shown["failed_gates"] == [gate], shown["messages"]
    assert not shown["success"]
    assert len(shown["messages"]) == 1
    assert len(shown["messages"][0]) > 20
    for call in case["repair"]:
        stage.do(call["tool"], call["args"])
    shown = report(stage, case["gates"])
    assert shown["success"], shown["messages"]
    assert (shown["failed_gates"], shown["messages"]) == ([], [])


def test_a_gate_that_is_asked_for_and_cannot_be_judged_is_no_success(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a Blender that does not tell its warnings."""
    monkeypatch.setattr(judging, "WARNINGS_MIN", (99, 0, 0))
    build(stage, node("box", CUBE), link(("box", "Mesh"), OUT))
    assert report(stage)["success"], "it is advisory"
    shown = report(stage, [{"gate": "NO_NODE_WARNINGS"}])
    assert (shown["success"], shown["failed_gates"]) == (False, ["NO_NODE_WARNINGS"])
    assert shown["messages"] == ["Not judged: this Blender does not tell its warnings."]


def test_all_trees_are_judged_at_once_and_one_that_is_not_there_does_not_pass(stage: Stage) -> None:
    build(stage, node("box", CUBE), link(("box", "Mesh"), OUT), name="Good")
    build(stage, node("box", CUBE), link(IN, OUT, "unlink"), name="Bad")
    trees = [{"object_name": name, "modifier_name": "Nodes"} for name in ("Good", "Bad", "Nobody")]
    shown = stage.do("geonodes.verify", {"trees": trees})
    assert (shown["success"], shown["failed_gates"]) == (False, ["OUTPUT_CONNECTED", "OUTPUT_CONNECTED"])
    assert [message.split(",")[0] for message in shown["messages"]] == ["Bad", "Nobody"]
    assert "no tree to check" in shown["messages"][1]
    assert [tree["object"] for tree in shown["trees"]] == ["Good", "Bad"]
    alone = stage.do("geonodes.verify", {"trees": trees[:1], "required": True})
    assert (alone["success"], alone["failed_gates"], alone["messages"]) == (True, [], [])


def test_where_gates_are_required_every_one_that_fails_is_an_error_of_the_call(stage: Stage) -> None:
    build(stage, node("box", CUBE), link(("box", "Mesh"), OUT), name="Good")
    build(stage, node("box", CUBE), link(IN, OUT, "unlink"), name="Bad")
    trees = [{"object_name": name, "modifier_name": "Nodes"} for name in ("Good", "Bad", "Nobody")]
    answer = stage.call("geonodes.verify", {"trees": trees, "required": True})
    assert answer["ok"] is False and answer["fault"] == "VERIFICATION_FAILED"
    assert [finding["rule"] for finding in answer["findings"]] == ["OUTPUT_CONNECTED", "OUTPUT_CONNECTED"]


def test_the_usual_gates_are_always_judged_and_the_advisory_ones_told(stage: Stage) -> None:
    build(stage, node("box", CUBE), node("loose", CUBE), link(("box", "Mesh"), OUT))
    shown = report(stage)
    assert [verdict["gate"] for verdict in shown["gates"]] == [*REQUIRED, *ADVISORY]
    assert [verdict["required"] for verdict in shown["gates"]] == [True] * len(REQUIRED) + [False] * len(ADVISORY)
    assert shown["success"]
    assert status(shown, "NO_UNUSED_NODES") == "failed"


def test_what_builds_on_a_failed_gate_is_not_judged(stage: Stage) -> None:
    build(stage, link(IN, OUT, "unlink"))
    shown = report(stage, [{"gate": "MIN_VERTICES", "value": 1}])
    assert shown["failed_gates"] == ["OUTPUT_CONNECTED"]
    assert [status(shown, gate) for gate in ("EVALUATES", "NON_EMPTY_GEOMETRY", "MIN_VERTICES")] == ["not_judged"] * 3
    assert shown["geometry"] is None


@pytest.mark.proves("GN-GATE-02")
def test_warnings_from_before_an_evaluation_that_was_given_up_are_not_believed(stage: Stage) -> None:
    """A circle empties the result and leaves the old warnings: nothing is concluded from their absence or presence."""
    build(stage, node("box", CUBE), link(("box", "Mesh"), OUT))
    assert report(stage)["success"]
    go_round(stage, "Thing")
    shown = report(stage)
    assert shown["failed_gates"] == ["NO_CYCLES"]
    assert "one → two → one" in shown["messages"][0]
    assert status(shown, "NO_NODE_WARNINGS") == "not_judged"


def test_a_circle_inside_a_nested_group_is_found(stage: Stage) -> None:
    go_round(stage, "Inner")
    build(
        stage, node("box", CUBE), node("inner", "GeometryNodeGroup", node_tree="GN_Inner"),
        link(("box", "Mesh"), ("inner", "Geometry")), link(("inner", "Geometry"), OUT),
    )  # fmt: skip
    shown = report(stage)
    assert shown["failed_gates"] == ["NO_CYCLES"]
    assert "in group 'GN_Inner'" in shown["messages"][0]


def test_a_hidden_object_and_a_modifier_that_is_switched_off_are_not_evaluated(stage: Stage) -> None:
    build(stage, node("box", CUBE), link(("box", "Mesh"), OUT))
    stage.do("object.set_visibility", {"object": "Thing", "viewport": False})
    assert report(stage)["failed_gates"] == ["EVALUATES"]
    stage.do("object.set_visibility", {"object": "Thing", "viewport": True})
    stage.do("modifier.set", {"object": "Thing", "modifier": "Nodes", "show_viewport": False})
    shown = report(stage)
    assert shown["failed_gates"] == ["EVALUATES"]
    assert "show_viewport" in shown["messages"][0]


PRIMITIVES = {
    "GeometryNodeCurvePrimitiveCircle": ("Curve", "curves", 1),
    "GeometryNodePoints": ("Points", "points", 1),
    "GeometryNodeVolumeCube": ("Volume", "volumes", 1),
}


@pytest.mark.proves("GN-GATE-03")
@pytest.mark.parametrize("kind", PRIMITIVES)
def test_curves_points_and_volumes_are_geometry_too(stage: Stage, kind: str) -> None:
    output, what, count = PRIMITIVES[kind]
    build(stage, node("it", kind), link(("it", output), OUT))
    shown = report(stage)
    assert shown["success"], shown["messages"]
    assert shown["geometry"][what] == count
    assert shown["geometry"]["vertices"] == 0


def test_instances_count_as_often_as_they_appear_nested_ones_too(stage: Stage) -> None:
    stage.do("mesh.create_primitive", {"kind": "cube", "name": "Brick"})
    row = [
        *node("row", "GeometryNodeMeshLine"), value("row", "Count", 3), value("row", "Offset", [10, 0, 0]),
        *node("brick", "GeometryNodeObjectInfo"), value("brick", "Object", "Brick"), value("brick", "As Instance", True),
        *node("put", "GeometryNodeInstanceOnPoints"), link(("row", "Mesh"), ("put", "Points")),
        link(("brick", "Geometry"), ("put", "Instance")),
        *node("again", "GeometryNodeInstanceOnPoints"), *node("up", "GeometryNodeMeshLine"), value("up", "Count", 2),
        value("up", "Offset", [0, 0, 5]), link(("up", "Mesh"), ("again", "Points")),
        link(("put", "Instances"), ("again", "Instance")), link(("again", "Instances"), OUT),
    ]  # fmt: skip
    build(stage, row)
    shown = report(stage)
    assert shown["success"], shown["messages"]
    assert shown["geometry"]["vertices"] == 2 * 3 * 8
    assert shown["geometry"]["size"] == [22.0, 2.0, 7.0]


def test_instances_of_nothing_are_no_geometry(stage: Stage) -> None:
    build(
        stage, node("sheet", "GeometryNodeMeshGrid"), node("put", "GeometryNodeInstanceOnPoints"),
        link(("sheet", "Mesh"), ("put", "Points")), link(("put", "Instances"), OUT),
    )  # fmt: skip
    assert report(stage)["failed_gates"] == ["NON_EMPTY_GEOMETRY"]


def test_a_gate_takes_only_a_fitting_value(stage: Stage) -> None:
    for asked in ({"gate": "MIN_VERTICES"}, {"gate": "MANIFOLD", "value": 1}, {"gate": "MAX_SIZE", "value": [1, 2]}):
        assert stage.invalid("geonodes.gates", {"object_name": "Thing", "gates": [asked]})


def test_an_object_without_a_tree_is_refused(stage: Stage) -> None:
    stage.do("mesh.create_primitive", {"kind": "cube", "name": "Box"})
    assert stage.refusal("geonodes.gates", {"object_name": "Box"})[0]["code"] == "TARGET_NOT_FOUND"
    assert stage.refusal("geonodes.gates", {"object": "Bax"})[0]["pointer"] == "/object"
    two = payload([], "Box")
    stage.do("geonodes.node_tree", two)
    stage.do("geonodes.node_tree", {**two, "target": {**two["target"], "modifier_name": "More"}})
    assert "Nodes, More" in stage.refusal("geonodes.gates", {"object_name": "Box"})[0]["cure"]
