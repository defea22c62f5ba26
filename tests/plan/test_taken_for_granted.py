"""What a plan uses and does not make, also beside other findings."""

from __future__ import annotations

from typing import Any

from blendwright.dialects.registry import parse_plan
from blendwright.macros import load_macros
from blendwright.tools.catalog import tools
from blendwright.workspace.names.unresolved import MOST_OPERATIONS, granted_by_refused
from support.plans.documents import box
from support.suite.in_one_test import in_one_test

MOVE: dict[str, Any] = {"tool_name": "object.transform", "args": {"object": "Nobody", "location": [0, 0, 1]}}
PAINT = {"tool_name": "material.assign", "args": {"object": "Box", "material": "Oak"}}
CUBE = {"kind": "cube", "name": "Box"}


def granted(*operations: dict[str, Any]) -> list[tuple[str, str]]:
    plan = parse_plan({"request_id": "r", "operations": list(operations)}, is_json=True)
    uses = granted_by_refused(plan, tools(), load_macros(None, tools())).uses
    return [(use.operation.id, use.mention.name) for use in uses]


@in_one_test(
    {
        "arguments that are wrong": [box("a", args={"kind": "cubs", "name": "A"}), box("b", **MOVE)],
        "a tool that is not there": [box("a", tool_name="mesh.create_primitve"), box("b", **MOVE)],
        "a dependency that is missing": [box("a", "nowhere"), box("b", **MOVE)],
        "a cycle": [box("a", "c"), box("c", "a"), box("b", **MOVE)],
        "an id that is given twice": [box("a"), box("a"), box("b", **MOVE)],
        "a level that is too low": [box("a", safety_level="read_only"), box("b", **MOVE)],
        "only itself": [box("b", **MOVE)],
    }
)
def test_a_name_that_nothing_makes_is_found_beside(case: list[dict[str, Any]]) -> None:
    assert granted(*case) == [("b", "Nobody")]


@in_one_test(
    {
        "by one that is sound": [box("a", args=CUBE)],
        "by one that is wrong elsewhere": [box("a", args={**CUBE, "kind": "cubs"})],
        "by one whose argument has another name": [box("a", args={"kind": "cube", "nmae": "Box"})],
        "by a tool that is spelt wrongly": [box("a", args=CUBE, tool_name="mesh.create_primitve")],
        "by one that comes later": [box("z", args=CUBE)],
        "in a cycle": [box("a", "c", args=CUBE), box("c", "a")],
        "by code, of which nobody knows what it makes": [
            box("a", tool_name="file.import", args={"path": "chairs.glb"}, safety_level="safe_write")
        ],
    }
)
def test_what_another_operation_makes_is_not_missing(case: list[dict[str, Any]]) -> None:
    oak = box("o", tool_name="material.ensure_principled", args={"name": "Oak"})
    assert granted(*case, oak, box("p", **PAINT)) == []


def test_a_plan_of_steps_is_left_alone() -> None:
    """Each of its steps has a result of its own."""
    steps: dict[str, Any] = {
        "steps": [{"step_id": "step_1", "tool": "object.transform", "args": MOVE["args"], "dependencies": []}]
    }
    plan = parse_plan(steps, is_json=True)
    assert granted_by_refused(plan, tools(), {}).uses == ()


def test_names_that_the_plan_makes_are_told_for_suggestions() -> None:
    operations = [box("a", args=CUBE), box("b", **MOVE), box("c", args={"kind": "cubs", "name": "C"})]
    plan = parse_plan({"request_id": "r", "operations": operations}, is_json=True)
    assert "Box" in granted_by_refused(plan, tools(), {}).made["objects"]
    assert len(operations) < MOST_OPERATIONS
