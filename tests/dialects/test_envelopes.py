"""ToolResult and core envelope: two renderings of one outcome."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import ValidationError

from blendwright.dialects.envelopes import CoreEnvelope, ToolResult, core_envelope, tool_result
from blendwright.values.faults import REFUSALS, RENDERINGS, Fault
from blendwright.values.findings import Finding
from blendwright.values.outcome import PHASES, Outcome, PhaseTrace

# The table of the design, section 5: fault, ToolResult, core envelope, recoverable, repair action.
TABLE = """
SCHEMA_INVALID           | invalid_input            | invalid_arguments           | yes | replace_args
ARGS_INVALID             | invalid_input            | invalid_arguments           | yes | replace_args
GRAPH_CYCLE              | invalid_input            | invalid_arguments           | yes | drop
DEPENDENCY_MISSING       | invalid_input            | invalid_arguments           | yes | insert_precondition
TOOL_NOT_ALLOWED         | policy_refused           | contract_violation          | yes | drop
LIMIT_EXCEEDED           | policy_refused           | contract_violation          | yes | replace_args
CAPABILITY_MISSING       | capability_missing       | capability_missing          | yes | drop
UNSUPPORTED_BLENDER      | capability_missing       | unsupported_blender_version | yes | drop
POLICY_BLOCKED           | policy_refused           | contract_violation          | yes | drop
TARGET_NOT_FOUND         | not_found                | not_found                   | yes | insert_precondition
SCENE_CONFLICT           | conflict                 | execution_failed            | yes | replace_args
IDEMPOTENCY_CONFLICT     | conflict                 | contract_violation          | yes | replace_args
TOOL_TIMEOUT             | timeout                  | timeout                     | yes | replace_args
CANCELLED                | timeout                  | timeout                     | yes | retry
NONDETERMINISTIC_REFUSED | nondeterministic_refused | contract_violation          | yes | replace_args
EXECUTION_FAILED         | internal_error           | execution_failed            | yes | replace_args
VERIFICATION_FAILED      | conflict                 | execution_failed            | yes | replace_args
WORKER_LOST              | internal_error           | internal_error              | yes | replace_args
ROLLBACK_FAILED          | internal_error           | internal_error              | no  |
INTERNAL_ERROR           | internal_error           | internal_error              | no  |
"""
ROWS = [[cell.strip() for cell in line.split("|")] for line in TABLE.strip().splitlines()]

TRACE = tuple(PhaseTrace(name, 0.5) for name in PHASES)
DONE = Outcome(
    "object.create_empty",
    1,
    result={"name": "Pivot"},
    handles=({"kind": "objects", "name": "Pivot"},),
    changes=({"kind": "objects", "name": "Pivot", "change": "created"},),
    determinism_class="deterministic",
    fingerprint_before="a",
    fingerprint_after="b",
    trace=TRACE,
)


def failed(fault: Fault) -> Outcome:
    finding = Finding(fault, "it went wrong", "/name", "Do otherwise.")
    return Outcome("object.create_empty", 1, fault, "it went wrong", (finding,), trace=TRACE)


def test_the_table_names_every_fault_once() -> None:
    assert [row[0] for row in ROWS] == [fault.value for fault in Fault]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
@pytest.mark.proves("EXEC-CODE-01")
def test_every_fault_has_the_codes_of_the_design(row: list[str]) -> None:
    fault = Fault(row[0])
    ours, core = tool_result(failed(fault)), core_envelope(failed(fault))
    assert core.error is not None
    assert (ours.ok, core.ok) == (False, False)
    assert (ours.error_code, core.error.code) == (row[1], row[2])
    assert ours.details["recoverable"] is core.error.details["recoverable"] is (row[3] == "yes")
    assert RENDERINGS[fault].repair == (row[4] or None)
    assert ours.details["fault"] == core.error.details["fault"] == row[0]
    assert ours.message == core.error.message == "it went wrong"
    expected = [{"code": row[0], "pointer": "/name", "message": "it went wrong", "cure": "Do otherwise."}]
    assert ours.details["findings"] == core.error.details["findings"] == expected
    assert ours.details.get("cancelled") is (True if fault is Fault.CANCELLED else None)


def test_refusals_are_the_faults_that_are_known_before_anything_runs() -> None:
    ran = {
        "TARGET_NOT_FOUND",
        "SCENE_CONFLICT",
        "IDEMPOTENCY_CONFLICT",
        "TOOL_TIMEOUT",
        "CANCELLED",
        "EXECUTION_FAILED",
    }
    ran |= {"VERIFICATION_FAILED", "WORKER_LOST", "ROLLBACK_FAILED", "INTERNAL_ERROR"}
    assert {fault.value for fault in Fault} - {fault.value for fault in REFUSALS} == ran


def test_a_success_has_all_fields_of_the_execution_model() -> None:
    rendered = tool_result(DONE).model_dump(mode="json")
    assert set(rendered) == {
        *("ok", "error_code", "message", "details", "result", "determinism_class", "seed", "tolerance", "handles"),
        *("fingerprint_before", "fingerprint_after", "snapshot"),
    }
    assert rendered["ok"] is True and rendered["error_code"] is None
    assert rendered["result"] == {"name": "Pivot"}
    assert rendered["handles"] == [{"kind": "objects", "name": "Pivot"}]
    assert (rendered["fingerprint_before"], rendered["fingerprint_after"]) == ("a", "b")
    assert rendered["details"]["changes"] == [{"kind": "objects", "name": "Pivot", "change": "created"}]


def test_both_renderings_of_a_success_say_the_same() -> None:
    ours, core = tool_result(DONE).model_dump(mode="json"), core_envelope(DONE).model_dump(mode="json")
    assert core["ok"] is True and core["error"] is None
    assert core["result"] == {key: value for key, value in ours.items() if key not in ("ok", "error_code", "message")}


def test_the_core_envelope_of_a_failure_has_its_three_fields_and_no_result() -> None:
    core = core_envelope(failed(Fault.ARGS_INVALID)).model_dump(mode="json")
    assert core["ok"] is False and core["result"] is None
    assert set(core["error"]) == {"code", "message", "details"}


@pytest.mark.parametrize("outcome", [DONE, failed(Fault.TOOL_TIMEOUT)], ids=["success", "failure"])
def test_the_trace_has_the_seven_phases_by_number(outcome: Outcome) -> None:
    core = core_envelope(outcome)
    details = core.error.details if core.error else (core.result or {})["details"]
    for trace in (tool_result(outcome).details["trace"], details["trace"]):
        assert [entry["phase"] for entry in trace] == [0, 1, 2, 3, 4, 5, 6]
        names = ["parse", "validate_input", "gate", "plan", "execute", "verify", "return"]
        assert [entry["name"] for entry in trace] == names
        assert all(entry["ms"] == 0.5 for entry in trace)


def test_renderings_are_plain_json() -> None:
    for outcome in (DONE, failed(Fault.CANCELLED)):
        for rendered in (tool_result(outcome), core_envelope(outcome)):
            assert json.loads(json.dumps(rendered.model_dump(mode="json"), allow_nan=False))


BROKEN: dict[str, dict[str, Any]] = {
    "a success with an error code": {"error_code": "conflict"},
    "a failure without one": {"ok": False},
    "a success without a determinism class": {"determinism_class": None},
    "a seeded success without its seed": {"determinism_class": "seeded"},
    "an unknown error code": {"ok": False, "error_code": "oops"},
    "an unknown determinism class": {"determinism_class": "mostly"},
    "a field that nobody knows": {"stack_trace": "..."},
    "a tolerance that is no number": {"tolerance": float("nan")},
}


@pytest.mark.parametrize("case", BROKEN)
def test_an_inconsistent_tool_result_cannot_be_made(case: str) -> None:
    good = tool_result(DONE).model_dump(mode="json")
    assert ToolResult.model_validate(good)
    with pytest.raises(ValidationError):
        ToolResult.model_validate(good | BROKEN[case])


ERROR: dict[str, Any] = {"code": "timeout", "message": "", "details": {}}
BROKEN_CORE: dict[str, dict[str, Any]] = {
    "a success without a result": {"ok": True},
    "a success with an error": {"ok": True, "result": {}, "error": ERROR},
    "a failure without an error": {"ok": False},
    "a failure with a result": {"ok": False, "result": {}, "error": ERROR},
    "a code of the other contract": {"ok": False, "error": ERROR | {"code": "conflict"}},
    "an error with a fourth field": {"ok": False, "error": ERROR | {"trace": ""}},
}


@pytest.mark.parametrize("case", BROKEN_CORE)
def test_an_inconsistent_core_envelope_cannot_be_made(case: str) -> None:
    assert CoreEnvelope.model_validate({"ok": False, "error": ERROR})
    with pytest.raises(ValidationError):
        CoreEnvelope.model_validate(BROKEN_CORE[case])
