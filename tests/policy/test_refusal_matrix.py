"""Every cell of host, Blender and what a call demands: refused for exactly the reasons of the table, each with its code and cure."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from blendwright.policy.gate import approval_ruling, gate
from blendwright.policy.refusals import RULES
from blendwright.policy.session_contract import SessionContract
from blendwright.run.active_contract import payload_bytes
from blendwright.run.files import FileAccess
from blendwright.values.faults import REFUSALS
from blendwright.values.findings import Finding
from refusal_matrix import BLENDERS, DEMANDS, HOSTS, Demand
from sessions import agreed

# Refused by whoever negotiates, plans or asks; their own tests walk them.
NOT_BY_THE_GATE = {
    "contract_version", "feature_unknown", "capability_unknown", "session_blender", "registry_changed", "blender_changed",
    "plan_too_long", "macro_step_id", "tool_unknown", "scratch", "approval_missing", "approval_declined", "trusted_unasked",
    "path_workspace", "preview_unasked",
}  # fmt: skip


@pytest.fixture(scope="module")
def contracts() -> dict[tuple[str, str], SessionContract]:
    return {
        (host, blender): agreed(proposal=side.proposal, policy=side.policy, blender=profile)
        for host, side in HOSTS.items()
        for blender, profile in BLENDERS.items()
    }


def refusals(contract: SessionContract, demand: Demand) -> list[Finding]:
    """Phase 2 of a call, without a Blender."""
    args = demand.tool.args_model.model_validate(demand.args)
    canonical = args.model_dump(mode="json")
    access = FileAccess(contract.constraints.rules.roots, Path("nowhere"))
    _, found = access.normalised(demand.tool, canonical)
    size = payload_bytes(canonical)
    return [*gate(contract, contract.blender, demand.tool, args, payload=size), *found]


def anywhere(path: object, mode: int) -> bool:
    return True


@pytest.mark.parametrize("demand", DEMANDS)
@pytest.mark.proves("EXEC-PHASE-04", "CORE-CONTRACT-05")
def test_every_cell_refuses_for_exactly_the_reasons_of_the_table(
    demand: str, contracts: dict[tuple[str, str], SessionContract], monkeypatch: pytest.MonkeyPatch
) -> None:
    # The roots of the table are of no machine; whether one could write there is not the question here.
    monkeypatch.setattr(os, "access", anywhere)
    wanted = DEMANDS[demand]
    for (host, blender), contract in contracts.items():
        found = refusals(contract, wanted)
        told = [finding.rule for finding in found]
        assert set(told) == wanted.expected(host, blender), (demand, host, blender)
        for finding in found:
            assert finding.rule is not None and finding.fault is RULES[finding.rule].fault
            assert finding.fault in REFUSALS and finding.message and finding.cure and "{" not in finding.cure
        if not told:
            model = wanted.tool.args_model.model_validate(wanted.args)
            asked = approval_ruling(contract, wanted.tool, model, wanted.tool.safety_level.value)
            assert (asked is not None) == (host in wanted.asked), (demand, host, blender)


def test_every_rule_of_the_gate_is_met_by_a_cell_and_every_side_by_a_rule() -> None:
    met = {rule for demand in DEMANDS.values() for rule in demand.refused}
    assert met == RULES.keys() - NOT_BY_THE_GATE
    sides = {side for demand in DEMANDS.values() for names in demand.refused.values() for side in names}
    assert sides <= HOSTS.keys() | BLENDERS.keys()
    assert HOSTS.keys() - sides <= {"everything allowed"} | {"default policy"}


def test_the_same_fault_is_told_apart_by_its_rule() -> None:
    causes = [(rule.fault, rule.when) for rule in RULES.values()]
    assert len(set(causes)) == len(causes) == len(RULES)
