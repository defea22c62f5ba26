"""Macros in plans: the chains they become, where findings inside them point, and how they are scheduled."""

from __future__ import annotations

from time import process_time
from typing import Any

import pytest

from blendwright.dialects import operations, steps
from blendwright.plan.macro_calls import expand_macros
from blendwright.plan.repair import refused
from blendwright.plan.validate import ValidPlan, validate
from blendwright.policy.policy import Limits
from blendwright.policy.session_contract import ContractTerms
from blendwright.tools import catalog
from blendwright.values.findings import Finding
from blendwright.values.plan import Plan
from support.plans.documents import box
from support.plans.macro_documents import NAME, document, empty, macros

PAIR = macros(document())


def call(id: str, *waits_for: str, tool: str = "test.pair", **args: Any) -> dict[str, Any]:
    return box(id, *waits_for, tool_name=tool, args={"name": id, **args})


def plan_of(*listed: dict[str, Any]) -> Plan:
    return operations.DIALECT.parse({"request_id": "request", "operations": list(listed)})


def valid(plan: Plan, known: Any = PAIR) -> ValidPlan:
    found = validate(plan, catalog.tools(), ContractTerms(), macros=known)
    assert isinstance(found, ValidPlan), found
    return found


def findings(plan: Plan, known: Any = PAIR) -> tuple[Finding, ...]:
    found = validate(plan, catalog.tools(), ContractTerms(), macros=known)
    assert not isinstance(found, ValidPlan)
    return found


def test_a_macro_becomes_a_chain_that_takes_its_place_in_the_graph() -> None:
    plan = valid(plan_of(box("z"), call("m", "z"), box("a", "m"))).plan
    assert [(one.id, one.depends_on) for one in plan.operations] == [
        ("z", ()),
        ("m.001", ("z",)),
        ("m.002", ("m.001",)),
        ("a", ("m.002",)),
    ]
    assert [one.args["name"] for one in plan.operations[1:3]] == ["m a", "m b"]
    assert [one.id for one in plan.as_written().operations] == ["z", "m", "a"]


def test_both_dialects_call_macros_by_the_name_of_the_tool() -> None:
    payload: dict[str, Any] = {"steps": [{"step_id": "one", "dependencies": [], "tool": {"name": "test.pair", "args": {"name": "P"}}},
                         {"step_id": "two", "dependencies": ["one"], "tool": "test.pair", "args": {"name": "Q"}}]}  # fmt: skip
    assert [one.id for one in valid(steps.DIALECT.parse(payload)).plan.operations] == [
        "one.001",
        "one.002",
        "two.001",
        "two.002",
    ]


def test_inputs_are_checked_at_their_exact_place_and_defaults_filled_in() -> None:
    inputs = {"type": "object", "additionalProperties": False, "required": ["name"], "properties": {
        "name": NAME, "at": {"type": "array", "items": {"type": "number"}, "minItems": 3, "maxItems": 3,
                             "default": [1, 2, 3], "description": "A place."}}}  # fmt: skip
    known = macros(document("test.pair", empty("one", location="{{at}}"), inputs=inputs))
    assert valid(plan_of(call("m")), known).plan.operations[0].args["location"] == [1, 2, 3]
    found = findings(plan_of(call("m", at=[1, "x", 3]), call("n", nmae=1)), known)
    assert [(one.fault.value, one.pointer) for one in found] == [
        ("ARGS_INVALID", "/operations/0/args/at/1"),
        ("ARGS_INVALID", "/operations/1/args/nmae"),
    ]


def test_what_a_tool_inside_refuses_points_to_the_input_it_came_from_and_names_the_step() -> None:
    loose = document()["inputs"] | {"properties": {"name": {"description": "Anything."}}}
    known = macros(document("test.pair", empty("one"), inputs=loose, rollback=False))
    (found,) = findings(plan_of(call("m") | {"args": {"name": 7}}), known)
    assert found.pointer == "/operations/0/args/name"
    assert found.message.startswith("step 1 of 1 of test.pair, one: ")


def test_the_refusal_of_a_plan_speaks_of_the_callers_operations_alone() -> None:
    plan = plan_of(call("m"), box("n", "x"))
    report = refused(plan, findings(plan))
    assert [one.operation_id for one in report.operations] == ["m", "n"]
    assert [entry.operation_id for entry in report.repair] == ["n"]


def test_a_macro_declares_the_level_of_its_most_harmful_step() -> None:
    known = macros(document("test.pair", {"title": "off", "tool": "object.delete", "args": {"name": "{{name}}"}}))
    (found,) = findings(plan_of(call("m")), known)
    assert (found.fault.value, found.pointer) == ("POLICY_BLOCKED", "/operations/0/safety_level")
    assert (
        valid(plan_of(call("m") | {"safety_level": "destructive"}), known).plan.operations[0].safety_level
        == "destructive"
    )


