"""The operations dialect: documents into plans, reports into receipts or the failure payload."""

from __future__ import annotations

from typing import Any

import pytest

from blendwright.dialects import operations
from blendwright.plan.repair import minimal_repair, refused
from blendwright.schemas.published import schema
from blendwright.values.errors import BlendwrightError
from blendwright.values.faults import RENDERINGS, Fault
from blendwright.values.findings import Finding
from blendwright.values.plan import Plan
from blendwright.values.report import OperationReport, Repair, RunReport
from support.plans.documents import box, findings, of_operations


def done(id: str, **fields: Any) -> OperationReport:
    fields = {"safety_level": "safe_write"} | fields
    return OperationReport(id, "mesh.create_primitive", "succeeded", 0, **fields)


def report(*listed: OperationReport, status: Any = "failed", repair: tuple[Repair, ...] = ()) -> RunReport:
    return RunReport("operations", "request", status, listed, repair=repair)


def refusal(plan: Plan) -> dict[str, Any]:
    return operations.render(refused(plan, findings(plan)))


@pytest.mark.proves("OPS-CORR-01")
def test_a_plan_keeps_request_order_and_policies() -> None:
    plan = of_operations(box("b"), box("a", "b"))
    assert (plan.dialect, plan.request_id, plan.tie_break, plan.on_failure) == ("operations", "request", "id", "stop")
    assert [(operation.id, operation.pointer) for operation in plan.operations] == [
        ("b", "/operations/0"),
        ("a", "/operations/1"),
    ]


def test_a_request_id_from_outside_must_be_the_plans_own() -> None:
    document = {"request_id": "mine", "operations": [box("a")]}
    assert operations.DIALECT.parse(document, request_id="mine").findings == ()
    (finding,) = operations.DIALECT.parse(document, request_id="other").findings
    assert finding.pointer == "/request_id" and "other" in finding.message


@pytest.mark.proves("OPS-RESULT-01")
def test_a_success_has_a_receipt_for_every_operation() -> None:
    stored = {"status": "succeeded", "commit": 7, "mcp_call_id": "call-1"}
    first = done("a", scene_hash_before="1", scene_hash_after="2", blender_mutation_id="m", result={"name": "Box"})
    again = OperationReport("b", "t", "skipped_idempotent", 1, safety_level="read_only", receipt=stored)
    result = operations.render(report(first, again, status="succeeded"))
    assert (result["request_id"], result["status"]) == ("request", "succeeded")
    one, other = result["receipts"]
    assert one["operation_id"] == "a" and one["scene_hash_after"] == "2" and one["blender_mutation_id"] == "m"
    assert other["status"] == "skipped_idempotent" and other["commit"] == 7 and other["mcp_call_id"] == "call-1"


@pytest.mark.proves("OPS-RESULT-02")
@pytest.mark.parametrize("status", ["failed", "rolled_back", "skipped", "refused"])
def test_a_report_cannot_call_itself_a_success_when_an_operation_was_not_done(status: Any) -> None:
    with pytest.raises(ValueError, match="has not succeeded"):
        report(done("a"), OperationReport("b", "t", status, 1), status="succeeded")


@pytest.mark.proves("OPS-FAIL-04")
@pytest.mark.parametrize("fault", list(Fault))
def test_every_fault_is_answered_by_the_four_fields(fault: Fault) -> None:
    finding = Finding(fault, "it happened", "/operations/0/args", "Do something else.")
    failed = OperationReport("a", "t", "failed", 0, fault=fault, message="it happened", findings=(finding,))
    repair = minimal_repair(of_operations(box("a")), (finding,)) if RENDERINGS[fault].recoverable else ()
    payload = operations.render(report(failed, repair=repair))
    assert payload == {
        "error_code": fault.value,
        "recoverable": bool(repair),
        "retry_hint": "/operations/0/args: it happened. Do something else.",
        "minimal_repair_plan": [entry.to_json() for entry in repair],
    }


