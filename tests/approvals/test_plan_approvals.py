"""A person is asked about operations of a plan: what the rest of it waits for, and what a plan may not say itself."""

from __future__ import annotations

import json
from typing import Any

import pytest

from blendwright.dialects import operations, steps
from blendwright.policy.policy import AuditSettings, Levels, Policy, Rules, Verdict
from blendwright.policy.redaction import redacted
from blendwright.util.cancel import CancelToken
from blendwright.values.approval import ApprovalAnswer, ApprovalRequest, Approver
from blendwright.values.faults import Fault
from support.engine.approval_calls import GRANTED, Clock, Person, Slow, answer, delete, numbers, rules_of, thing
from support.engine.engine import Engine
from support.plans.named_plans import statuses


def plan_of(request: str, *listed: dict[str, Any]) -> Any:
    return operations.DIALECT.parse({"request_id": request, "operations": list(listed)})


def op(id: str, tool: str, args: dict[str, Any], *waits: str, level: str = "safe_write") -> dict[str, Any]:
    return {"operation_id": id, "tool_name": tool, "args": args, "depends_on": list(waits), "safety_level": level}


def empty(id: str, *waits: str) -> dict[str, Any]:
    return op(id, "object.create_empty", {"name": f"E {id} {next(numbers)}"}, *waits)


@pytest.mark.proves("OPS-SAFETY-02")
def test_a_plan_that_nobody_can_be_asked_about_is_refused_before_anything_runs(asking: Engine) -> None:
    name, before = thing(asking), asking.head().number
    listed = [empty("a"), op("b", "object.delete", {"name": name}, "a", level="destructive")]
    report = asking.run(plan_of("nobody", *listed))
    assert report.status == "refused" and statuses(report) == {"a": "skipped", "b": "refused"}
    assert asking.head().number == before
    (finding,) = report.all_findings()
    assert finding.rule == "approval_missing" and finding.pointer == "/operations/1"
    answer(asking, (finding.cure or "").split("`")[1].split()[2])
    again = asking.run(plan_of("nobody", *listed))
    assert again.ok and again.operations[1].receipt is not None
    assert again.operations[1].receipt["approval"]


def test_an_approval_does_not_hold_for_an_altered_plan(asking: Engine) -> None:
    name, other = thing(asking), thing(asking)
    report = asking.run(plan_of("altered", op("b", "object.delete", {"name": name}, level="destructive")))
    (finding,) = report.all_findings()
    answer(asking, (finding.cure or "").split("`")[1].split()[2])
    for changed in (
        plan_of("altered", op("b", "object.delete", {"name": other}, level="destructive")),
        plan_of("altered", op("c", "object.delete", {"name": name}, level="destructive")),
        plan_of("another", op("b", "object.delete", {"name": name}, level="destructive")),
    ):
        assert asking.run(changed).status == "refused"


def test_the_window_drains_before_a_person_is_asked(asking: Engine) -> None:
    name, person = thing(asking), Person(asking, ApprovalAnswer.APPROVED)
    listed = [empty(f"a{number}") for number in range(5)]
    listed += [op("b", "object.delete", {"name": name}, "a4", level="destructive"), empty("c", "b")]
    report = asking.run(plan_of("drains", *listed), approver=Approver(person))
    assert report.ok
    assert person.committed == ["a4"], "everything before it was committed when the question came"


def test_a_question_that_is_left_open_in_the_middle_of_a_run_fits_the_next_run(asking: Engine) -> None:
    """What came before it is committed by then, so the next run starts from another scene than this one did."""
    name = thing(asking)
    listed = [empty("a"), op("b", "object.delete", {"name": name}, "a", level="destructive")]
    report = asking.run(plan_of("left", *listed), approver=Approver(Person(asking, ApprovalAnswer.NONE)))
    assert statuses(report) == {"a": "succeeded", "b": "refused"}
    (finding,) = report.all_findings()
    answer(asking, (finding.cure or "").split("`")[1].split()[2])
    again = asking.run(plan_of("left", *listed))
    assert statuses(again) == {"a": "skipped_idempotent", "b": "succeeded"}