def test_a_step_that_may_replace_a_file_counts_as_destructive() -> None:
    def level(**args: Any) -> str:
        step = {"title": "out", "tool": "file.export", "args": {"path": "{{name}}.stl", **args}}
        again = {"again": {"type": "boolean", "description": "Once more."}} if "{{again}}" in args.values() else {}
        inputs = {"type": "object", "additionalProperties": False, "required": ["name", *again],
                  "properties": {"name": NAME} | again}  # fmt: skip
        examples = [{"inputs": {"name": "Pair"} | dict.fromkeys(again, False)}]
        known = macros(document("test.pair", step, inputs=inputs, examples=examples, determinism="nondeterministic"))
        return known["test.pair"].safety_level.value

    assert level() == level(overwrite=False) == "safe_write"
    assert level(overwrite=True) == level(overwrite="{{again}}") == "destructive"


def test_declaring_more_than_a_macro_needs_is_honoured_in_every_step() -> None:
    plan = valid(plan_of(call("m") | {"safety_level": "destructive"})).plan
    assert [one.safety_level for one in plan.operations] == ["destructive", "destructive"]


def test_ids_that_the_steps_of_a_macro_need_must_be_free() -> None:
    (found,) = findings(plan_of(call("m"), box("m.002")))
    assert (found.fault.value, found.pointer) == ("SCHEMA_INVALID", "/operations/0/operation_id")


def test_nothing_comes_between_the_steps_of_a_macro_and_it_runs_where_its_own_id_stands() -> None:
    plan = plan_of(call("m"), box("m.0015"), box("m-1"), box("l"), box("m.0"))
    order = valid(plan).schedule("registry", "baseline").order
    assert [one.id for one in order] == ["l", "m.001", "m.002", "m-1", "m.0", "m.0015"]


def test_steps_are_repeated_for_each_value_and_inner_macros_are_flattened() -> None:
    names = {"type": "array", "items": NAME, "description": "Names."}
    inputs = {"type": "object", "additionalProperties": False, "required": ["names"], "properties": {"names": names}}
    outer = document(
        "test.many",
        empty("fixed", "Fixed"),
        {"title": "pairs", "tool": "test.pair", "for_each": "names", "args": {"name": "{{each}}"}},
        inputs=inputs, rollback=False, examples=[{"inputs": {"names": ["A"]}}],
    )  # fmt: skip
    known = macros(outer, document())
    plan = valid(plan_of(box("m", tool_name="test.many", args={"names": ["P", "Q"]})), known).plan
    assert [one.args["name"] for one in plan.operations] == ["Fixed", "P a", "P b", "Q a", "Q b"]
    groups = [one.origin.group for one in plan.operations if one.origin]
    assert groups[0] is None and groups[1] == groups[2] != groups[3] == groups[4]
    (found,) = findings(plan_of(box("m", tool_name="test.many", args={"names": ["P", ""]})), known)
    assert found.pointer == "/operations/0/args/names/1"


@pytest.mark.proves("CORE-REFUSE-03")
def test_an_unknown_name_is_told_from_macros_too() -> None:
    (found,) = findings(plan_of(call("m", tool="test.pear")))
    assert found.fault.value == "TOOL_NOT_ALLOWED" and "test.pair" in (found.cure or "")


NAMES: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["names"],
    "properties": {"names": {"type": "array", "items": NAME, "description": "Names."}},
}


def test_more_steps_than_a_macro_may_have_are_not_worked_out_first() -> None:
    find: dict[str, Any] = {"title": "find", "tool": "scene.find", "args": {}}
    each = empty("each", "{{each}}") | {"for_each": "names"}
    again = {"title": "again", "tool": "test.inner", "for_each": "names", "args": {"names": "{{names}}"}}
    example = [{"inputs": {"names": ["a"]}}]
    inner = document("test.inner", find, each, inputs=NAMES, examples=example)
    outer = document("test.outer", find, again, inputs=NAMES, examples=example)
    known = macros(inner, outer)
    # Worked out, these would be a hundred million steps.
    many = {"names": [f"n{number}" for number in range(10_000)]}
    began = process_time()
    (finding,) = findings(plan_of(box("m", tool_name="test.outer", args=many)), known)
    assert (finding.fault.value, finding.pointer) == ("LIMIT_EXCEEDED", "/operations/0/args")
    assert process_time() - began < 2


def test_a_plan_that_is_too_long_with_its_macros_is_not_expanded_to_its_end() -> None:
    plan = plan_of(*(call(f"m{number}") for number in range(100)))
    terms = ContractTerms(limits=Limits(operations_per_plan=120))
    found = validate(plan, catalog.tools(), terms, macros=PAIR)
    assert not isinstance(found, ValidPlan)
    assert [finding.rule for finding in found] == ["plan_too_long"]
    assert found[0].message.startswith("the plan has 121 operations or more with the steps of its macros")
    assert len(expand_macros(plan, PAIR, 120)[0].operations) == 121


