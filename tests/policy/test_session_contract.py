"""Negotiation: one contract whatever the order of its input, limits that only tighten, and refusals by name."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any, cast

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import blendwright
from blendwright.policy.host_profile import HostProfile
from blendwright.policy.policy import Constraints, CostsAsked, LimitsAsked, Modes, Policy, Rules, Verdict
from blendwright.policy.session_contract import (
    CONTRACT_VERSION,
    FEATURES,
    Negotiation,
    Proposal,
    SessionContract,
    negotiate,
    other_blender,
    outdated,
    proposal_of,
    registry,
)
from blendwright.tool_api.promises import CAPABILITIES, Determinism
from blendwright.tools import catalog
from blendwright.tools.registry import tool_registry
from blendwright.values.faults import RENDERINGS
from support.engine.sessions import NO_MACROS, agreed, blender, negotiation, objections, tools

SCHEMAS = Path(blendwright.__file__).parent / "schemas"
OPEN = Policy(
    policy=Rules(modes=Modes(ui_assisted=Verdict.ALLOW, unsafe_ops=Verdict.ASK), network="allow", trusted_python="ask")
)


def shuffled(value: Any, order: random.Random, name: str = "") -> Any:
    """The same document with every object's fields, and every list that is a set, in another order."""
    if isinstance(value, dict):
        items = list(cast("dict[str, Any]", value).items())
        order.shuffle(items)
        return {key: shuffled(item, order, key) for key, item in items}
    if name in ("features", "capabilities") and isinstance(value, list):
        names = list(cast("list[str]", value))
        order.shuffle(names)
        return names
    return value


@st.composite
def negotiations(draw: st.DrawFn) -> dict[str, Any]:
    """Everything that two sides may bring, as the document that it is on the wire."""
    proposal = Proposal(
        host=HostProfile(
            name=draw(st.sampled_from(["one", "other"])),
            payload_bytes=draw(st.none() | st.integers(1024, 10**8)),
            call_seconds=draw(st.none() | st.floats(0.1, 100)),
            cancellation=draw(st.booleans()),
        ),
        features=draw(st.none() | st.lists(st.sampled_from(sorted(FEATURES))).map(tuple)),
        capabilities=draw(st.none() | st.lists(st.sampled_from(sorted(CAPABILITIES))).map(tuple)),
        limits=LimitsAsked(
            calls_at_once=draw(st.none() | st.integers(1, 100)),
            operations_per_plan=draw(st.none() | st.integers(1, 10**7)),
        ),
        constraints=CostsAsked(
            run_seconds=draw(st.none() | st.floats(1, 10_000)), vertices=draw(st.none() | st.integers(1, 10**8))
        ),
        determinism=draw(st.none() | st.sampled_from(Determinism)),
    )
    policy = draw(st.sampled_from([Policy(), OPEN, Policy(constraints=Constraints(call_seconds=5, vertices=1000))]))
    return negotiation(proposal=proposal, policy=policy).model_dump(mode="json")


@settings(max_examples=60, deadline=None)
@given(negotiations(), st.randoms(use_true_random=False))
@pytest.mark.proves("CORE-CONTRACT-01")
def test_equal_input_in_any_order_gives_a_byte_equal_contract(document: dict[str, Any], order: random.Random) -> None:
    one = negotiate(Negotiation.model_validate_json(json.dumps(document)))
    other = negotiate(Negotiation.model_validate_json(json.dumps(shuffled(document, order))))
    assert isinstance(one, SessionContract) and isinstance(other, SessionContract)
    assert one.to_bytes() == other.to_bytes()
    assert one.fingerprint == other.fingerprint


