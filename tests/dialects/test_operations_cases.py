"""Plans of operations are judged as they were when the contract's version was published."""

from __future__ import annotations

from typing import Any, cast

import pytest

from blendwright.schemas.published import schema
from dialects.contract_cases import (
    OPERATIONS,
    Case,
    assert_all_are_named,
    has_exactly_the_findings_it_had,
    invalid,
    judged,
    valid,
)


def test_every_case_is_there_and_judged_by_name() -> None:
    assert_all_are_named(OPERATIONS)


@pytest.mark.proves("OPS-SCHEMA-01")
@valid(OPERATIONS, "one_operation", "a_diamond", "declared_higher", "ids_of_all_characters")
def test_a_plan_that_keeps_to_the_schema_has_no_findings(case: Case) -> None:
    assert judged(case) == ()


@pytest.mark.proves("OPS-SCHEMA-01")
def test_the_planner_schema_is_the_one_that_is_printed_in_the_contract() -> None:
    id = {"type": "string", "pattern": "^[a-zA-Z0-9_.:-]{1,128}$"}
    operation = {
        "type": "object",
        "additionalProperties": False,
        "required": ["operation_id", "tool_name", "args", "depends_on", "safety_level"],
        "properties": {
            "operation_id": id,
            "tool_name": {"type": "string", "minLength": 1},
            "args": {"type": "object", "additionalProperties": True},
            "depends_on": {"type": "array", "items": id, "uniqueItems": True},
            "safety_level": {"type": "string", "enum": ["read_only", "safe_write", "destructive"]},
        },
    }
    assert _rules(schema("planner_operations.v1")) == {
        "type": "object",
        "additionalProperties": False,
        "required": ["request_id", "operations"],
        "properties": {
            "request_id": {"type": "string", "minLength": 1},
            "operations": {"type": "array", "minItems": 1, "items": operation},
        },
    }


def _rules(part: Any) -> Any:
    """A schema without its words."""
    if not isinstance(part, dict):
        return part
    words = {"$schema", "$id", "title", "description"}
    return {key: _rules(inner) for key, inner in cast("dict[str, Any]", part).items() if key not in words}


@pytest.mark.proves("OPS-SCHEMA-02")
@invalid(OPERATIONS, "unknown_field_of_the_plan", "unknown_field_of_an_operation")
def test_a_plan_has_no_other_fields(case: Case) -> None:
    has_exactly_the_findings_it_had(case)


@pytest.mark.proves("OPS-SCHEMA-03")
@invalid(OPERATIONS, "id_twice")
def test_an_id_is_there_once(case: Case) -> None:
    has_exactly_the_findings_it_had(case)


@pytest.mark.proves("OPS-FIELD-01")
@invalid(OPERATIONS, "request_id_missing", "request_id_empty")
def test_a_request_has_an_id(case: Case) -> None:
    has_exactly_the_findings_it_had(case)


@pytest.mark.proves("OPS-FIELD-02")
@invalid(OPERATIONS, "operations_missing", "operations_empty")
def test_a_request_has_operations(case: Case) -> None:
    has_exactly_the_findings_it_had(case)


@pytest.mark.proves("OPS-FIELD-03")
@invalid(OPERATIONS, "operation_id_missing", "id_empty", "id_too_long", "id_with_a_blank", "id_with_a_line_end")
def test_an_operation_has_an_id_of_the_pattern(case: Case) -> None:
    has_exactly_the_findings_it_had(case)


@pytest.mark.proves("OPS-FIELD-04")
@invalid(OPERATIONS, "tool_name_missing", "tool_name_empty")
def test_an_operation_names_a_tool(case: Case) -> None:
    has_exactly_the_findings_it_had(case)


@pytest.mark.proves("OPS-FIELD-05")
@invalid(OPERATIONS, "args_missing", "args_not_an_object")
def test_an_operation_has_arguments(case: Case) -> None:
    has_exactly_the_findings_it_had(case)


@pytest.mark.proves("OPS-FIELD-06")
@invalid(OPERATIONS, "depends_on_missing", "depends_on_twice_the_same")
def test_an_operation_says_once_what_it_waits_for(case: Case) -> None:
    has_exactly_the_findings_it_had(case)


@pytest.mark.proves("OPS-FIELD-08")
@invalid(OPERATIONS, "depends_on_no_id")
def test_what_an_operation_waits_for_has_the_pattern_of_an_id(case: Case) -> None:
    has_exactly_the_findings_it_had(case)


@pytest.mark.proves("OPS-FIELD-07")
@invalid(OPERATIONS, "safety_level_missing", "safety_level_unknown")
def test_an_operation_has_one_of_three_safety_levels(case: Case) -> None:
    has_exactly_the_findings_it_had(case)


@invalid(
    OPERATIONS,
    "a_cycle",
    "depends_on_itself",
    "depends_on_nothing_known",
    "args_unknown",
    "tool_unknown",
    "safety_level_too_low",
)
def test_what_no_schema_can_say_of_a_plan_is_found_too(case: Case) -> None:
    has_exactly_the_findings_it_had(case)


@pytest.mark.proves("OPS-SCHEMA-06")
def test_the_planner_schema_is_published_as_what_it_is() -> None:
    planner = schema("planner_operations.v1")
    assert planner["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert planner["$id"] and planner["title"]


@pytest.mark.proves("OPS-ARGS-02")
def test_only_the_arguments_are_open() -> None:
    planner = schema("planner_operations.v1")
    operation = planner["properties"]["operations"]["items"]
    assert planner["additionalProperties"] is False and operation["additionalProperties"] is False
    assert operation["properties"]["args"]["additionalProperties"] is True
    assert operation["required"] == ["operation_id", "tool_name", "args", "depends_on", "safety_level"]


@pytest.mark.proves("OPS-VERSION-01")
def test_every_schema_is_published_under_its_version() -> None:
    for name in (
        "planner_operations.v1",
        "operations_result.v1",
        "failure_payload.v1",
        "steps_payload.v1",
        "steps_result.v1",
    ):
        assert schema(name)["$id"] == f"https://blendwright.dev/schemas/{name.replace('_', '-')}.json"