class Distracted(Person):
    """Says the same to every question, and another client commits something during the first one."""

    def ask(self, request: ApprovalRequest, *, cancel: CancelToken | None = None) -> ApprovalAnswer:
        if not self.asked:
            thing(self._engine)
        return super().ask(request, cancel=cancel)


@pytest.mark.parametrize("boundary", ["operation", "plan"])
def test_a_yes_counts_for_the_scene_that_was_asked_about(asking: Engine, boundary: Any) -> None:
    name, person = thing(asking), Distracted(asking, ApprovalAnswer.APPROVED)
    listed = [empty("a"), op("b", "object.delete", {"name": name}, "a", level="destructive"), empty("c", "b")]
    document = {"request_id": f"distracted {name}", "operations": listed}
    report = asking.run(operations.DIALECT.parse(document, boundary=boundary), approver=Approver(person))
    begun = "succeeded" if boundary == "operation" else "skipped"
    assert statuses(report) == {"a": begun, "b": "refused", "c": "skipped"} and len(person.asked) == 1
    report = asking.run(operations.DIALECT.parse(document, boundary=boundary), approver=Approver(person))
    assert statuses(report)["b"] == statuses(report)["c"] == "succeeded" and len(person.asked) == 2
    hashes = {request.operation_hash for request in person.asked}
    assert len(hashes) == 2, "each is another question"
    used = [stored for hash in hashes for stored in asking.journal.approvals.listed(hash) if stored.state == "used"]
    assert len(used) == 1, "the answer that did not count was not spent"
    assert asking.journal.audit.verify().ok and asking.full_hash() == asking.session.scene.hash


def test_declined_in_a_plan_of_operations_nothing_later_runs(asking: Engine) -> None:
    name = thing(asking)
    listed = [empty("a"), op("b", "object.delete", {"name": name}, "a", level="destructive"), empty("c")]
    report = asking.run(plan_of("stops", *listed), approver=Approver(Person(asking, ApprovalAnswer.DECLINED)))
    assert statuses(report) == {"a": "succeeded", "b": "refused", "c": "skipped"}
    payload = operations.render(report)
    assert payload["error_code"] == "POLICY_BLOCKED"
    assert payload["minimal_repair_plan"] == [{"operation_id": "b", "action": "drop"}]


def steps_plan(name: str, *, dependent: bool) -> Any:
    """One step that a person is asked about, one that waits for it where `dependent`, and one that waits for nothing."""
    listed: list[dict[str, Any]] = [
        {"step_id": "a", "dependencies": [], "tool": {"name": "object.delete", "args": {"name": name}}},
        {"step_id": "c", "dependencies": [], "tool": {"name": "object.create_empty", "args": {"name": f"C {name}"}}},
    ]
    if dependent:
        waiting = {"name": "object.create_empty", "args": {"name": f"B {name}"}}
        listed.append({"step_id": "b", "dependencies": ["a"], "tool": waiting})
    return steps.DIALECT.parse({"steps": listed})


@pytest.mark.proves("STEPS-META-08")
@pytest.mark.proves("STEPS-META-10")
@pytest.mark.parametrize("dependent", [False, True], ids=["alone", "with dependents"])
@pytest.mark.parametrize("how", ["refused", "declined", "expired"])
def test_steps_that_wait_for_what_nobody_allowed_are_blocked_and_without_any_the_plan_is_partial(
    engine: Engine, clock: Clock, how: str, dependent: bool
) -> None:
    with engine.under(Policy(policy=Rules(approval_seconds=60))) as asking:
        people = {
            "refused": Approver(),
            "declined": Approver(Person(asking, ApprovalAnswer.DECLINED)),
            "expired": Approver(Slow(asking, ApprovalAnswer.APPROVED, clock)),
        }
        report = asking.run(steps_plan(thing(asking), dependent=dependent), approver=people[how])
    *entries, meta = steps.render(report) or []
    ran = how != "refused"  # where nobody can be asked nothing runs at all
    expected = {"a": (False, True), "c": (ran, not ran)} | ({"b": (False, True)} if dependent else {})
    assert {entry["step_id"]: (entry["ok"], entry["skipped"]) for entry in entries} == expected
    assert meta["task_status"] == ("BLOCKED" if dependent else "PARTIAL") and not meta["ok"]
    assert (meta["blocked_steps"], meta["failed_steps"]) == (["b"] if dependent else [], [])
    assert meta["stats"]["failed"] == 0 and meta["reason"]