def test_a_part_of_an_input_is_followed_through_macros_inside_macros() -> None:
    at = {"type": "array", "description": "Where.", "default": [0, 0, 0]}
    closed = {**NAMES, "required": ["name"]}
    place = document(
        "test.place", empty("put", location="{{at}}"), inputs={**closed, "properties": {"name": NAME, "at": at}}
    )
    nested = {"title": "nest", "tool": "test.place", "args": {"name": "{{name}}", "at": [0, "{{x}}", 0]}}
    x = {"description": "x", "default": 0}
    parts = document("test.parts", nested, inputs={**closed, "properties": {"name": NAME, "x": x}})
    known = macros(place, parts)
    (inner,) = findings(plan_of(call("m", tool="test.parts", x="far")), known)
    assert inner.pointer == "/operations/0/args/x"
    (outer,) = findings(plan_of(call("m", tool="test.place", at=[0, "far", 0])), known)
    assert outer.pointer == "/operations/0/args/at/1"


def test_the_rule_of_a_refusal_is_known_inside_a_macro_too() -> None:
    code = {"title": "code", "tool": "python.run", "args": {"code": "{{name}}"}}
    known = macros(document("test.code", code, determinism="nondeterministic", examples=[{"inputs": {"name": "pass"}}]))
    found = findings(plan_of(call("m", tool="test.code", name="#" * 20_001)), known)
    assert "python_code" in [finding.rule for finding in found]


def repair_of(plan: Plan) -> list[tuple[str, str]]:
    return [(entry.operation_id, entry.action) for entry in refused(plan, findings(plan)).repair]


def test_of_two_that_want_the_same_id_the_macro_goes_since_no_id_can_be_changed() -> None:
    assert repair_of(plan_of(call("m"), box("m.001"), box("z", "m"))) == [("m", "replace_args")]
    assert repair_of(plan_of(call("m"), box("m.001"), box("z"))) == [("m", "drop")]
    assert isinstance(
        validate(plan_of(box("m.001"), box("z")), catalog.tools(), ContractTerms(), macros=PAIR), ValidPlan
    )
    assert repair_of(plan_of(call("m"), box("m.001"), box("bad", tool_name="no.such"))) == [
        ("m", "drop"),
        ("bad", "drop"),
    ]


def test_whoever_waits_for_a_step_of_a_macro_is_told_to_wait_for_the_macro() -> None:
    plan = plan_of(call("m"), box("z", "m.001"))
    (finding,) = findings(plan)
    assert (finding.fault.value, finding.pointer) == ("DEPENDENCY_MISSING", "/operations/1/depends_on/0")
    assert finding.cure == "Wait for 'm'."
    assert repair_of(plan) == [("z", "replace_args")], "an operation with that id could not be added"
    assert repair_of(plan_of(call("m"), box("z", "m.001", "other"))) == [
        ("z", "replace_args"),
        ("z", "insert_precondition"),
    ]


def test_ids_that_macros_need_do_not_break_the_contract_of_steps() -> None:
    def step(id: str, tool: str) -> dict[str, Any]:
        return {"step_id": id, "dependencies": [], "tool": {"name": tool, "args": {"name": id}}}

    document = {"steps": [step("m", "test.pair"), step("m.001", "object.create_empty")]}
    plan = steps.DIALECT.parse(document)
    result = steps.render(refused(plan, findings(plan)))
    assert result is not None and result[-1]["failed_steps"] == ["m"]


def test_a_whole_number_is_the_same_input_however_it_is_written() -> None:
    number = {"$ref": "#/$defs/count", "description": "How many.", "default": 1}
    sizes = {"type": "array", "items": {"type": "integer"}, "description": "Sizes.", "default": [1]}
    inputs = {
        **NAMES,
        "required": ["name"],
        "properties": {"name": NAME, "count": {"type": "integer", **number}, "sizes": sizes},
        "$defs": {"count": {"type": "integer", "minimum": 1}},
    }
    numbered = empty("one", "{{name}} {{count}}")
    each = {**empty("two", "{{name}} {{each}}"), "for_each": "sizes"}
    known = macros(document("test.count", numbered, each, inputs=inputs))
    floats = valid(plan_of(call("m", tool="test.count", count=2.0, sizes=[3.0])), known)
    integers = valid(plan_of(call("m", tool="test.count", count=2, sizes=[3])), known)
    assert floats.content == integers.content
    assert [one.args["name"] for one in floats.plan.operations] == ["m 2", "m 3"]
