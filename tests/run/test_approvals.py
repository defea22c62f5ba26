"""A person is asked: what an answer is worth, what becomes of the run without one, and what is kept of it."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from blendwright.dialects import operations, steps
from blendwright.journal import approvals as kept
from blendwright.policy.approvals import ApprovalAnswer, ApprovalRequest, Approver
from blendwright.policy.policy import AuditSettings, Levels, Policy, Rules, Verdict
from blendwright.policy.redaction import redacted
from blendwright.values.cancel import CancelToken
from blendwright.values.faults import Fault
from blendwright.values.outcome import Outcome
from engine import Engine
from run.named_plans import statuses

GRANTED = Approver(grants=frozenset({"destructive"}))
numbers = iter(range(1000))


class Person:
    """Says the same to every question, and remembers what the journal held when it was asked."""

    name = "person"

    def __init__(self, engine: Engine, answer: ApprovalAnswer) -> None:
        self._engine = engine
        self._answer = answer
        self.asked: list[ApprovalRequest] = []
        self.committed: list[str] = []

    def ask(self, request: ApprovalRequest, *, cancel: CancelToken | None = None) -> ApprovalAnswer:
        self.asked.append(request)
        self.committed.append(self._engine.head().operation_id)
        return self._answer


@pytest.fixture
def asking(engine: Engine) -> Iterator[Engine]:
    """The engine under the default policy: what destroys is asked about."""
    with engine.under(Policy()):
        yield engine


def thing(engine: Engine) -> str:
    name = f"Thing {next(numbers)}"
    engine.do("object.create_empty", {"name": name})
    return name


def delete(engine: Engine, name: str, **options: Any) -> Outcome:
    return engine.call("object.delete", {"name": name}, **options)


def id_of(outcome: Outcome) -> str:
    cure = outcome.findings[0].cure or ""
    return cure.split("`")[1].split()[2]


def answer(engine: Engine, id: str, given: ApprovalAnswer = ApprovalAnswer.APPROVED) -> None:
    kept.answer(engine.place / "workspace", id, given, "blendwright approve")


def rules_of(outcome: Outcome) -> list[str | None]:
    return [finding.rule for finding in outcome.findings]


# ---------------------------------------------------------------------- single calls


def test_without_anyone_to_ask_the_call_is_refused_and_says_how_to_allow_it(asking: Engine) -> None:
    name = thing(asking)
    before = asking.full_hash()
    outcome = delete(asking, name)
    assert outcome.fault is Fault.POLICY_BLOCKED and rules_of(outcome) == ["approval_missing"]
    assert "--approve destructive" in (outcome.findings[0].cure or "")
    assert asking.full_hash() == before
    assert delete(asking, name).findings[0].cure == outcome.findings[0].cure, "the same question is not asked twice"


def test_an_approval_given_elsewhere_is_good_for_that_call_once(asking: Engine) -> None:
    name = thing(asking)
    id = id_of(delete(asking, name))
    answer(asking, id)
    assert delete(asking, name).ok
    assert asking.records()[-1]["approval_id"] == id
    assert asking.records()[-1]["approval_answer"] == "approved"
    assert asking.head().receipt["approval"] == id
    asking.do("object.create_empty", {"name": name})
    again = delete(asking, name)
    assert rules_of(again) == ["approval_missing"]
    assert f"approval {id} was used already" in again.message
    with pytest.raises(Exception, match="was used already"):
        answer(asking, id)


def test_an_approval_is_for_the_very_call_and_the_very_scene(asking: Engine) -> None:
    name, other = thing(asking), thing(asking)
    answer(asking, id_of(delete(asking, name)))
    assert not delete(asking, other).ok
    assert not asking.call("object.delete", {"name": name, "keep_data": True}).ok
    asking.do("object.create_empty", {"name": f"{name} moved on"})
    assert not delete(asking, name).ok, "the scene is another one since"


class Clock:
    """The time of day as the core reads it, which a test can put forward."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self._ahead, real = 0.0, time.time
        patch.setattr(time, "time", lambda: real() + self._ahead)

    def forward(self, seconds: float) -> None:
        self._ahead += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def test_an_approval_expires_whether_given_or_not(engine: Engine, clock: Clock) -> None:
    with engine.under(Policy(policy=Rules(approval_seconds=60))) as quick:
        name = thing(quick)
        given, late = id_of(delete(quick, name)), id_of(quick.call("object.delete", {"name": name, "keep_data": True}))
        answer(quick, given)
        (waiting,) = [one for one in quick.journal.approvals() if one.request.id == late]
        assert waiting.request.expires <= time.time() + 60
        clock.forward(60)
        outcome = delete(quick, name)
        assert not outcome.ok and f"approval {given} has expired" in outcome.message
        with pytest.raises(Exception, match="has expired"):
            answer(quick, late)


