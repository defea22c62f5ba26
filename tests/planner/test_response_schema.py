"""The form of answers: only what the service knows, within the budget, and nothing lost on the way there and back."""

from __future__ import annotations

import json
from typing import Any

import jsonschema_rs
import pytest

from blendwright.planner.plannable import MAX_TOOLS, choose_tools, permitted_tools
from blendwright.planner.response_schema import (
    MAX_PARTS,
    count_parts,
    geonodes_schema,
    operations_schema,
    reduce_schema,
    unpack,
)
from blendwright.policy.session_contract import ContractTerms
from blendwright.tool_api.tool import AnyTool
from blendwright.tools import catalog
from support.hosts.gemini.received import outside_subset
from support.hosts.gemini.replies import fitted
from support.suite.in_one_test import in_one_test

TOOLS = catalog.tools()
REQUESTS = ("a round table with four chairs", "delete the red cube", "animate a bouncing ball", "bevel modifier array")


def plan_of(tool: AnyTool, args: Any) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operation_id": "one",
        "tool_name": tool.name,
        "safety_level": tool.safety_level.value,
        "depends_on": [],
        "args": args,
    }
    return {"request_id": "r", "operations": [operation]}


@in_one_test({name: name for name in TOOLS})
def test_the_form_of_every_tool_is_within_the_subset_and_takes_its_examples_both_ways(name: str) -> None:
    tool = TOOLS[name]
    schema = operations_schema([tool])
    for form in (schema.strict, schema.packed):
        assert list(outside_subset(form, "")) == []
        checker = jsonschema_rs.validator_for(dict(form))
        for example in tool.examples:
            plan = plan_of(tool, json.loads(json.dumps(example.args)))
            written = fitted(plan, form)
            assert checker.is_valid(written), written
            assert json.loads(unpack(json.dumps(written))) == plan


@pytest.mark.parametrize("request_text", REQUESTS)
def test_a_form_stays_within_its_budget(request_text: str) -> None:
    assert count_parts(operations_schema(choose_tools(request_text, TOOLS)).strict) <= MAX_PARTS


def test_what_does_not_fit_into_the_budget_has_its_arguments_packed() -> None:
    many = sorted(TOOLS.values(), key=lambda tool: -len(str(tool.args_schema())))[:40]
    branches = operations_schema(many).strict["properties"]["operations"]["items"]["anyOf"]
    whole = [branch for branch in branches if "args" in branch["properties"]]
    packed = [branch for branch in branches if "args_json" in branch["properties"]]
    assert len(branches) == len(many)
    assert whole
    assert packed
    assert (
        count_parts(operations_schema(many).strict)
        <= MAX_PARTS
        < count_parts(operations_schema(many, most_parts=5000).strict)
    )


def test_a_branch_is_for_one_tool_at_its_own_level() -> None:
    (branch,) = operations_schema([TOOLS["object.delete"]]).strict["properties"]["operations"]["items"]["anyOf"]
    assert branch["properties"]["tool_name"]["enum"] == ["object.delete"]
    assert branch["properties"]["safety_level"]["enum"] == ["destructive"]


def test_open_objects_travel_as_text_because_models_leave_them_empty() -> None:
    settings = reduce_schema(TOOLS["modifier.add"].args_schema())
    assert settings is not None
    nodes = next(form for form in settings["properties"]["settings"]["anyOf"] if "node_group" in form["properties"])
    assert nodes["properties"]["inputs_json"] == {"type": "string"}


def test_the_form_of_geometry_nodes_is_within_the_subset_and_takes_all_payloads() -> None:
    node_tree, patch = TOOLS["geonodes.node_tree"], TOOLS["geonodes.patch"]
    schema = geonodes_schema(node_tree, patch)
    payloads = {"NODE_TREE": node_tree.examples[0].args, "GN_OPS": patch.examples[0].args, "PYTHON": {"code": "pass"}}
    steps = [
        {"id": f"step_{number}", "type": kind, "description": "d", "payload": json.loads(json.dumps(payload))}
        for number, (kind, payload) in enumerate(payloads.items(), 1)
    ]
    meta = {"requires_gate_verification": True}
    plan = {"version": "1.0", "steps": steps, "done": True, "final_message": "m", "meta": meta}
    for form in (schema.strict, schema.packed):
        assert list(outside_subset(form, "")) == []
        assert count_parts(form) <= MAX_PARTS
        written = fitted(plan, form)
        assert jsonschema_rs.validator_for(dict(form)).is_valid(written)
        assert json.loads(unpack(json.dumps(written))) == plan


