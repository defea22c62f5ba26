"""A person is asked: what an answer is worth, what becomes of the run without one, and what is kept of it."""

from __future__ import annotations

import time

import pytest

from blendwright.policy.policy import Policy, Rules, Verdict
from blendwright.values.approval import ApprovalAnswer, Approver
from blendwright.values.faults import Fault
from support.engine.approval_calls import GRANTED, Clock, Person, Slow, answer, delete, id_of, numbers, rules_of, thing
from support.engine.engine import Engine


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
    assert f"approval {id} was already used" in again.message
    with pytest.raises(Exception, match="was already used"):
        answer(asking, id)


def test_an_approval_is_for_the_very_call_and_the_very_scene(asking: Engine) -> None:
    name, other = thing(asking), thing(asking)
    answer(asking, id_of(delete(asking, name)))
    assert not delete(asking, other).ok
    assert not asking.call("object.delete", {"name": name, "keep_data": True}).ok
    asking.do("object.create_empty", {"name": f"{name} moved on"})
    assert not delete(asking, name).ok, "the scene is another one since"


def test_an_approval_expires_whether_given_or_not(engine: Engine, clock: Clock) -> None:
    with engine.under(Policy(policy=Rules(approval_seconds=60))) as quick:
        name = thing(quick)
        given, late = id_of(delete(quick, name)), id_of(quick.call("object.delete", {"name": name, "keep_data": True}))
        answer(quick, given)
        (waiting,) = [one for one in quick.journal.approvals.listed() if one.request.id == late]
        assert waiting.request.expires <= time.time() + 60
        clock.forward(60)
        outcome = delete(quick, name)
        assert not outcome.ok and f"approval {given} has expired" in outcome.message
        with pytest.raises(Exception, match="has expired"):
            answer(quick, late)


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
    (waiting,) = [one for one in asking.journal.approvals.listed() if one.request.id == id]
    hash = waiting.request.operation_hash
    delete(asking, name, approver=Approver(Person(asking, ApprovalAnswer.DECLINED)))
    assert delete(asking, name, approver=GRANTED).ok
    kept = {(one.state, one.given_by) for one in asking.journal.approvals.listed(hash)}
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
    assert asking.journal.audit.verify().ok
