"""The contract at work: kept with the run, named in receipts and reports, asked before every call, and refused when outdated."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from blendwright.dialects import operations
from blendwright.dialects.envelopes import tool_result
from blendwright.engine.contract import ContractDraft
from blendwright.plan.validate import validate
from blendwright.policy.host_profile import HostProfile
from blendwright.policy.policy import Constraints, CostsAsked, Levels, Limits, LimitsAsked, Policy, Rules, Verdict
from blendwright.policy.session_contract import ContractTerms, Proposal, SessionContract, negotiate
from blendwright.tool_api.promises import Determinism
from blendwright.tools import catalog
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from support.engine.engine import UNASKED, Announcing, Engine
from support.engine.sessions import agreed, blender, negotiation
from support.plans.documents import box, of_operations

SCATTER: dict[str, Any] = {"source": "Anchor", "target": "Ground", "count": 2, "seed": 7, "prefix": "Bit"}


def plan_of(request: str, *listed: dict[str, Any]) -> Any:
    return operations.DIALECT.parse({"request_id": request, "operations": list(listed)})


@pytest.mark.proves("EXEC-PROFILE-03")
def test_the_contract_is_kept_with_the_run_and_named_in_receipts_and_reports(engine: Engine) -> None:
    report = engine.run(plan_of("kept", box("a")))
    contract = engine.session.contract.contract()
    assert report.ok and report.contract == contract.fingerprint == report.to_json()["contract"]
    receipt = report.operations[0].receipt
    assert receipt is not None and receipt["contract"] == contract.fingerprint
    kept = engine.journal.contracts.read(contract.fingerprint)
    assert kept is not None
    again = orjson.dumps({**kept, "session_id": contract.session_id})
    assert SessionContract.model_validate_json(again).to_bytes() == contract.to_bytes()
    assert engine.journal.contracts.of_session(contract.session_id) == contract.fingerprint
    assert contract.blender == engine.scene.profile.lasting


def test_a_plan_longer_than_the_contract_allows_is_refused() -> None:
    found = validate(
        of_operations(box("a"), box("b")), catalog.tools(), ContractTerms(limits=Limits(operations_per_plan=1))
    )
    assert isinstance(found, tuple)
    assert [(finding.rule, finding.fault) for finding in found] == [("plan_too_long", Fault.LIMIT_EXCEEDED)]


@pytest.mark.proves("EXEC-TIME-03")
def test_the_budget_of_the_host_ends_a_call_and_more_is_refused(engine: Engine) -> None:
    policy = UNASKED.model_copy(update={"constraints": Constraints(call_seconds=3.0)})
    with engine.under(policy, Proposal(host=HostProfile(call_seconds=0.4))):
        engine.session.contract.contract()
        late = {"how": "run_away", "name": "Late"}
        assert engine.call("trial.misbehave", late, timeout=30).fault is Fault.LIMIT_EXCEEDED
        outcome = engine.call("trial.misbehave", late)
    assert outcome.fault is Fault.TOOL_TIMEOUT
    assert tool_result(outcome).details["partial_work"]["deadline_seconds"] == 0.4


def test_the_results_of_a_plan_are_read_back_where_host_or_caller_want_all_of_them(engine: Engine) -> None:
    def faults(request: str, **options: Any) -> list[Fault | None]:
        look = box("a", tool_name="trial.peek", args={"how": "unverified"}, safety_level="read_only")
        return [operation.fault for operation in engine.run(plan_of(request, look), **options).operations]

    assert faults("plain") == [None]
    assert faults("asked", verify=True) == [Fault.VERIFICATION_FAILED]
    with engine.under(UNASKED, Proposal(host=HostProfile(verification="all"))):
        assert faults("agreed") == [Fault.VERIFICATION_FAILED]


def test_the_budget_of_the_contract_ends_a_run_and_more_is_refused(engine: Engine) -> None:
    with engine.under(Policy(constraints=Constraints(run_seconds=0.5))):
        late = {"how": "run_away", "name": "Late"}
        plan = plan_of("budget", box("a", tool_name="trial.misbehave", args=late))
        assert [each.rule for each in engine.run(plan, timeout=60).all_findings()] == ["timeout"]
        report = engine.run(plan)
    assert [operation.fault for operation in report.operations] == [Fault.TOOL_TIMEOUT]


def test_a_cancelled_call_says_so_in_its_details(engine: Engine) -> None:
    token = Announcing()
    token.cancel()
    outcome = engine.call("object.create_empty", {"name": "Never"}, cancel=token)
    assert outcome.fault is Fault.CANCELLED
    assert tool_result(outcome).details["cancelled"] is True


def test_calls_at_once_bounds_the_window(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    worker = engine.scene.worker()
    sent: list[Any] = []
    open_when_sent: list[int] = []

    def submit(*args: Any, **options: Any) -> Any:
        open_when_sent.append(sum(not future.done() for future in sent))
        sent.append(type(worker).submit(worker, *args, **options))
        return sent[-1]

    monkeypatch.setattr(worker, "submit", submit)
    with engine.under(UNASKED, Proposal(limits=LimitsAsked(calls_at_once=1))):
        report = engine.run(plan_of("window", *(box(f"w{number}") for number in range(6))))
    assert report.ok
    assert open_when_sent == [0] * 6


def test_what_was_found_about_a_tool_holds_for_its_level_only(engine: Engine) -> None:
    """What a contract says to a tool is remembered; a call that declares more is another call."""
    with engine.under(Policy(policy=Rules(levels=Levels(destructive=Verdict.DENY)))):
        done = engine.run(plan_of("mild", box("m1")))
        refused = engine.run(plan_of("declared", box("m2", safety_level="destructive")))
    assert done.ok
    assert [finding.rule for finding in refused.all_findings()] == ["level_denied"]


def test_the_size_of_arguments_is_bounded_where_the_contract_says_so(engine: Engine) -> None:
    with engine.under(UNASKED, Proposal(limits=LimitsAsked(payload_bytes=1024))):
        large = {"name": "Anchor", "key": "note", "value": "x" * 1024}
        outcome = engine.call("object.set_property", large)
        assert outcome.fault is Fault.LIMIT_EXCEEDED and outcome.findings[0].rule == "payload"
        assert engine.call("object.create_empty", {"name": "Small enough"}).ok


@pytest.mark.proves("EXEC-PHASE-12")
def test_another_host_is_held_to_the_same_policy_and_to_what_it_asks_for_itself(engine: Engine) -> None:
    policy = Policy(policy=Rules(levels=Levels(destructive=Verdict.DENY), tools={"file.*": Verdict.DENY}))
    first = ContractDraft(engine.tools, policy=policy)
    other = first.for_host(Proposal(host=HostProfile(name="other"), constraints=CostsAsked(call_seconds=3)))
    assert other.terms.constraints.rules == first.terms.constraints.rules == policy.policy
    assert (other.terms.host.name, other.terms.constraints.call_seconds) == ("other", 3)
    assert first.terms.constraints.call_seconds == 30


@pytest.mark.proves("EXEC-CODE-03", "EXEC-DET-06")
def test_a_run_may_demand_a_class_of_results(engine: Engine) -> None:
    outcome = engine.call("file.export", {"path": str(engine.place / "det.blend")}, determinism=Determinism.SEEDED)
    assert outcome.fault is Fault.NONDETERMINISTIC_REFUSED
    assert tool_result(outcome).error_code == "nondeterministic_refused"
    engine.do("mesh.create_primitive", {"kind": "plane", "name": "Ground", "size": 10})
    scattered = box("s", tool_name="place.scatter", args=SCATTER)
    refused = engine.run(plan_of("demand", scattered), determinism=Determinism.DETERMINISTIC)
    assert refused.status == "refused"
    assert [finding.rule for finding in refused.all_findings()] == ["determinism"]
    done = engine.run(plan_of("demand", scattered), determinism=Determinism.SEEDED)
    assert done.ok and done.operations[0].receipt is not None
    assert (done.operations[0].receipt["determinism_class"], done.operations[0].receipt["seed"]) == ("seeded", 7)


def test_an_outdated_contract_is_refused_with_the_name_of_the_tool_before_blender_is_asked(engine: Engine) -> None:
    old = engine.session.contract.contract()
    fewer = {name: tool for name, tool in engine.tools.items() if name != "object.rename"}
    with pytest.raises(Refusal, match=r"object\.rename is gone"):
        ContractDraft(fewer, policy=UNASKED, earlier=old)
    same = ContractDraft(engine.tools, policy=UNASKED, earlier=old)
    assert same.contract(engine.scene.profile).fingerprint == old.fingerprint
    assert same.contract(engine.scene.profile).session_id != old.session_id


def test_a_contract_of_another_blender_is_refused_before_anything_runs(engine: Engine) -> None:
    made = negotiate(
        negotiation(blender=blender((4, 5, 3)), tool_registry=engine.session.contract.contract().tool_registry)
    )
    assert isinstance(made, SessionContract)
    offer = ContractDraft(engine.tools, policy=Policy(), earlier=made)
    with pytest.raises(Refusal, match=r"4\.5\.3"):
        offer.contract(engine.scene.profile)
    assert agreed().fingerprint != made.fingerprint


def test_a_refused_contract_refuses_calls_and_plans_without_a_trace_in_the_scene(engine: Engine) -> None:
    before = engine.full_hash()
    with engine.under(UNASKED, Proposal(blender_min=(5, 9, 0))):
        outcome = engine.call("object.create_empty", {"name": "Never"})
        assert outcome.fault is Fault.UNSUPPORTED_BLENDER and outcome.findings[0].rule == "session_blender"
        report = engine.run(plan_of("refused", box("never")))
        assert report.status == "refused"
        assert [finding.rule for finding in report.all_findings()] == ["session_blender"]
    assert engine.full_hash() == before