@pytest.mark.proves("OPS-FAIL-02")
def test_the_published_codes_are_the_faults() -> None:
    assert schema("failure_payload.v1")["properties"]["error_code"]["enum"] == [fault.value for fault in Fault]
    named = {
        "SCHEMA_INVALID",
        "GRAPH_CYCLE",
        "TOOL_TIMEOUT",
        "IDEMPOTENCY_CONFLICT",
        "ROLLBACK_FAILED",
        "POLICY_BLOCKED",
    }
    assert named <= {fault.value for fault in Fault}


@pytest.mark.proves("OPS-FAIL-06")
def test_the_code_is_that_of_the_first_fault_in_schedule_order_and_the_repair_covers_all() -> None:
    plan = of_operations(box("z", tool_name="no.such"), box("b", "a", safety_level="read_only"), box("a", args={}))
    payload = refusal(plan)
    assert payload["error_code"] == "ARGS_INVALID"
    assert payload["retry_hint"].startswith("/operations/2/args")
    assert "3 more" in payload["retry_hint"]
    assert payload["minimal_repair_plan"] == [
        {"operation_id": "z", "action": "drop"},
        {"operation_id": "b", "action": "replace_args"},
        {"operation_id": "a", "action": "replace_args"},
    ]


def test_what_is_wrong_with_the_whole_plan_comes_first() -> None:
    payload = refusal(of_operations(box("a", tool_name="no.such"), extra=1))
    assert payload["error_code"] == "SCHEMA_INVALID" and payload["retry_hint"].startswith("/extra")


@pytest.mark.parametrize("document", [None, 5, [], {}, {"operations": 5}, {"operations": [5, None]}, {1: 2}])
def test_whatever_is_no_plan_is_answered_by_the_payload_too(document: Any) -> None:
    payload = refusal(operations.DIALECT.parse(document))
    assert payload["error_code"] == "SCHEMA_INVALID"
    assert payload["recoverable"] is False and payload["minimal_repair_plan"] == []


@pytest.mark.proves("OPS-FAIL-04")
def test_a_failed_rollback_outweighs_what_led_to_it() -> None:
    why = Finding(Fault.EXECUTION_FAILED, "Blender raised", "/operations/0")
    lost = Finding(Fault.ROLLBACK_FAILED, "no way back", "/operations/0")
    failed = OperationReport("a", "t", "failed", 0, fault=Fault.EXECUTION_FAILED, findings=(why, lost))
    payload = operations.render(report(failed))
    assert (payload["error_code"], payload["recoverable"]) == ("ROLLBACK_FAILED", False)


def test_a_long_message_becomes_a_short_hint() -> None:
    finding = Finding(Fault.EXECUTION_FAILED, "x" * 5000, "/operations/0", "y" * 5000)
    failed = OperationReport("a", "t", "failed", 0, fault=Fault.EXECUTION_FAILED, findings=(finding, finding))
    assert len(operations.render(report(failed))["retry_hint"]) <= 500


@pytest.mark.proves("OPS-RESULT-03")
def test_a_run_ends_in_one_of_two_documents_and_never_in_both() -> None:
    made = done("a", scene_hash_before="1", scene_hash_after="2", blender_mutation_id="m", result={"name": "Box"})
    bad = OperationReport("b", "t", "failed", 1, fault=Fault.EXECUTION_FAILED, message="it happened")
    assert set(operations.render(report(made, status="succeeded"))) == {"request_id", "status", "receipts"}
    assert set(operations.render(report(made, bad))) == {
        "error_code",
        "recoverable",
        "retry_hint",
        "minimal_repair_plan",
    }


def test_a_result_that_breaks_its_own_contract_never_leaves() -> None:
    with pytest.raises(BlendwrightError, match="breaks its own contract"):
        operations.render(report(done("a", safety_level=None), status="succeeded"))
