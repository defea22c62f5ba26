"""Plans of the geonodes protocol on a real Blender: order, failures, gates, and when done is accepted."""

from __future__ import annotations

import copy
from collections.abc import Generator
from typing import Any

import pytest

import blendwright
from blendwright.cli.output import Exit
from blendwright.dialects.registry import render
from blendwright.schemas.published import schema
from blendwright.values.plan import Boundary
from support.plans.documents import GEONODES_EXAMPLE as EXAMPLE
from support.plans.documents import geonodes_plan, patch_step, python_step, tree_step

THROUGH = ({"node_id": "group_input", "socket": "Geometry"}, {"node_id": "group_output", "socket": "Geometry"})
CUT = {"op": "unlink", "from": THROUGH[0], "to": THROUGH[1]}
JOIN = {"op": "link", "from": THROUGH[0], "to": THROUGH[1]}
UNKNOWN = {"op": "delete_node", "node_id": "nobody"}


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Generator[blendwright.OpenScene]:
    """One Blender for all tests; each works on an object of its own."""
    with blendwright.open(tmp_path_factory.mktemp("geonodes") / "workspace", spare=False) as scene:
        yield scene


@pytest.fixture
def plane(opened: blendwright.OpenScene, request: pytest.FixtureRequest) -> str:
    name = request.node.name
    assert opened.call("mesh.create_primitive", kind="plane", name=name).ok
    return name


def run(opened: blendwright.OpenScene, document: dict[str, Any], boundary: Boundary = "operation") -> dict[str, Any]:
    result = render(opened.run(document, boundary=boundary))
    assert result is not None
    assert list(result["gates"]) == ["success", "failed_gates", "messages"]
    return result


def statuses(result: dict[str, Any]) -> list[str]:
    return [step["status"] for step in result["steps"]]


@pytest.mark.proves("GN-DONE-01", "GN-STEP-03")
def test_done_is_accepted_when_the_gates_pass(opened: blendwright.OpenScene, plane: str) -> None:
    group = f"GN {plane}"
    result = run(
        opened,
        geonodes_plan(
            tree_step("step_1", object_name=plane, node_group_name=group), patch_step("step_2", object_name=plane)
        ),
    )
    assert (result["status"], result["done"], result["error"]) == ("done", True, None)
    assert statuses(result) == ["ok", "ok"] and result["final_message"] == "Made."
    assert result["gates"] == {"success": True, "failed_gates": [], "messages": []}
    assert result["steps"][0]["output"]["created"] == ["modifier", "node_group"]


@pytest.mark.proves("GN-DONE-01", "GN-ENVELOPE-01", "GN-ENVELOPE-02")
def test_done_is_refused_by_a_gate_and_accepted_in_the_next_round(opened: blendwright.OpenScene, plane: str) -> None:
    report = opened.run(geonodes_plan(tree_step("cut", CUT, object_name=plane, node_group_name=plane)))
    assert Exit.of_run(report, []) == 1 and report.repair == ()
    result = render(report)
    assert (result["status"], result["done"], result["error"]) == ("failed", False, None)
    assert statuses(result) == ["ok"], "the step was done, and stands under the boundary of operations"
    assert result["gates"]["success"] is False
    assert result["gates"]["failed_gates"] == ["OUTPUT_CONNECTED"]
    assert "Group Output" in result["gates"]["messages"][0]
    assert [finding.pointer for finding in report.all_findings()] == ["/done"]
    again = run(opened, geonodes_plan(tree_step("join", JOIN, object_name=plane, node_group_name=plane)))
    assert again["done"] is True and again["gates"]["success"] is True


def test_a_refused_done_takes_everything_back_under_the_boundary_of_the_plan(
    opened: blendwright.OpenScene, plane: str
) -> None:
    before = opened.hash
    document = geonodes_plan(tree_step("cut", CUT, object_name=plane, node_group_name=plane))
    result = run(opened, document, boundary="plan")
    assert (result["status"], result["done"], statuses(result)) == ("rolled_back", False, ["rolled_back"])
    assert result["gates"]["failed_gates"] == ["OUTPUT_CONNECTED"]
    assert opened.hash == before


@pytest.mark.proves("GN-DONE-02")
def test_another_round_is_asked_for_with_the_gates_reported(opened: blendwright.OpenScene, plane: str) -> None:
    document = geonodes_plan(tree_step("cut", CUT, object_name=plane, node_group_name=plane), done=False)
    report = opened.run(document)
    result = render(report)
    assert (result["status"], result["done"]) == ("continue", False) and Exit.of_run(report, []) == 0
    assert result["gates"]["failed_gates"] == ["OUTPUT_CONNECTED"]


@pytest.mark.proves("GN-DONE-03")
def test_gates_that_are_not_required_are_only_reported(opened: blendwright.OpenScene, plane: str) -> None:
    step = tree_step("cut", CUT, object_name=plane, node_group_name=plane)
    result = run(opened, geonodes_plan(step, meta={"requires_gate_verification": False}))
    assert (result["status"], result["done"], result["gates_required"]) == ("done", True, False)
    assert result["gates"]["success"] is False and result["gates"]["failed_gates"] == ["OUTPUT_CONNECTED"]


