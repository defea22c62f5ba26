"""Operations that name what others make, rename or remove run in an order that works, whatever their ids."""

from __future__ import annotations

from itertools import permutations
from typing import Any

from blendwright.dialects.registry import parse_plan
from blendwright.plan.repair import minimal_repair
from blendwright.plan.validate import ValidPlan, validate
from blendwright.policy.policy import Policy
from blendwright.policy.session_contract import Proposal, agree
from blendwright.tools.catalog import tools
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding

BOX = {"kind": "cube", "name": "Box"}
GOLD = {"name": "Gold", "base_color": [1, 0.8, 0.2]}


def op(id: str, tool: str, args: dict[str, Any], *after: str, level: str = "safe_write") -> dict[str, Any]:
    return {"operation_id": id, "tool_name": tool, "args": args, "depends_on": list(after), "safety_level": level}


def compiled(*operations: dict[str, Any]) -> ValidPlan | tuple[Finding, ...]:
    terms = agree(Proposal(), Policy())
    assert not isinstance(terms, tuple)
    return validate(parse_plan({"request_id": "r", "operations": [*operations]}), tools(), terms)


def valid(*operations: dict[str, Any]) -> ValidPlan:
    plan = compiled(*operations)
    assert isinstance(plan, ValidPlan), plan
    return plan


def order(*operations: dict[str, Any]) -> list[str]:
    return [operation.id for operation in valid(*operations).order]


def refused(*operations: dict[str, Any]) -> tuple[Finding, ...]:
    findings = compiled(*operations)
    assert isinstance(findings, tuple)
    return findings


MAKE = op("op10", "mesh.create_primitive", BOX)
PAINT = op("op2", "material.assign", {"object": "Box", "material": "Gold"})
MIX = op("op3", "material.ensure_principled", GOLD)


def test_what_uses_a_datablock_runs_after_what_makes_it_and_says_why() -> None:
    plan = valid(PAINT, MAKE, MIX)
    assert [one.id for one in plan.order] == ["op10", "op3", "op2"]
    assert plan.implied_by == {
        "op2": {
            "op10": "it uses object 'Box', which the other operation makes",
            "op3": "it uses material 'Gold', which the other operation makes",
        }
    }


def test_equal_plans_have_one_order_and_one_hash_however_they_are_written() -> None:
    plans = [valid(*listed) for listed in permutations((PAINT, MAKE, MIX))]
    assert len({tuple(one.id for one in plan.order) for plan in plans}) == 1
    assert len({plan.content for plan in plans}) == 1
    assert plans[0].content != valid(op("op2", "scene.snapshot", {}, level="read_only"), MAKE, MIX).content


def test_what_no_operation_makes_or_removes_changes_nothing() -> None:
    plan = valid(
        op("b", "object.transform", {"name": "Old", "location": [1, 0, 0]}), op("a", "scene.set_units", {"scale": 2.0})
    )
    assert (plan.implied_by, [one.id for one in plan.order]) == ({}, ["a", "b"])


def test_a_dependency_that_the_plan_states_is_not_said_again() -> None:
    painted = op("op2", "material.assign", {"object": "Box", "material": "Gold"}, "op10", "op3")
    plan = valid(painted, MAKE, MIX)
    assert plan.implied_by == {}
    assert [one.id for one in plan.order] == ["op10", "op3", "op2"]


def test_a_use_comes_before_the_removal_and_a_new_name_after_the_renaming() -> None:
    use = op("op9", "object.transform", {"name": "Box", "location": [1, 0, 0]})
    delete = op("op1", "object.delete", {"name": "Box"}, level="destructive")
    assert order(use, delete) == ["op9", "op1"]
    rename = op("m", "object.rename", {"name": "Box", "new_name": "Crate"})
    renamed = op("a", "mesh.shade", {"object": "Crate", "shading": "flat"})
    assert order(use, rename, renamed) == ["op9", "m", "a"]


def test_what_is_removed_and_made_again_goes_by_the_order_of_ids_and_uses_follow() -> None:
    delete = op("a", "object.delete", {"name": "Box"}, level="destructive")
    use = op("0", "object.transform", {"name": "Box", "location": [1, 0, 0]})
    make_again, shade = op("b", "mesh.create_primitive", BOX), {"object": "Box", "shading": "flat"}
    assert order(delete, make_again, op("c", "mesh.shade", shade)) == ["a", "b", "c"]
    # Made, used, removed: the use that comes last by its id cannot mean anything else.
    make = op("A", "mesh.create_primitive", BOX)
    assert order(make, delete, op("z", "mesh.shade", {"object": "Box", "shading": "flat"})) == ["A", "z", "a"]
    # What the plan says itself decides which Box is meant.
    assert order(delete, op("b", "mesh.create_primitive", BOX, "a"), use) == ["0", "a", "b"]