class Slow(Person):
    """Thinks until the question has expired."""

    def __init__(self, engine: Engine, says: ApprovalAnswer, clock: Clock) -> None:
        super().__init__(engine, says)
        self._clock = clock

    def ask(self, request: ApprovalRequest, *, cancel: CancelToken | None = None) -> ApprovalAnswer:
        self._clock.forward(60)
        return super().ask(request, cancel=cancel)


def test_a_yes_that_comes_too_late_is_none(engine: Engine, clock: Clock) -> None:
    with engine.under(Policy(policy=Rules(approval_seconds=60))) as quick:
        name = thing(quick)
        person, head = Slow(quick, ApprovalAnswer.APPROVED, clock), quick.head().number
        outcome = delete(quick, name, approver=Approver(person))
        assert len(person.asked) == 1 and rules_of(outcome) == ["approval_missing"]
        assert quick.head().number == head


def test_a_grant_must_cover_everything_that_is_asked_about(engine: Engine) -> None:
    """A file in a root that asks, written by a tool that is asked about by name: either grant alone is not enough."""
    place, target = str(engine.place), engine.place / "both.stl"
    engine.do("mesh.create_primitive", {"kind": "cube", "name": f"Solid {next(numbers)}"})
    with engine.under(Policy(policy=Rules(tools={"file.export": Verdict.ASK}))) as named:
        named.roots = {place: Verdict.ASK}
        try:
            for grants in ({"file.export"}, {place}, {"safe_write", "destructive"}):
                refused = named.call("file.export", {"path": str(target)}, approver=Approver(grants=frozenset(grants)))
                assert rules_of(refused) == ["approval_missing"] and not target.exists(), grants
            both = Approver(grants=frozenset({"file.export", place}))
            assert named.call("file.export", {"path": str(target)}, approver=both).ok and target.exists()
        finally:
            named.roots = {}


def test_a_grant_for_the_level_covers_what_is_asked_for_its_level_alone(engine: Engine) -> None:
    with engine.under(Policy(policy=Rules(tools={"object.delete": Verdict.ASK}))) as named:
        name = thing(named)
        assert not delete(named, name, approver=GRANTED).ok
        assert delete(named, name, approver=Approver(grants=frozenset({"object.delete"}))).ok


def test_a_rule_for_the_tool_takes_the_place_of_that_for_its_level(engine: Engine) -> None:
    policy = Policy(policy=Rules(tools={"object.*": Verdict.ALLOW, "object.rename": Verdict.DENY}))
    with engine.under(policy) as named:
        name = thing(named)
        refused = named.call("object.rename", {"name": name, "new_name": "Other"}, approver=GRANTED)
        assert rules_of(refused) == ["tool_denied"]
        assert delete(named, name).ok


def test_a_file_in_a_root_that_asks_is_asked_about(engine: Engine) -> None:
    target = engine.place / "asked.stl"
    engine.do("mesh.create_primitive", {"kind": "cube", "name": f"Solid {next(numbers)}"})
    engine.roots = {str(engine.place): Verdict.ASK}
    try:
        outcome = engine.call("file.export", {"path": str(target)})
        assert rules_of(outcome) == ["approval_missing"] and str(engine.place) in outcome.message
        assert not target.exists()
        granted = Approver(grants=frozenset({str(engine.place)}))
        assert engine.call("file.export", {"path": str(target)}, approver=granted).ok and target.exists()
    finally:
        engine.roots = {}