@pytest.mark.proves("GN-STEP-03", "GN-STEP-04", "GN-STEP-05")
def test_the_first_step_that_fails_ends_the_run_and_is_named(opened: blendwright.OpenScene, plane: str) -> None:
    target = {"object_name": plane, "node_group_name": plane}
    steps = (tree_step("one", **target), tree_step("two", UNKNOWN, **target), tree_step("three", JOIN, **target))
    result = run(opened, geonodes_plan(*steps))
    assert statuses(result) == ["ok", "failed", "skipped"] and result["done"] is False
    error = result["error"]
    assert (error["step_id"], error["code"]) == ("two", "TARGET_NOT_FOUND")
    assert error["problems"][0]["pointer"] == "/steps/1/payload/operations/0/node_id"
    assert result["gates"]["messages"] == ["The gates were not judged: step 'two' failed."]
    taken_back = run(opened, geonodes_plan(*steps, final_message="Other."), boundary="plan")
    assert statuses(taken_back) == ["rolled_back", "failed", "skipped"] and taken_back["status"] == "rolled_back"


def test_every_tree_that_a_step_names_is_judged_and_told_apart(opened: blendwright.OpenScene, plane: str) -> None:
    other = f"{plane} 2"
    assert opened.call("mesh.create_primitive", kind="plane", name=other).ok
    result = run(
        opened,
        geonodes_plan(
            tree_step("a", CUT, object_name=plane, node_group_name=plane),
            tree_step("b", CUT, object_name=other, node_group_name=other),
            done=False,
        ),
    )
    assert result["gates"]["failed_gates"] == ["OUTPUT_CONNECTED"] * 2
    assert [message.partition(",")[0] for message in result["gates"]["messages"]] == [plane, other]


def test_a_plan_that_was_done_is_known_the_second_time(opened: blendwright.OpenScene, plane: str) -> None:
    document = geonodes_plan(tree_step("one", object_name=plane, node_group_name=plane))
    first = run(opened, document)
    again = run(opened, copy.deepcopy(document))
    assert again["steps"][0]["message"] == "done before" and again["done"] is True
    assert again["request_id"] == first["request_id"]


@pytest.mark.proves("GN-GATE-01")
def test_done_is_not_accepted_where_gates_are_required_and_nothing_was_judged(
    opened: blendwright.OpenScene, plane: str
) -> None:
    ends = {"node_id": "group_input", "socket": "Geometry"}, {"node_id": "group_output", "socket": "Geometry"}
    cut_off = tree_step(
        "cut", {"op": "unlink", "from": ends[0], "to": ends[1]}, object_name=plane, node_group_name=plane
    )
    first = run(opened, geonodes_plan(tree_step("make", object_name=plane, node_group_name=plane), cut_off, done=False))
    assert first["gates"]["success"] is False
    second = run(opened, geonodes_plan())
    assert (second["status"], second["done"], second["error"]) == ("continue", False, None)
    assert second["gates"]["success"] is False and "no step names a tree" in second["gates"]["messages"][0]
    third = run(opened, geonodes_plan(tree_step("look", object_name=plane, node_group_name=plane)))
    assert third["done"] is False and third["gates"]["failed_gates"][0] == "OUTPUT_CONNECTED"


@pytest.mark.proves("GN-DONE-04")
def test_nothing_to_do_is_done_where_no_gates_are_required(opened: blendwright.OpenScene) -> None:
    result = run(opened, geonodes_plan(meta={"requires_gate_verification": False}))
    assert (result["status"], result["done"], result["steps"]) == ("done", True, [])
    assert result["gates"] == {"success": True, "failed_gates": [], "messages": []}


def test_the_published_schema_is_that_of_the_result() -> None:
    assert set(schema("geonodes_gates.v1")["required"]) == {"success", "failed_gates", "messages"}
    assert schema("geonodes_gates.v1")["additionalProperties"] is False


def test_a_preview_changes_nothing(opened: blendwright.OpenScene, plane: str) -> None:
    before = opened.hash
    shown = opened.preview(geonodes_plan(tree_step("one", object_name=plane, node_group_name=plane)))
    assert shown.ok and opened.hash == before


@pytest.mark.proves("GN-PLAN-04")
@pytest.mark.parametrize("line_break", ["\n", "\\n"], ids=["escaped once", "as printed"])
def test_the_example_of_the_protocol_is_done_with_its_code_in_both_forms(
    opened: blendwright.OpenScene, line_break: str
) -> None:
    """As printed, the code has a backslash and an n where its lines end."""
    assert opened.call("mesh.create_primitive", kind="plane", name="Plane").ok, "there already is as good"
    example = copy.deepcopy(EXAMPLE)
    example["steps"][2]["payload"]["code"] = example["steps"][2]["payload"]["code"].replace("\n", line_break)
    result = run(opened, example)
    assert (result["status"], result["done"]) == ("done", True), result["error"]
    assert result["steps"][2]["output"]["output"] == "Plane\n"


def test_code_that_could_be_meant_in_two_ways_is_refused(opened: blendwright.OpenScene) -> None:
    code = "import bpy\\nprint('a\\nb')"
    report = opened.run(geonodes_plan(python_step("one", code=code), meta={"requires_gate_verification": False}))
    (finding,) = report.all_findings()
    assert report.status == "refused" and finding.pointer == "/steps/0/payload/code"
    assert "line breaks" in (finding.cure or "")
