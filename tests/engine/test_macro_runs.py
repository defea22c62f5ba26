"""Macros on a real worker: kept or taken back as they declare, told to the caller as one operation, and never done twice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import jsonschema_rs
import pytest

from blendwright.dialects import operations, steps
from blendwright.macros import Macro
from blendwright.schemas.published import schema
from blendwright.values.macro_report import reports_by_caller
from blendwright.values.plan import Plan
from blendwright.values.report import OperationReport
from support.engine.engine import Engine, all_tools
from support.plans.documents import box
from support.plans.macro_documents import NAME, document, empty, macros
from support.plans.named_plans import statuses

HOW: dict[str, Any] = {
    "enum": ["nothing", "fail", "crash"],
    "default": "nothing",
    "description": "How the last step ends.",
}
INPUTS: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["name"],
    "properties": {"name": NAME, "how": HOW},
}
TRIAL = {"title": "the trial", "tool": "trial.misbehave", "args": {"how": "{{how}}", "name": "{{name}} trial"}}


def trio(name: str, *, rollback: bool, **fields: Any) -> dict[str, Any]:
    """Two empties, then a step that fails when it is told to."""
    made = [empty("first", "{{name}} a"), empty("second", "{{name}} b"), TRIAL]
    return document(name, *made, inputs=INPUTS, rollback=rollback, **fields)


FREE = {"kind": "object", "name": "{{name}} a", "exists": False}
THERE = {"kind": "object", "name": "{{name}} b", "type": "EMPTY"}


@pytest.fixture(scope="module")
def known() -> Mapping[str, Macro]:
    return macros(
        trio("test.whole", rollback=True),
        trio("test.loose", rollback=False),
        trio("test.checked", rollback=True, preconditions=[FREE], postconditions=[THERE]),
        trio("test.half", rollback=False, preconditions=[FREE], postconditions=[THERE]),
        trio("test.broken", rollback=True, postconditions=[{"kind": "object", "name": "{{name}} c"}]),
        document(
            "test.outer",
            empty("before", "{{name}} before"),
            {"title": "inner", "tool": "test.whole", "args": {"name": "{{name}}", "how": "{{how}}"}},
            inputs=INPUTS,
            rollback=False,
        ),
        tools=all_tools(),
    )


@pytest.fixture(autouse=True)
def checked(engine: Engine) -> Iterator[None]:
    """After every test the scene that HEAD names is the one in the worker, and the audit chain holds."""
    yield
    assert engine.full_hash() == engine.scene.hash == engine.head().hash_after
    assert engine.journal.audit.verify().ok


def call(id: str, tool: str, name: str, *waits_for: str, how: str = "nothing") -> dict[str, Any]:
    return box(id, *waits_for, tool_name=tool, args={"name": name, "how": how})


def plan_of(request: str, *listed: dict[str, Any], boundary: Any = "operation") -> Plan:
    return operations.DIALECT.parse({"request_id": request, "operations": list(listed)}, boundary=boundary)


def steps_of(request: str, *listed: dict[str, Any]) -> Plan:
    made = [{"step_id": one["operation_id"], "dependencies": one["depends_on"],
             "tool": {"name": one["tool_name"], "args": one["args"]}} for one in listed]  # fmt: skip
    return steps.DIALECT.parse({"steps": made}, request_id=request)


def names(engine: Engine) -> set[str]:
    found = engine.do("scene.find", {}).result
    assert found is not None
    return {entry["name"] for entry in found["objects"]}


def empties(*listed: str) -> list[dict[str, Any]]:
    return [box(f"e{name.replace(' ', '_')}", tool_name="object.create_empty", args={"name": name}) for name in listed]


def test_a_macro_is_one_operation_for_its_caller_and_its_steps_are_in_the_report(
    engine: Engine, known: Mapping[str, Macro]
) -> None:
    report = engine.run(plan_of("one", call("m", "test.checked", "One"), *empties("One z")), macros=known)
    assert report.ok
    assert list(statuses(report)) == ["eOne_z", "m.001", "m.002", "m.003", "m.004", "m.005"]
    result = operations.render(report)
    assert [receipt["operation_id"] for receipt in result["receipts"]] == ["eOne_z", "m"]
    macro = result["receipts"][1]
    assert macro["tool_name"] == "test.checked" and macro["status"] == "succeeded"
    assert [step["title"] for step in macro["steps"]] == [
        "preconditions",
        "first",
        "second",
        "the trial",
        "postconditions",
    ]
    assert macro["scene_hash_before"] == report.operations[1].scene_hash_before
    assert macro["scene_hash_after"] == engine.scene.hash
    jsonschema_rs.validate(schema("run_report.v1"), report.to_json())


def test_a_plan_with_macros_run_again_does_nothing_even_where_conditions_no_longer_hold(
    engine: Engine, known: Mapping[str, Macro]
) -> None:
    for tool in ("test.checked", "test.half"):
        plan = plan_of(f"again {tool}", call("m", tool, f"Again {tool}"))
        assert engine.run(plan, macros=known).ok
        # The precondition is false by now, and what the postcondition speaks of is taken away.
        engine.do("object.delete", {"name": f"Again {tool} b"})
        before = engine.scene.hash
        report = engine.run(plan, macros=known)
        assert set(statuses(report).values()) == {"skipped_idempotent"}, report.to_json()
        assert operations.render(report)["receipts"][0]["status"] == "skipped_idempotent"
        assert engine.scene.hash == before


@pytest.mark.proves("CORE-MACRO-03")
def test_a_group_is_taken_back_as_a_whole_and_the_journal_says_so(engine: Engine, known: Mapping[str, Macro]) -> None:
    engine.run(plan_of("kept", *empties("Kept")))
    before, seen = engine.scene.hash, len(engine.records())
    report = engine.run(plan_of("whole", call("m", "test.whole", "Whole", how="fail")), macros=known)
    assert statuses(report) == {"m.001": "rolled_back", "m.002": "rolled_back", "m.003": "failed"}
    assert report.status == "failed"
    assert engine.scene.hash == engine.full_hash() == before
    records = [(record["operation_id"], record["status"]) for record in engine.records()[seen:]]
    assert records == [
        ("m.001", "succeeded"),
        ("m.002", "succeeded"),
        ("m.003", "rolled_back"),
        ("m.002", "rolled_back"),
        ("m.001", "rolled_back"),
    ]
    payload = operations.render(report)
    assert payload["error_code"] == "SCENE_CONFLICT"
    assert payload["minimal_repair_plan"] == [{"operation_id": "m", "action": "replace_args"}]
    assert "step 3 of 3 of test.whole, the trial" in payload["retry_hint"] and "were undone" in payload["retry_hint"]
    assert report.operations[2].findings[0].pointer == "/operations/0/args/how"


def test_what_was_taken_back_may_be_done_again_under_the_same_ids(engine: Engine, known: Mapping[str, Macro]) -> None:
    engine.run(plan_of("retry", call("m", "test.whole", "Retry", how="crash")), macros=known)
    assert "Retry a" not in names(engine)
    report = engine.run(plan_of("retry", call("m", "test.whole", "Retry")), macros=known)
    assert report.ok and {"Retry a", "Retry b"} <= names(engine)


@pytest.mark.proves("CORE-MACRO-01")
def test_without_rollback_a_failing_step_stops_the_later_ones_and_what_was_done_is_told(
    engine: Engine, known: Mapping[str, Macro]
) -> None:
    waiting = box("w", "m", args={"kind": "cube", "name": "Loose w"})
    plan = steps_of("loose", call("m", "test.half", "Loose", how="fail"), *empties("Loose free"), waiting)
    report = engine.run(plan, macros=known)
    assert statuses(report) == {
        "m.001": "succeeded",
        "m.002": "succeeded",
        "m.003": "succeeded",
        "m.004": "failed",
        "m.005": "skipped",
        "eLoose_free": "succeeded",
        "w": "skipped",
    }
    assert {"Loose a", "Loose b", "Loose free"} <= names(engine) and "Loose w" not in names(engine)
    result = steps.render(report)
    assert result is not None
    assert [(entry["step_id"], entry["ok"], entry["skipped"]) for entry in result[:-1]] == [
        ("m", False, False),
        ("eLoose_free", True, False),
        ("w", False, True),
    ]
    assert "the changes of these steps remain: 2 (first), 3 (second)" in result[0]["error"]
    assert result[-1]["failed_steps"] == ["m"] and result[-1]["blocked_steps"] == ["w"]
    assert result[2]["reason"] == "waits for 'm', which failed", "nobody outside knows the steps of a macro"


def test_after_a_group_was_taken_back_independent_steps_go_on(engine: Engine, known: Mapping[str, Macro]) -> None:
    plan = steps_of("on", *empties("On first"), call("m", "test.whole", "On", how="fail"), *empties("On last"))
    seen: list[str] = []

    def watch(one: OperationReport) -> None:
        seen.append(f"{one.operation_id} {one.status}")

    report = engine.run(plan, macros=known, progress=watch)
    assert statuses(report) == {
        "eOn_first": "succeeded",
        "m.001": "rolled_back",
        "m.002": "rolled_back",
        "m.003": "failed",
        "eOn_last": "succeeded",
    }
    assert {"On first", "On last"} <= names(engine) and "On a" not in names(engine)
    # Nothing of a group is acknowledged before it is known whether it stays.
    assert "m.001 succeeded" not in seen and "m.001 rolled_back" in seen


def test_a_postcondition_that_does_not_hold_fails_the_macro(engine: Engine, known: Mapping[str, Macro]) -> None:
    before = engine.scene.hash
    report = engine.run(plan_of("post", call("m", "test.broken", "Post")), macros=known)
    (asked,) = reports_by_caller(report.operations)
    assert asked.fault == "VERIFICATION_FAILED" and "postconditions" in asked.message
    assert engine.scene.hash == before


def test_a_precondition_that_does_not_hold_keeps_every_step_from_running(
    engine: Engine, known: Mapping[str, Macro]
) -> None:
    engine.run(plan_of("there", *empties("There a")))
    before = engine.scene.hash
    report = engine.run(plan_of("pre", call("m", "test.half", "There")), macros=known)
    assert list(statuses(report).values()) == ["failed", "skipped", "skipped", "skipped", "skipped"]
    assert reports_by_caller(report.operations)[0].fault == "SCENE_CONFLICT"
    assert engine.scene.hash == before


def test_an_inner_group_is_taken_back_alone_and_the_rest_of_the_outer_stays(
    engine: Engine, known: Mapping[str, Macro]
) -> None:
    report = engine.run(plan_of("nest", call("m", "test.outer", "Nest", how="fail")), macros=known)
    assert list(statuses(report).values()) == ["succeeded", "rolled_back", "rolled_back", "failed"]
    assert "Nest before" in names(engine) and "Nest a" not in names(engine)


def test_a_plan_kept_whole_takes_its_macros_along(engine: Engine, known: Mapping[str, Macro]) -> None:
    before = engine.scene.hash
    plan = plan_of("all", call("a", "test.whole", "All"), call("b", "test.loose", "All b", how="fail"), boundary="plan")
    report = engine.run(plan, macros=known)
    assert report.status == "rolled_back" and engine.scene.hash == before
    assert [one.status for one in reports_by_caller(report.operations)] == ["rolled_back", "failed"]


def test_other_inputs_under_the_same_ids_are_a_conflict_of_the_callers_operation(
    engine: Engine, known: Mapping[str, Macro]
) -> None:
    assert engine.run(plan_of("clash", call("m", "test.whole", "Clash")), macros=known).ok
    report = engine.run(plan_of("clash", call("m", "test.whole", "Clash other")), macros=known)
    payload = operations.render(report)
    assert payload["error_code"] == "IDEMPOTENCY_CONFLICT"
    assert payload["minimal_repair_plan"] == [{"operation_id": "m", "action": "replace_args"}]


def test_receipts_of_the_journal_fit_what_is_published(engine: Engine) -> None:
    validator = jsonschema_rs.validator_for(schema("receipt.v1"))
    receipts = [commit.receipt for commit in engine.journal.log(limit=500) if commit.kind == "operation"]
    assert len(receipts) > 10
    for receipt in receipts:
        validator.validate(dict(receipt))
