"""Payloads and results of steps are judged as they were when the contract's version was published."""

from __future__ import annotations

import pytest

from blendwright.dialects import steps
from blendwright.schemas.published import schema
from dialects.contract_cases import (
    CASES,
    NAMED,
    OPERATIONS,
    PAYLOAD,
    RESULT,
    Case,
    assert_all_are_named,
    has_exactly_the_findings_it_had,
    invalid,
    judged,
    valid,
)


def test_every_case_is_there_and_judged_by_name() -> None:
    assert_all_are_named(PAYLOAD, RESULT)


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
