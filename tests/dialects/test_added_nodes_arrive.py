"""done needs work that arrives: nodes that a plan adds must lead to the group output, on a real Blender."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

import blendwright
from blendwright.cli.output import Exit
from blendwright.dialects.registry import render
from support.plans.documents import geonodes_plan, patch_step, tree_step

GATE = "ADDED_NODES_REACH_OUTPUT"
SUBDIVIDE = "GeometryNodeSubdivisionSurface"


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Generator[blendwright.OpenScene]:
    with blendwright.open(tmp_path_factory.mktemp("arrive") / "workspace", spare=False) as scene:
        yield scene


@pytest.fixture
def plane(opened: blendwright.OpenScene, request: pytest.FixtureRequest) -> str:
    name = request.node.name[5:60]
    assert opened.call("mesh.create_primitive", kind="plane", name=name).ok
    return name


def add(id: str, kind: str = SUBDIVIDE) -> dict[str, Any]:
    return {"op": "create_node", "node_id": id, "bl_idname": kind}


def link(start: str, end: str, op: str = "link") -> dict[str, Any]:
    (source, output), (target, input) = start.split("."), end.split(".")
    return {"op": op, "from": {"node_id": source, "socket": output}, "to": {"node_id": target, "socket": input}}


def put(id: str, name: str, value: Any) -> dict[str, Any]:
    return {"op": "set_property", "node_id": id, "property": name, "value": value}


def run(opened: blendwright.OpenScene, plane: str, *operations: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return of_steps(opened, tree_step("a", *operations, object_name=plane, node_group_name=f"G {plane}"[:60]), **fields)


def of_steps(opened: blendwright.OpenScene, *steps: dict[str, Any], **fields: Any) -> dict[str, Any]:
    result = render(opened.run(geonodes_plan(*steps, **fields)))
    assert result is not None
    return result


IN_BETWEEN = (link("group_input.Geometry", "smooth.Mesh"), link("smooth.Mesh", "group_output.Geometry"))


@pytest.mark.proves("GN-DONE-01")
def test_nodes_that_lead_nowhere_are_named_and_done_is_not_accepted(opened: blendwright.OpenScene, plane: str) -> None:
    loose = add("dots", "GeometryNodeDistributePointsOnFaces"), link("group_input.Geometry", "dots.Mesh")
    plan = geonodes_plan(tree_step("a", add("smooth"), *loose, *IN_BETWEEN, object_name=plane, node_group_name=plane))
    report = opened.run(plan)
    result = render(report)
    assert result is not None and (result["status"], result["done"]) == ("failed", False)
    assert Exit.of_run(report, []) == 1
    assert result["gates"]["failed_gates"] == [GATE]
    (message,) = result["gates"]["messages"]
    assert "'dots'" in message and "'smooth'" not in message and "Link them" in message
    join = (link("dots.Points", "group_output.Geometry"),)
    again = of_steps(opened, tree_step("b", *join, object_name=plane, node_group_name=plane))
    assert again["done"] is True


def test_what_the_plan_did_not_add_is_not_judged(opened: blendwright.OpenScene, plane: str) -> None:
    first = run(opened, plane, add("later"), done=False)
    assert (first["status"], first["gates"]["failed_gates"]) == ("continue", [GATE]), "told, and no failure"
    assert run(opened, plane, add("smooth"), *IN_BETWEEN)["done"] is True


def test_another_round_may_be_asked_for_with_nodes_for_later(opened: blendwright.OpenScene, plane: str) -> None:
    document = geonodes_plan(tree_step("a", add("later"), object_name=plane, node_group_name=plane), done=False)
    assert Exit.of_run(opened.run(document), []) == 0


def test_cleaning_up_does_not_hide_that_nothing_arrived(opened: blendwright.OpenScene, plane: str) -> None:
    result = of_steps(opened, tree_step("a", add("smooth"), object_name=plane), patch_step("b", object_name=plane))
    assert result["done"] is False and result["gates"]["failed_gates"] == [GATE]
    assert "'smooth'" in result["gates"]["messages"][0] and "cleanup_unused" in result["gates"]["messages"][0]


def test_a_node_that_the_plan_deletes_again_need_not_arrive(opened: blendwright.OpenScene, plane: str) -> None:
    trial = add("trial"), {"op": "delete_node", "node_id": "trial"}
    removed = patch_step("b", {"op": "remove_node", "node_id": "late"}, object_name=plane)
    assert of_steps(opened, tree_step("a", *trial, add("late"), object_name=plane), removed)["done"] is True


def test_frames_reroutes_viewers_and_warnings_need_not_arrive(opened: blendwright.OpenScene, plane: str) -> None:
    extras = [
        add("frame", "NodeFrame"), add("bend", "NodeReroute"), add("look", "GeometryNodeViewer"),
        add("input2", "NodeGroupInput"), add("warn", "GeometryNodeWarning"), add("flag", "FunctionNodeInputBool"),
        link("flag.Boolean", "warn.Show"), put("smooth", "parent", "frame"),
    ]  # fmt: skip
    assert run(opened, plane, add("smooth"), *extras, *IN_BETWEEN)["done"] is True


def test_a_second_output_that_does_not_count_is_no_output(opened: blendwright.OpenScene, plane: str) -> None:
    second = add("other", "NodeGroupOutput"), link("smooth.Mesh", "other.Geometry")
    result = run(opened, plane, add("smooth"), *second)
    assert result["gates"]["failed_gates"] == [GATE]


def test_a_zone_counts_as_a_whole(opened: blendwright.OpenScene, plane: str) -> None:
    zone = [
        add("first", "GeometryNodeRepeatInput"), add("last", "GeometryNodeRepeatOutput"), put("first", "paired_output", "last"),
        add("smooth"), link("group_input.Geometry", "first.Geometry"), link("first.Geometry", "smooth.Mesh"),
        link("smooth.Mesh", "last.Geometry"),
    ]  # fmt: skip
    end = link("last.Geometry", "group_output.Geometry")
    open_end = run(opened, plane, *zone)
    assert [name in open_end["gates"]["messages"][0] for name in ("'first'", "'last'", "'smooth'")] == [True] * 3
    assert run(opened, plane, *(put("smooth", "label", "x"), end))["done"] is True


def test_nodes_of_a_group_inside_must_reach_its_output_and_the_group_be_used(
    opened: blendwright.OpenScene, plane: str
) -> None:
    group = add("part", "GeometryNodeGroup"), put("part", "node_tree", "Inner")
    around = link("group_input.Geometry", "part.Geometry"), link("part.Geometry", "group_output.Geometry")

    def both(inner: tuple[dict[str, Any], ...], outer: tuple[dict[str, Any], ...]) -> dict[str, Any]:
        one = tree_step("inner", *inner, object_name=plane, node_group_name="Inner")
        return of_steps(opened, one, tree_step("outer", *outer, object_name=plane, node_group_name="Outer"))

    unused = both((add("smooth"), *IN_BETWEEN), ())
    assert unused["gates"]["failed_gates"] == [GATE] and "'Inner'" in unused["gates"]["messages"][0]
    loose = both((add("loose"),), (*group, *around))
    assert loose["gates"]["failed_gates"] == [GATE] and "'loose'" in loose["gates"]["messages"][0]
    found = both(
        (link("loose.Mesh", "group_output.Geometry"), link("smooth.Mesh", "loose.Mesh")),
        (add("cube", "GeometryNodeMeshCube"),),
    )
    assert "'cube'" in found["gates"]["messages"][0] and "'loose'" not in found["gates"]["messages"][0]