def test_a_file_is_replaced_only_when_a_person_allows_it(asking: Engine) -> None:
    target = asking.place / "replaced.blend"
    target.write_bytes(b"precious")
    replacing = {"path": str(target), "overwrite": True}
    assert rules_of(asking.call("file.export", replacing)) == ["approval_missing"]
    person = Person(asking, ApprovalAnswer.DECLINED)
    declined = asking.call("file.export", replacing, approver=Approver(person))
    assert person.asked[0].safety_level == "destructive"
    assert rules_of(declined) == ["approval_declined"] and target.read_bytes() == b"precious"
    assert asking.call("file.export", replacing, approver=GRANTED).ok and target.read_bytes() != b"precious"


def test_a_person_at_hand_is_asked_and_sees_what_it_is_about(asking: Engine) -> None:
    name = thing(asking)
    person = Person(asking, ApprovalAnswer.APPROVED)
    assert delete(asking, name, approver=Approver(person)).ok
    (request,) = person.asked
    assert name in request.what and request.why == ("policy.levels.destructive = ask",)
    assert asking.records()[-1]["approval_by"] == "person"


def test_every_answer_is_kept_with_the_question_whoever_gave_it(asking: Engine) -> None:
    name = thing(asking)
    id = id_of(delete(asking, name))
    (waiting,) = [one for one in asking.journal.approvals() if one.request.id == id]
    hash = waiting.request.operation_hash
    delete(asking, name, approver=Approver(Person(asking, ApprovalAnswer.DECLINED)))
    assert delete(asking, name, approver=GRANTED).ok
    kept = {(one.state, one.given_by) for one in asking.journal.approvals(hash)}
    assert kept == {("pending", None), ("declined", "person"), ("used", "command line")}


def test_a_person_sees_every_sign_of_what_is_asked(asking: Engine) -> None:
    asking.do("object.create_empty", {"name": "Safe\u202eevil"})
    person = Person(asking, ApprovalAnswer.DECLINED)
    delete(asking, "Safe\u202eevil", approver=Approver(person))
    (request,) = person.asked
    assert "Safe\\u202eevil" in request.what and "\u202e" not in request.what


def test_declined_is_refused_and_recorded(asking: Engine) -> None:
    name = thing(asking)
    outcome = delete(asking, name, approver=Approver(Person(asking, ApprovalAnswer.DECLINED)))
    assert rules_of(outcome) == ["approval_declined"]
    record = asking.records()[-1]
    assert (record["status"], record["approval_answer"]) == ("failed", "declined")
    assert asking.journal.verify_audit().ok


# ---------------------------------------------------------------------- plans


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
    """Says the same to every question, and somebody else commits something meanwhile, so often."""

    def __init__(self, engine: Engine, says: ApprovalAnswer, times: int) -> None:
        super().__init__(engine, says)
        self._times = times

    def ask(self, request: ApprovalRequest, *, cancel: CancelToken | None = None) -> ApprovalAnswer:
        if len(self.asked) < self._times:
            thing(self._engine)
        return super().ask(request, cancel=cancel)


@pytest.mark.parametrize(("times", "asked", "status"), [(0, 1, "succeeded"), (2, 3, "succeeded"), (9, 3, "refused")])
@pytest.mark.parametrize("boundary", ["operation", "plan"])
def test_a_yes_counts_for_the_scene_that_was_asked_about(
    asking: Engine, boundary: Any, times: int, asked: int, status: str
) -> None:
    name, person = thing(asking), Distracted(asking, ApprovalAnswer.APPROVED, times)
    listed = [empty("a"), op("b", "object.delete", {"name": name}, "a", level="destructive"), empty("c", "b")]
    document = {"request_id": f"distracted {name}", "operations": listed}
    report = asking.run(operations.DIALECT.parse(document, boundary=boundary), approver=Approver(person))
    assert len(person.asked) == asked and statuses(report)["b"] == status
    hashes = {request.operation_hash for request in person.asked}
    assert len(hashes) == asked, "each is another question"
    used = [one for hash in hashes for one in asking.journal.approvals(hash) if one.state == "used"]
    assert len(used) == (status == "succeeded"), "what did not count was not spent"
    assert asking.journal.verify_audit().ok and asking.full_hash() == asking.session.scene.hash


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
    assert asking.full_hash() == before and asking.journal.verify_audit().ok


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