@settings(max_examples=60, deadline=None)
@given(negotiations())
@pytest.mark.proves("CORE-CONTRACT-02")
def test_nothing_that_a_host_asks_for_is_more_than_the_policy_allows(document: dict[str, Any]) -> None:
    asked = Negotiation.model_validate_json(json.dumps(document))
    made = negotiate(asked)
    assert isinstance(made, SessionContract)
    for name, allowed in asked.policy.limits.model_dump().items():
        assert getattr(made.limits, name) <= allowed
    for name in CostsAsked.model_fields:
        assert getattr(made.constraints, name) <= getattr(asked.policy.constraints, name)
    rules, allowed = made.constraints.rules, asked.policy.policy
    assert rules.modes.unsafe_ops.rank >= allowed.modes.unsafe_ops.rank
    assert rules.modes.ui_assisted.rank >= allowed.modes.ui_assisted.rank
    assert rules.levels == allowed.levels and rules.tools == allowed.tools and rules.roots == allowed.roots
    assert (rules.network, allowed.network) != ("allow", "deny")
    host = asked.proposal.host
    assert made.constraints.call_seconds <= (host.call_seconds or 1e9)
    assert made.limits.payload_bytes <= (host.payload_bytes or 10**12)


@settings(max_examples=30, deadline=None)
@given(negotiations())
def test_input_and_output_keep_to_their_published_schemas(document: dict[str, Any]) -> None:
    def schema(name: str) -> Any:
        return jsonschema_rs.validator_for(json.loads((SCHEMAS / f"{name}.json").read_text()))

    schema("negotiation.v1").validate(document)
    made = negotiate(Negotiation.model_validate_json(json.dumps(document)))
    assert isinstance(made, SessionContract)
    schema("session_contract.v1").validate(made.to_json())
    assert SessionContract.model_validate_json(json.dumps(made.to_json())) == made


@pytest.mark.proves("EXEC-PROFILE-02")
def test_what_a_host_says_of_itself_is_in_its_contract() -> None:
    host = HostProfile(transport="stdio", payload_bytes=4096, streaming=True, cancellation=True)
    told = agreed(proposal=Proposal(host=host)).to_json()["host"]
    stated = {name: told[name] for name in ("transport", "payload_bytes", "streaming", "cancellation")}
    assert stated == {"transport": "stdio", "payload_bytes": 4096, "streaming": True, "cancellation": True}
    other = agreed().to_json()["host"]
    assert {name for name in stated if other[name] == stated[name]} == set()


@pytest.mark.proves("EXEC-PROFILE-03")
def test_a_contract_has_exactly_the_fields_that_were_promised() -> None:
    assert set(SessionContract.model_fields) == {
        "contract_version", "session_id", "host", "blender", "capabilities", "tool_registry", "macro_registry",
        "constraints", "limits", "audit", "fingerprints", "ui_optional",
    }  # fmt: skip
    assert {"transport", "payload_bytes", "streaming", "cancellation", "elicitation"} <= set(HostProfile.model_fields)


@pytest.mark.proves("CORE-CONTRACT-03")
def test_unknown_flags_are_refused_by_name_all_at_once() -> None:
    found = objections(proposal=Proposal(features=("teleport", "unsafe_ops", "fly"), capabilities=("levitate",)))
    assert [finding.rule for finding in found] == ["feature_unknown", "feature_unknown", "capability_unknown"]
    told = " ".join(finding.message for finding in found)
    assert "'teleport'" in told and "'fly'" in told and "'levitate'" in told
    assert "unsafe_ops" in (found[0].cure or "")


@pytest.mark.parametrize(
    ("version", "fits"), [("1.0", True), ("1.7", True), ("2.0", False), ("0.9", False), ("x", False)]
)
def test_another_major_version_of_the_contract_is_refused(version: str, fits: bool) -> None:
    made = negotiate(negotiation(proposal=Proposal(contract_version=version)))
    assert isinstance(made, SessionContract) == fits
    if isinstance(made, tuple):
        assert [finding.rule for finding in made] == ["contract_version"]
        assert CONTRACT_VERSION in (made[0].cure or "")


@pytest.mark.parametrize("version", [(4, 1, 9), (6, 0, 0), (3, 6, 0)])
def test_a_blender_outside_the_range_is_refused(version: tuple[int, int, int]) -> None:
    found = objections(blender=blender(version))
    assert [(finding.rule, finding.fault.value) for finding in found] == [("session_blender", "UNSUPPORTED_BLENDER")]