def test_modifiers_and_values_of_sockets_count_as_well() -> None:
    add = op("b", "modifier.add", {"object": "Box", "name": "Round", "settings": {"type": "BEVEL", "width": 0.1}})
    change = op(
        "a", "modifier.set", {"object": "Box", "modifier": "Round", "settings": {"type": "BEVEL", "width": 0.2}}
    )
    assert order(add, change, op("c", "mesh.create_primitive", BOX)) == ["c", "b", "a"]
    # A modifier of an object that the plan makes cannot be there before.
    drop = op("a", "modifier.remove", {"object": "Box", "modifier": "Round"}, level="destructive")
    assert order(add, drop, op("c", "mesh.create_primitive", BOX)) == ["c", "b", "a"]
    assert order(add, drop) == ["a", "b"]
    put = op("a", "geonodes.set_modifier_input", {"object_name": "Cube", "socket": "Thing", "value": "Box"})
    assert order(put, op("b", "mesh.create_primitive", BOX)) == ["b", "a"]


def test_copies_that_are_named_by_number_are_made_too() -> None:
    grid = op("z", "object.duplicate_grid", {"name": "Box", "prefix": "Tile", "columns": 2, "rows": 1})
    assert order(op("a", "mesh.shade", {"object": "Tile 002", "shading": "flat"}), grid) == ["z", "a"]


def test_positions_break_ties_where_a_dialect_says_so_and_nothing_is_moved() -> None:
    use: dict[str, Any] = {"step_id": "use", "title": "use it", "tool": "object.transform", "dependencies": []}
    make: dict[str, Any] = {
        "step_id": "make",
        "title": "make it",
        "tool": "mesh.create_primitive",
        "args": BOX,
        "dependencies": [],
    }
    steps: dict[str, Any] = {"steps": [{**use, "args": {"name": "Box", "location": [1, 0, 0]}}, make]}
    terms = agree(Proposal(), Policy())
    assert not isinstance(terms, tuple)
    plan = validate(parse_plan(steps, dialect="steps"), tools(), terms)
    assert isinstance(plan, ValidPlan), plan
    assert [one.id for one in plan.order] == ["use", "make"]
    assert plan.implied_by == {}


def test_a_cycle_of_names_is_a_finding_that_tells_the_names_and_is_repaired_by_other_arguments() -> None:
    one = op("a", "object.duplicate", {"name": "B", "new_name": "A"})
    other = op("b", "object.duplicate", {"name": "A", "new_name": "B"})
    [finding] = refused(one, other)
    assert (finding.fault, finding.pointer, finding.rule) == (Fault.GRAPH_CYCLE, "/operations/1", "implied_cycle")
    assert "object 'A'" in finding.message and "object 'B'" in finding.message
    plan = parse_plan({"request_id": "r", "operations": [one, other]})
    assert [entry.to_json() for entry in minimal_repair(plan, [finding])] == [
        {"operation_id": "b", "action": "replace_args"}
    ]


def test_a_plan_that_states_the_opposite_of_what_its_names_need_is_refused() -> None:
    use = op("a", "object.transform", {"name": "Box", "location": [1, 0, 0]})
    [finding] = refused(use, op("b", "mesh.create_primitive", BOX, "a"))
    assert "uses object 'Box'" in finding.message


def test_what_may_be_there_already_or_come_from_code_gives_way_to_what_the_plan_says() -> None:
    assign = op("a", "material.assign", {"object": "Old", "material": "Gold"})
    assert order(assign, op("b", "material.ensure_principled", GOLD, "a")) == ["a", "b"]
    code = op("0", "python.run", {"code": "import bpy"})
    use = op("a", "object.transform", {"name": "Box", "location": [1, 0, 0]})
    assert order(code, use, op("b", "mesh.create_primitive", BOX, "a")) == ["0", "a", "b"]


def test_what_must_be_in_the_scene_is_told() -> None:
    plan = valid(PAINT, MIX)
    assert plan.implied is not None
    [use] = plan.implied.taken_for_granted
    assert (use.operation.id, use.mention.name, use.mention.at) == ("op2", "Box", "/object")
    removed = valid(
        op("a", "object.delete", {"name": "Box"}, level="destructive"), op("b", "mesh.create_primitive", BOX)
    )
    assert removed.implied is not None
    assert [use.mention.name for use in removed.implied.taken_for_granted] == ["Box"]