def test_declined_takes_a_whole_plan_back(asking: Engine) -> None:
    name, before = thing(asking), asking.full_hash()
    listed = [empty("a"), op("b", "object.delete", {"name": name}, "a", level="destructive")]
    document = {"request_id": "whole", "operations": listed}
    report = asking.run(
        operations.DIALECT.parse(document, boundary="plan"), approver=Approver(Person(asking, ApprovalAnswer.DECLINED))
    )
    assert statuses(report) == {"a": "rolled_back", "b": "refused"}
    assert asking.full_hash() == before and asking.journal.audit.verify().ok


def test_what_is_granted_beforehand_waits_for_nobody_and_is_recorded_operation_by_operation(asking: Engine) -> None:
    names = [thing(asking) for _ in range(5)]
    listed = [op(f"d{at}", "object.delete", {"name": name}, level="destructive") for at, name in enumerate(names)]
    report = asking.run(plan_of("granted", *listed), approver=GRANTED)
    assert report.ok
    marks = [record.get("approval_by") for record in asking.records()[-5:]]
    assert marks == ["command line"] * 5
    assert len({record["approval_id"] for record in asking.records()[-5:]}) == 5


@pytest.mark.parametrize("field", ["approval", "approved", "approve", "approval_id"])
def test_a_plan_that_carries_an_approval_is_refused(field: str) -> None:
    bare = op("b", "object.delete", {"name": "Box"}, level="destructive")
    for document in (
        {"request_id": "r", "operations": [bare | {field: True}]},
        {"request_id": "r", "operations": [bare], field: ["destructive"]},
    ):
        assert operations.DIALECT.parse(document).findings
    step: dict[str, Any] = {
        "step_id": "a",
        "dependencies": [],
        "tool": {"name": "object.delete", "args": {"name": "Box"}},
    }
    assert steps.DIALECT.parse({"steps": [step | {field: "abcdefgh"}]}).findings
    assert steps.DIALECT.parse({"steps": [step], field: "abcdefgh"}).findings


def test_a_call_whose_arguments_carry_an_approval_is_refused(asking: Engine) -> None:
    outcome = asking.call("object.delete", {"name": thing(asking), "approved": True})
    assert outcome.fault is Fault.ARGS_INVALID


def test_a_denied_level_is_not_asked_about(engine: Engine) -> None:
    with engine.under(Policy(policy=Rules(levels=Levels(destructive=Verdict.DENY)))) as strict:
        person = Person(strict, ApprovalAnswer.APPROVED)
        outcome = delete(strict, thing(strict), approver=Approver(person, GRANTED.grants))
        assert rules_of(outcome) == ["level_denied"] and not person.asked


def test_a_question_does_not_tell_what_is_to_be_redacted(engine: Engine) -> None:
    with engine.under(Policy(audit=AuditSettings(redact=("name",)))) as silent:
        name, person = thing(silent), Person(silent, ApprovalAnswer.DECLINED)
        delete(silent, name, approver=Approver(person))
        (request,) = person.asked
        assert request.what.startswith("object.delete") and name not in request.what


def test_what_is_to_be_redacted_is_not_shown() -> None:
    args = {"name": "x", "Token": "abc", "deep": [{"password": 1, "kept": 2}]}
    shown = redacted(args, ("token", "password"))
    assert "abc" not in json.dumps(shown) and shown["deep"][0]["kept"] == 2 and shown["deep"][0]["password"] != 1