@pytest.mark.parametrize("text", ["no JSON", '{"args_json": "{broken"}', '{"args_json": 3}', '{"a": 1,  "b": [2]}'])
def test_what_cannot_be_unpacked_stays_as_it_is_for_the_contract_to_refuse(text: str) -> None:
    assert unpack(text) == text


def test_packed_text_never_replaces_what_is_there_beside_it() -> None:
    text = '{"args": {"a": 1}, "args_json": "{}"}'
    assert unpack(text) == text


def test_the_choice_of_tools_is_bounded_and_starts_with_what_the_request_is_about() -> None:
    chosen = [tool.name for tool in choose_tools("Please delete all the lamps", TOOLS)]
    assert len(chosen) <= MAX_TOOLS
    assert "object.delete" in chosen[:4]
    assert "light.set" in chosen
    assert "mesh.create_primitive" in chosen


def test_tools_that_an_earlier_plan_used_stay_in_the_choice() -> None:
    chosen = [tool.name for tool in choose_tools("a table", TOOLS, always=["file.export", "no.such"], limit=5)]
    assert chosen[0] == "file.export"
    assert len(chosen) == 5


def test_small_words_choose_nothing() -> None:
    assert choose_tools("a the with four", TOOLS) == choose_tools("", TOOLS)


def test_tools_that_the_contract_rules_out_are_not_offered() -> None:
    rules = {"levels": {"destructive": "deny"}, "tools": {"file.*": "deny"}}
    terms = ContractTerms.model_validate(
        {"constraints": {"rules": rules}, "capabilities": ["object_write", "scene_read"]}
    )
    left = permitted_tools(TOOLS, terms)
    assert "object.transform" in left
    assert not {"object.delete", "file.export"} & left.keys()
    assert all(set(tool.requires.capabilities) <= {"object_write", "scene_read"} for tool in left.values())


@pytest.mark.parametrize(
    "inner",
    [
        {"type": "object", "properties": {}, "additionalProperties": False},
        {"type": "object", "properties": {"a": {"type": "string"}}},
        {"type": "object", "additionalProperties": {"type": "number"}},
        {"type": "array"},
        {},
    ],
)
def test_a_part_that_the_subset_has_no_words_for_is_packed_alone(inner: dict[str, Any]) -> None:
    assert reduce_schema(inner) is None
    known = {"type": "integer", "minimum": 3}
    whole = {"type": "object", "properties": {"a": inner, "b": known}, "required": ["a"], "additionalProperties": False}
    assert reduce_schema(whole) == {
        "type": "object",
        "properties": {"a_json": {"type": "string"}, "b": {"type": "integer"}},
        "required": ["a_json"],
    }


def test_constants_bounds_and_references_become_what_the_subset_knows() -> None:
    kinds = {"oneOf": [{"$ref": "#/$defs/A"}, {"type": "null"}], "discriminator": {"propertyName": "t"}}
    schema = {
        "$defs": {"A": {"type": "object", "properties": {"t": {"const": "A"}}, "additionalProperties": False}},
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "kind": kinds,
            "at": {"type": "array", "prefixItems": [{"type": "number"}] * 3, "minItems": 3, "maxItems": 3},
            "maybe": {"anyOf": [{"type": "integer", "maximum": 9}, {"type": "null"}], "default": None},
            "flag": {"const": True},
        },
        "required": ["kind"],
    }
    a: dict[str, Any] = {"type": "object", "properties": {"t": {"type": "string", "enum": ["A"]}}, "required": []}
    assert reduce_schema(schema) == {
        "type": "object",
        "properties": {
            "kind": {"anyOf": [a, {"type": "null"}]},
            "at": {"type": "array", "items": {"type": "number"}},
            "maybe": {"type": "integer"},
            "flag": {"type": "boolean"},
        },
        "required": ["kind"],
    }


@pytest.mark.parametrize("depth", [300, 500, 1000])
def test_an_answer_that_is_nested_without_end_stays_as_it_is(depth: int) -> None:
    nested = "[" * depth + "]" * depth
    for text in (nested, f'{{"a_json": "1", "b": {nested}}}', f'{{"args_json": "{nested}"}}'):
        assert unpack(text) == text