def test_a_host_may_narrow_the_range_and_never_widen_it() -> None:
    assert objections(proposal=Proposal(blender_min=(5, 1, 0)))
    assert objections(proposal=Proposal(blender_max=(5, 0, 1)))
    assert objections(proposal=Proposal(blender_min=(3, 0, 0)), blender=blender((4, 0, 0)))


def test_what_the_policy_grants_and_the_host_does_not_ask_for_is_denied() -> None:
    rules = agreed(policy=OPEN, proposal=Proposal(features=())).constraints.rules
    assert (rules.modes.unsafe_ops, rules.modes.ui_assisted) == (Verdict.DENY, Verdict.DENY)
    assert (rules.network, rules.trusted_python) == ("deny", "deny")
    everything = agreed(policy=OPEN)
    assert everything.ui_optional and everything.constraints.rules.modes.unsafe_ops is Verdict.ASK


def test_a_host_has_the_capabilities_it_asks_for_and_all_where_it_asks_for_none_in_particular() -> None:
    assert agreed(proposal=Proposal(capabilities=("scene_read", "render"))).capabilities == ("render", "scene_read")
    assert agreed(proposal=Proposal(capabilities=())).capabilities == ()
    assert set(agreed().capabilities) == set(CAPABILITIES)


def test_the_fingerprint_is_of_the_terms_and_not_of_the_session() -> None:
    one, other = agreed(session_id="one"), agreed(session_id="other")
    assert one.fingerprint == other.fingerprint and one != other
    assert agreed(proposal=Proposal(determinism=Determinism.SEEDED)).fingerprint != one.fingerprint
    assert agreed(blender=blender((4, 5, 3))).fingerprint != one.fingerprint


@pytest.mark.proves("CORE-CONTRACT-04")
def test_a_changed_tool_changes_the_registry_and_an_old_contract_is_refused_by_the_name_of_the_tool() -> None:
    known = catalog.tools()
    kind = known["object.rename"].__class__
    newer = cast("Any", type)(kind.__name__, (kind,), {**kind.__dict__, "version": kind.version + 1})
    now = tool_registry(
        {name: tool for name, tool in known.items() if name != "camera.set"} | {"object.rename": newer()}
    )
    assert now.fingerprint != tools().fingerprint
    old = agreed()
    found = list(outdated(old, now, NO_MACROS))
    assert [finding.rule for finding in found] == ["registry_changed"] * 2
    assert {RENDERINGS[finding.fault].core for finding in found} == {"contract_violation"}
    assert "camera.set is gone" in found[0].message and "object.rename has changed" in found[1].message
    assert old.fingerprint[:12] in found[1].message
    assert list(outdated(old, tools(), NO_MACROS)) == []
    (macro,) = outdated(old, tools(), registry("1", {"studio.light": "a hash"}))
    assert "the macro studio.light is new" in macro.message


def test_a_contract_for_another_blender_is_refused() -> None:
    old = agreed()
    assert list(other_blender(old, blender())) == []
    (found,) = other_blender(old, blender((4, 5, 3)))
    assert "4.5.3" in found.message and "5.0.1" in found.message


@settings(max_examples=30, deadline=None)
@given(negotiations())
def test_a_contract_asked_for_again_is_the_same_one(document: dict[str, Any]) -> None:
    given = Negotiation.model_validate_json(json.dumps(document))
    made = negotiate(given)
    assert isinstance(made, SessionContract)
    again = negotiate(given.model_copy(update={"proposal": proposal_of(made)}))
    assert isinstance(again, SessionContract) and again.fingerprint == made.fingerprint


def test_a_demand_for_determinism_never_weakens_that_of_the_session() -> None:
    strict = agreed(proposal=Proposal(determinism=Determinism.DETERMINISTIC))
    assert strict.demanding(Determinism.NONDETERMINISTIC).constraints.determinism is Determinism.DETERMINISTIC
    assert agreed().demanding(Determinism.SEEDED).constraints.determinism is Determinism.SEEDED
