"""The minimal repair: applied, a plan can run; with any part left out, it cannot."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blendwright.plan.graph import cycles, read_graph
from blendwright.plan.repair import minimal_repair
from blendwright.values.faults import RENDERINGS, Fault
from blendwright.values.findings import Finding
from blendwright.values.plan import SOUND, Operation, Plan
from blendwright.values.report import Repair
from plan.repairing import repaired
from support.plans.documents import box, findings, of_operations, of_steps, step


def repair_of(plan: Plan) -> list[tuple[str, str]]:
    return [(entry.operation_id, entry.action) for entry in minimal_repair(plan, findings(plan))]


def fresh(id: str) -> Operation:
    return Operation(id, "mesh.create_primitive", {"kind": "cube", "name": id}, (), "safe_write", 0, f"/new/{id}")


def applied(plan: Plan, repair: tuple[Repair, ...]) -> Plan:
    """Replaced operations get sound fields, and an id where they have none. What they wait for stays, except where nothing
    else could end a cycle."""
    ids = [operation.id for operation in plan.operations]
    staying = read_graph([operation for operation in plan.operations if ids.count(operation.id) > 1])
    closing = {staying.operations[cycle[0]].id for cycle in cycles(staying)}

    def replacement(operation: Operation) -> Operation:
        freed = {operation.id} | (set(ids) if operation.id in closing else set[str]())
        waits_for = tuple(id for id in dict.fromkeys(operation.depends_on) if id not in freed)
        id = "operation" if "id" in operation.unsound else operation.id
        return replace(fresh(id), depends_on=waits_for, pointer=operation.pointer, unsound=SOUND)

    return repaired(plan, repair, replacement, fresh)


@pytest.mark.proves("OPS-FAIL-05")
@pytest.mark.parametrize(
    ("listed", "repair"),
    [
        ([box("a"), box("b", tool_name="no.such"), box("c", "a")], [("b", "drop")]),
        ([box("a"), box("b", tool_name="no.such"), box("c", "b")], [("b", "replace_args")]),
        ([box("a"), box("b", tool_name="no.such"), box("c", "b", tool_name="no.such")], [("b", "drop"), ("c", "drop")]),
        ([box("a", tool_name="mesh.create_primitve"), box("b")], [("a", "replace_args")]),
        ([box("a", args={})], [("a", "replace_args")]),
        ([box("a", safety_level="read_only")], [("a", "replace_args")]),
        ([box("a", safety_level="high")], [("a", "replace_args")]),
        ([box("a", "x"), box("b", "x")], [("a", "insert_precondition")]),
        ([box("a", "x"), box("b", "x", "y")], [("b", "insert_precondition")]),
        ([box("a", "x", args={})], [("a", "replace_args"), ("a", "insert_precondition")]),
        ([box("a", "b"), box("b", "c"), box("c", "a")], [("c", "drop")]),
        ([box("b", "w"), box("w", "b", "z"), box("z", "w")], [("w", "drop")]),
        ([box("a", "b", tool_name="no.such"), box("b", "a")], [("a", "drop")]),
        ([box("a", "x", tool_name="no.such"), box("b")], [("a", "drop")]),
        ([box("a"), box("a"), box("a"), box("b", "a")], [("a", "drop")]),
        ([box("a", tool_name="no.such"), box("a")], [("a", "replace_args"), ("a", "drop")]),
        ([box("a", "a")], [("a", "replace_args")]),
        ([box("a", tool_name="no.such"), box("b", tool_name="no.such")], [("a", "replace_args"), ("b", "drop")]),
        ([box("a"), box("not an id")], [("/operations/1", "drop")]),
        ([box("a")], []),
    ],
)  # fmt: skip
def test_the_repair_of_known_faults(listed: list[dict[str, Any]], repair: list[tuple[str, str]]) -> None:
    assert repair_of(of_operations(*listed)) == repair


BREAKS = (
    "tool", "args", "safety", "schema", "field", "missing", "missing2", "loop", "self", "twice", "id", "no object",
)  # fmt: skip


@st.composite
def broken_plans(draw: st.DrawFn) -> Plan:
    size = draw(st.integers(1, 8))
    names = draw(st.permutations([f"op{number}" for number in range(size)]))
    listed: list[Any] = [
        box(name, *draw(st.sets(st.sampled_from(names[:place]), max_size=3)) if place else ())
        for place, name in enumerate(names)
    ]
    for _ in range(draw(st.integers(1, 6))):
        place = draw(st.integers(0, len(listed) - 1))
        if isinstance(listed[place], dict):
            listed = broken(listed, place, draw(st.sampled_from(BREAKS)), draw(st.sampled_from(names)))
    return of_operations(*listed)


def broken(listed: list[Any], place: int, how: str, other: str) -> list[Any]:
    operation = dict(listed[place])
    waits_for = [id for id in operation["depends_on"] if id != other]
    changes: dict[str, dict[str, Any]] = {
        "tool": {"tool_name": "no.such"},
        "args": {"args": {"kind": "cube", "size": "big"}},
        "safety": {"safety_level": "read_only"},
        "schema": {"safety_level": "high"},
        "field": {"colour": "red"},
        "missing": {"depends_on": [*waits_for, "missing"]},
        "missing2": {"depends_on": [*dict.fromkeys([*waits_for, "missing", "gone"])]},
        "loop": {"depends_on": [*waits_for, other]},
        "self": {"depends_on": list(dict.fromkeys([*waits_for, operation["operation_id"]]))},
        "id": {"operation_id": "not an id"},
    }
    if how == "twice":
        return [*listed, operation]
    listed = list(listed)
    listed[place] = 5 if how == "no object" else operation | changes[how]
    return listed


@pytest.mark.proves("OPS-FAIL-05")
@settings(max_examples=80, deadline=None)
@given(broken_plans())
def test_applied_it_makes_any_plan_executable_and_no_entry_can_be_spared(plan: Plan) -> None:
    no_entry_can_be_spared(plan)


@pytest.mark.slow
@settings(max_examples=2_000, deadline=None)
@given(broken_plans())
def test_applied_it_makes_each_of_thousands_of_plans_executable(plan: Plan) -> None:
    no_entry_can_be_spared(plan)


def no_entry_can_be_spared(plan: Plan) -> None:
    found = findings(plan)
    repair = minimal_repair(plan, found)
    assert bool(repair) == bool(found)
    assert findings(applied(plan, repair)) == ()
    for left_out in repair:
        rest = tuple(entry for entry in repair if entry != left_out)
        assert findings(applied(plan, rest)), left_out


@pytest.mark.proves("OPS-FAIL-03")
@pytest.mark.parametrize("fault", list(Fault))
def test_what_goes_wrong_while_running_has_the_action_of_its_fault(fault: Fault) -> None:
    plan = of_operations(box("a"), box("b", "a"))
    repair = minimal_repair(plan, [Finding(fault, "it happened", "/operations/1")])
    read_from_the_plan = fault in {Fault.SCHEMA_INVALID, Fault.GRAPH_CYCLE, Fault.DEPENDENCY_MISSING}
    action = None if read_from_the_plan else RENDERINGS[fault].repair
    assert [(entry.operation_id, entry.action) for entry in repair] == ([("b", action)] if action else [])


@pytest.mark.proves("OPS-FAIL-05")
@pytest.mark.parametrize(("pointer", "action"), [("/steps/1", "drop"), ("/steps/1/tool/args/name", "replace_args")])
def test_what_a_policy_refuses_goes_where_no_single_argument_is_what_it_refuses(pointer: str, action: str) -> None:
    plan = of_steps(step("a"), step("b"))
    found = Finding(Fault.POLICY_BLOCKED, "denied", pointer)
    assert [(entry.operation_id, entry.action) for entry in minimal_repair(plan, [found])] == [("b", action)]


def test_what_no_change_of_operations_cures_has_no_repair() -> None:
    plan = of_operations(box("a", args={}), request_id=5)
    assert findings(plan) and minimal_repair(plan, findings(plan)) == ()
