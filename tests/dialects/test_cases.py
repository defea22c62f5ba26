"""The regression cases under tests/cases: each document is judged as it was when the contract's version was published."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import pytest

from blendwright.dialects import operations, steps
from blendwright.schemas.published import schema
from blendwright.values.findings import Finding
from blendwright.values.json_reader import read_json
from plans import findings

CASES = Path(__file__).parent.parent / "cases"
OPERATIONS, PAYLOAD, RESULT = "operations", "steps/payload", "steps/result"
# What the tests below name; a file that none of them names is judged by nobody.
NAMED: set[Path] = set()


def valid(kind: str, *names: str) -> pytest.MarkDecorator:
    return _each(kind, "valid", names)


def invalid(kind: str, *names: str) -> pytest.MarkDecorator:
    return _each(kind, "invalid", names)


def _each(kind: str, verdict: str, names: tuple[str, ...]) -> pytest.MarkDecorator:
    paths = [CASES / kind / verdict / f"{name}.json" for name in names]
    NAMED.update(paths)
    return pytest.mark.parametrize("case", [pytest.param((kind, path), id=path.stem) for path in paths])


Case = tuple[str, Path]


def judged(case: Case) -> tuple[Finding, ...]:
    kind, path = case
    document, found = read_json(path.read_bytes())
    assert not found
    if kind == RESULT:
        return steps.validate_result(document)
    if kind == PAYLOAD:
        return steps.validate_payload(document)
    return findings(operations.DIALECT.parse(document))


def has_exactly_the_findings_it_had(case: Case) -> None:
    expected = json.loads(case[1].with_suffix(".expected.json").read_text())
    found = judged(case)
    assert [{"code": finding.fault.value, "pointer": finding.pointer} for finding in found] == expected
    assert expected and all(finding.message and finding.cure for finding in found)


def test_every_case_is_there_and_judged_by_name() -> None:
    there = [path for kind in (OPERATIONS, PAYLOAD, RESULT) for path in (CASES / kind).rglob("*.json")]
    documents = {path for path in there if ".expected" not in path.name}
    expected = {path.with_suffix(".expected.json") for path in NAMED if path.parent.name == "invalid"}
    assert documents == NAMED
    assert set(there) - documents == expected


# ---------------------------------------------------------------------- operations


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


# ---------------------------------------------------------------------- payloads of steps


@pytest.mark.proves("STEPS-PAYLOAD-01", "STEPS-PAYLOAD-02", "STEPS-PAYLOAD-07")
@valid(
    PAYLOAD,
    "a_later_step_may_be_waited_for",
    "numbered_in_sequence",
    "tool_as_a_name",
    "tool_as_a_name_with_args",
    "tool_as_an_object",
)
def test_a_payload_that_keeps_to_the_contract_has_no_findings(case: Case) -> None:
    assert judged(case) == ()


@pytest.mark.proves("STEPS-PAYLOAD-01")
@invalid(
    PAYLOAD,
    "not_an_object",
    "no_steps",
    "steps_empty",
    "steps_not_a_list",
    "step_not_an_object",
    "id_missing",
    "dependencies_missing",
    "tool_missing",
    "unknown_field_of_a_step",
    "unknown_field_of_the_payload",
)
def test_a_payload_has_steps_with_their_fields(case: Case) -> None:
    has_exactly_the_findings_it_had(case)


@pytest.mark.proves("STEPS-PAYLOAD-08")
@invalid(PAYLOAD, "title_not_text")
def test_a_title_is_text(case: Case) -> None:
    has_exactly_the_findings_it_had(case)


@pytest.mark.proves("STEPS-PAYLOAD-02")
@invalid(PAYLOAD, "tool_empty", "tool_null", "tool_with_an_unknown_field", "tool_without_a_name", "tool_without_args")
def test_a_tool_is_a_name_or_an_object(case: Case) -> None:
    has_exactly_the_findings_it_had(case)


@pytest.mark.proves("STEPS-PAYLOAD-03")
@invalid(PAYLOAD, "id_empty", "id_not_text", "id_reserved", "id_twice")
def test_a_step_has_an_id_of_its_own(case: Case) -> None:
    has_exactly_the_findings_it_had(case)


@pytest.mark.proves("STEPS-PAYLOAD-04")
@invalid(
    PAYLOAD,
    "dependencies_not_a_list",
    "dependency_not_text",
    "dependency_unknown",
    "dependency_on_itself",
    "dependencies_in_a_cycle",
)
def test_dependencies_are_ids_of_steps(case: Case) -> None:
    has_exactly_the_findings_it_had(case)


@pytest.mark.proves("STEPS-PAYLOAD-05")
@invalid(PAYLOAD, "args_not_an_object", "tool_args_not_an_object")
def test_arguments_of_a_step_are_an_object(case: Case) -> None:
    has_exactly_the_findings_it_had(case)


@pytest.mark.proves("STEPS-PAYLOAD-06")
@invalid(PAYLOAD, "args_beside_tool_args")
def test_arguments_stand_at_one_place(case: Case) -> None:
    has_exactly_the_findings_it_had(case)


@pytest.mark.proves("STEPS-PAYLOAD-07")
@invalid(
    PAYLOAD,
    "sequence_from_zero",
    "sequence_out_of_order",
    "sequence_with_a_gap",
    "sequence_with_a_stranger",
    "sequence_with_padding",
    "sequence_without_its_beginning",
)
def test_numbered_steps_are_numbered_without_a_gap(case: Case) -> None:
    has_exactly_the_findings_it_had(case)


# ---------------------------------------------------------------------- results of steps


@pytest.mark.proves("STEPS-RESULT-01")
@valid(
    RESULT,
    "blocked",
    "blocked_with_others_skipped",
    "completed",
    "completed_from_receipts",
    "failed_with_a_reason_only",
    "failed_with_a_skipped_dependent",
    "output_may_be_anything",
    "partial",
    "partial_may_be_ok",
)
def test_a_result_that_keeps_to_the_contract_has_no_findings(case: Case) -> None:
    assert judged(case) == ()


@pytest.mark.proves("STEPS-RESULT-01")
@invalid(
    RESULT,
    "not_a_list",
    "empty",
    "entry_not_an_object",
    "entry_with_an_unknown_field",
    "entry_with_ok_as_text",
    "entry_without_tool",
)
def test_an_entry_has_its_fields(case: Case) -> None:
    has_exactly_the_findings_it_had(case)


@pytest.mark.proves("STEPS-RESULT-05")
@invalid(RESULT, "entry_twice")
def test_a_step_has_one_entry(case: Case) -> None:
    has_exactly_the_findings_it_had(case)


@pytest.mark.proves("STEPS-RESULT-02")
@invalid(RESULT, "skipped_and_ok")
def test_what_was_skipped_is_not_ok(case: Case) -> None:
    has_exactly_the_findings_it_had(case)


@pytest.mark.proves("STEPS-RESULT-03")
@invalid(RESULT, "ok_with_an_error")
def test_what_is_ok_has_no_error(case: Case) -> None:
    has_exactly_the_findings_it_had(case)


@pytest.mark.proves("STEPS-RESULT-04")
@invalid(RESULT, "failed_without_a_word")
def test_a_failure_says_why(case: Case) -> None:
    has_exactly_the_findings_it_had(case)


@pytest.mark.proves("STEPS-META-01")
@invalid(RESULT, "meta_missing", "meta_first", "meta_twice")
def test_the_summary_is_the_last_entry(case: Case) -> None:
    has_exactly_the_findings_it_had(case)


@pytest.mark.proves("STEPS-META-02")
@invalid(RESULT, "meta_skipped", "meta_ok_although_failed", "stats_missing")
def test_the_summary_has_its_fields(case: Case) -> None:
    has_exactly_the_findings_it_had(case)


@pytest.mark.proves("STEPS-META-03")
@invalid(RESULT, "stats_incomplete", "stats_miscounted")
def test_the_numbers_are_complete_and_right(case: Case) -> None:
    has_exactly_the_findings_it_had(case)


@pytest.mark.proves("STEPS-META-06")
@invalid(RESULT, "failed_steps_incomplete", "blocked_step_that_ran")
def test_blocked_and_failed_steps_are_those_that_were(case: Case) -> None:
    has_exactly_the_findings_it_had(case)


@pytest.mark.proves("STEPS-META-05")
@invalid(
    RESULT,
    "status_unknown",
    "status_blocked_with_nothing_blocked",
    "status_completed_with_a_failure",
    "status_completed_with_a_skipped_step",
    "status_failed_without_a_failure",
    "status_partial_with_a_blocked_step",
    "status_partial_with_everything_done",
)
def test_the_status_is_what_the_entries_say(case: Case) -> None:
    has_exactly_the_findings_it_had(case)


# ---------------------------------------------------------------------- the version


@pytest.mark.proves("STEPS-VERSION-01")
def test_the_published_schemas_carry_the_contract_version() -> None:
    for name in ("steps_payload.v1", "steps_result.v1"):
        assert schema(name)["title"].endswith(f" {steps.CONTRACT_VERSION}")
    assert steps.CONTRACT_VERSION.split(".")[0] == "1"


@pytest.mark.proves("STEPS-VERSION-02")
def test_no_case_of_the_steps_contract_has_another_verdict_than_it_had() -> None:
    for path in sorted(NAMED):
        kind = path.parent.parent.relative_to(CASES).as_posix()
        if kind != OPERATIONS and path.parent.name == "invalid":
            has_exactly_the_findings_it_had((kind, path))
