"""The steps dialect: payloads into plans, reports into entries with `__meta__` last."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blendwright.dialects import steps
from blendwright.plan.repair import refused
from blendwright.plan.validate import ValidPlan, validate
from blendwright.policy.policy import Limits
from blendwright.policy.refusals import refusal
from blendwright.policy.session_contract import ContractTerms
from blendwright.schemas.published import schema
from blendwright.tools import catalog
from blendwright.values.errors import BlendwrightError
from blendwright.values.faults import Fault
from blendwright.values.report import OperationReport, RunReport
from support.plans.documents import findings, of_steps, step


def op(id: str, status: Any, position: int = 0, **fields: Any) -> OperationReport:
    return OperationReport(id, "mesh.create", status, position, **fields)


def rendered(*listed: OperationReport, status: Any = "failed") -> list[dict[str, Any]]:
    result = steps.render(RunReport("steps", "request", status, listed))
    assert result is not None
    return result


@pytest.mark.proves("STEPS-DOC-01")
def test_the_contract_is_documented_where_it_says_with_every_field_and_status() -> None:
    page = (Path(__file__).parents[2] / "docs" / "architecture" / "plan-execution-contract.md").read_text("utf-8")
    step, meta = (schema("steps_result.v1")["$defs"][name]["properties"] for name in ("step", "meta"))
    payload = schema("steps_payload.v1")["properties"]["steps"]["items"]["properties"]
    words = [*payload, *step, *meta, *meta["stats"]["properties"], *meta["task_status"]["enum"], "__meta__"]
    assert not [word for word in words if f"`{word}`" not in page and f'"{word}"' not in page]
    assert f"Version {steps.CONTRACT_VERSION}" in page


@pytest.mark.proves("STEPS-PAYLOAD-02")
def test_both_forms_of_a_tool_mean_the_same() -> None:
    args = {"kind": "cube", "name": "Box"}
    by_object = of_steps(step("a", tool={"name": "mesh.create_primitive", "args": args})).operations[0]
    by_name = of_steps(step("a", tool="mesh.create_primitive", args=args)).operations[0]
    without = of_steps(step("a", tool="scene.snapshot")).operations[0]
    assert (by_object.tool, by_object.args) == (by_name.tool, by_name.args) == ("mesh.create_primitive", args)
    assert without.args == {}


def test_a_plan_has_the_policies_of_the_dialect() -> None:
    plan = of_steps(step("a"))
    assert (plan.dialect, plan.tie_break, plan.on_failure) == ("steps", "position", "skip_dependents")
    assert plan.on_unknown_tool == "fail_operation"


def test_the_request_id_is_the_hash_of_the_canonical_payload_unless_given() -> None:
    none: list[str] = []
    payload = {"steps": [{"tool": "b", "step_id": "é", "dependencies": none, "args": {"size": 2.0, "a": 1e21}}]}
    canonical = '{"steps":[{"args":{"a":1e+21,"size":2},"dependencies":[],"step_id":"é","tool":"b"}]}'
    assert steps.DIALECT.parse(payload).request_id == hashlib.sha256(canonical.encode()).hexdigest()
    assert steps.DIALECT.parse(payload, request_id="mine").request_id == "mine"


def test_mixed_arguments_are_named_as_such() -> None:
    (finding,) = of_steps(step("a", args={})).findings
    assert finding.message == "a step has both args and tool.args"


@pytest.mark.proves("STEPS-META-01", "STEPS-META-04", "STEPS-META-07")
def test_a_completed_run_in_the_order_of_the_payload() -> None:
    first = op("a", "skipped_idempotent", 0)
    result = rendered(op("b", "succeeded", 1, result={"name": "Box"}), first, status="succeeded")
    assert [entry["step_id"] for entry in result] == ["a", "b", "__meta__"]
    assert result[0]["ok"] and "already done" in result[0]["reason"] and "output" not in result[0]
    assert result[1] == {
        "step_id": "b",
        "tool": "mesh.create",
        "ok": True,
        "skipped": False,
        "reason": None,
        "error": None,
        "output": {"name": "Box"},
    }
    assert result[2] == {
        "step_id": "__meta__",
        "ok": True,
        "skipped": False,
        "reason": None,
        "task_status": "COMPLETED",
        "stats": {"total_steps": 2, "ok": 2, "skipped": 0, "failed": 0},
        "blocked_steps": [],
        "failed_steps": [],
    }


@pytest.mark.proves("STEPS-META-04", "STEPS-META-09")
def test_a_failure_outweighs_what_it_kept_from_running() -> None:
    result = rendered(
        op("a", "rolled_back", 0, fault=Fault.EXECUTION_FAILED, message="Blender raised"),
        op("b", "skipped", 1, message="'a' failed", blocked=True),
        op("c", "succeeded", 2),
        op("d", "failed", 3, fault=Fault.TOOL_NOT_ALLOWED),
    )
    meta = result[-1]
    assert (meta["task_status"], meta["ok"]) == ("FAILED", False)
    assert meta["stats"] == {"total_steps": 4, "ok": 1, "skipped": 1, "failed": 2}
    assert (meta["blocked_steps"], meta["failed_steps"]) == (["b"], ["a", "d"])
    assert (result[0]["error"], result[1]["reason"], result[3]["error"]) == (
        "Blender raised",
        "'a' failed",
        "TOOL_NOT_ALLOWED",
    )


@pytest.mark.proves("STEPS-META-04", "STEPS-META-08")
def test_a_skipped_step_that_nothing_blocked_makes_a_run_partial() -> None:
    skipped = op("b", "skipped", 1, message="approval was declined")
    meta = rendered(op("a", "succeeded"), skipped, status="partial")[-1]
    assert (meta["task_status"], meta["blocked_steps"], meta["ok"]) == ("PARTIAL", [], False)


@pytest.mark.proves("STEPS-META-04", "STEPS-META-10")
def test_unresolved_dependencies_block_everything_before_it_runs() -> None:
    plan = of_steps(step("a"), step("b", "nothing"), step("c", "b"), step("d", "e"), step("e", "d"), step("f", "e"))
    result = steps.render(refused(plan, findings(plan)))
    assert result is not None
    assert all(entry["skipped"] and not entry["ok"] and entry["reason"] for entry in result[:-1])
    assert "nothing" in result[1]["reason"] and "e → d → e" in result[4]["reason"]
    assert (result[-1]["task_status"], result[-1]["blocked_steps"]) == ("BLOCKED", ["b", "c", "d", "e", "f"])
    assert result[-1]["stats"] == {"total_steps": 6, "ok": 0, "skipped": 6, "failed": 0}


def test_a_payload_that_breaks_the_contract_has_findings_and_no_result() -> None:
    plan = of_steps(step("a", "nothing"), step("a"))
    assert steps.render(refused(plan, findings(plan))) is None


def test_an_empty_request_id_is_none() -> None:
    document = {"steps": [step("a")]}
    assert steps.DIALECT.parse(document, request_id="") == steps.DIALECT.parse(document)
    assert len(steps.DIALECT.parse(document).request_id) == 64


@pytest.mark.proves("STEPS-META-01", "STEPS-META-04")
def test_what_the_payload_contract_does_not_speak_of_fails_its_own_step_and_skips_the_rest() -> None:
    wrong = {"name": "object.create_empty", "args": {"nam": "A"}}
    plan = of_steps(step("a"), step("b", tool=wrong), step("c", "b", tool=wrong), step("d", "b"), step("e"))
    assert steps.validate_payload({"steps": [step("a"), step("b", tool=wrong)]}) == ()
    result = steps.render(refused(plan, findings(plan)))
    assert result is not None
    assert [(entry["ok"], entry["skipped"]) for entry in result[:-1]] == [
        (False, True), (False, False), (False, False), (False, True), (False, True)
    ]  # fmt: skip
    assert "unknown field 'nam'" in result[1]["error"] and result[0]["reason"] and result[4]["reason"]
    meta = result[-1]
    assert (meta["task_status"], meta["failed_steps"], meta["blocked_steps"]) == ("FAILED", ["b", "c"], ["d"])


@pytest.mark.proves("STEPS-META-01", "STEPS-META-04")
def test_unresolved_dependencies_come_before_what_else_is_wrong() -> None:
    plan = of_steps(step("a", "nothing"), step("b", tool={"name": "object.create_empty", "args": {"nam": "A"}}))
    result = steps.render(refused(plan, findings(plan)))
    assert result is not None and all(entry["skipped"] for entry in result[:-1])
    assert result[-1]["task_status"] == "BLOCKED"


@pytest.mark.proves("STEPS-META-01")
def test_a_plan_that_is_refused_as_a_whole_says_so_in_meta() -> None:
    plan = of_steps(step("a"), step("b"))
    found = validate(plan, catalog.tools(), ContractTerms(limits=Limits(operations_per_plan=1)))
    assert not isinstance(found, ValidPlan)
    result = steps.render(refused(plan, found))
    assert result is not None and result[-1]["task_status"] == "PARTIAL"
    assert result[-1]["reason"] == "the plan has 2 operations, and 1 are allowed"


@pytest.mark.proves("STEPS-META-04")
def test_a_step_that_is_taken_back_for_the_fault_of_another_has_not_failed() -> None:
    taken = op("a", "rolled_back", message="rolled back, because 'b' did not succeed")
    *entries, meta = rendered(taken, op("b", "failed", 1, message="no"), status="rolled_back")
    assert (entries[0]["skipped"], entries[0]["reason"]) == (True, "rolled back, because 'b' did not succeed")
    assert (meta["task_status"], meta["failed_steps"]) == ("FAILED", ["b"])
    declined = op("b", "refused", 1, message="declined", findings=(refusal("approval_declined", "declined"),))
    *entries, meta = rendered(taken, declined, status="rolled_back")
    assert (meta["task_status"], meta["failed_steps"]) == ("PARTIAL", [])


@pytest.mark.proves("STEPS-VALID-03")
def test_what_a_tool_puts_out_is_no_matter_of_the_validator() -> None:
    deep: Any = 1
    for _ in range(300):
        deep = {"a": deep}
    for output in ({"deep": deep}, {"big": 2**60, "bigger": 10**30}):
        *entries, meta = rendered(op("a", "succeeded", result=output))
        assert entries[0]["output"] == output and meta["task_status"] == "COMPLETED"
        assert steps.validate_result([*entries, meta]) == ()
    assert steps.validate_result([{**entries[0], "reason": 2**60}, meta])


statuses = st.sampled_from(["succeeded", "failed", "rolled_back", "skipped_idempotent", "skipped", "blocked"])


@pytest.mark.proves("STEPS-RESULT-02", "STEPS-RESULT-03", "STEPS-RESULT-04", "STEPS-META-05")
@given(st.lists(statuses, max_size=6), st.booleans())
def test_every_result_passes_the_validator_and_no_part_of_it_can_be_turned(listed: list[str], turn_ok: bool) -> None:
    reports = [
        op(f"s{place}", "skipped" if status == "blocked" else status, place, blocked=status == "blocked")
        for place, status in enumerate(listed)
    ]
    result = rendered(*reports)
    assert steps.validate_result(result) == ()
    for place in range(len(listed)):
        field = "ok" if turn_ok else "skipped"
        turned = [dict(entry) for entry in result]
        turned[place][field] = not turned[place][field]
        assert steps.validate_result(turned), (place, field)
    without_meta = result[:-1]
    assert steps.validate_result(without_meta) and steps.validate_result([result[-1], *without_meta, 0])


@pytest.mark.proves("STEPS-VALID-03")
def test_a_list_that_breaks_its_own_contract_never_leaves() -> None:
    with pytest.raises(BlendwrightError, match="breaks its own contract"):
        rendered(op("__meta__", "succeeded"), status="succeeded")
