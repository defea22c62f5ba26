"""Every cell of host, Blender and what a call demands: refused for exactly the reasons of the table, each with its code and cure."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from blendwright.engine.files.access import FileAccess
from blendwright.policy.objections import OBJECTIONS, ProposedCall, Stage, approval_ruling, findings_against
from blendwright.policy.refusals import RULES
from blendwright.policy.session_contract import SessionContract
from blendwright.values.faults import REFUSALS
from blendwright.values.findings import Finding
from support.engine.sessions import agreed
from support.suite.refusal_matrix import BLENDERS, DEMANDS, HOSTS, Demand

# Refused by whoever negotiates, plans or asks a person; their own tests walk them.
NO_OBJECTIONS = {
    "contract_version", "feature_unknown", "capability_unknown", "session_blender", "registry_changed", "blender_changed",
    "contract_edited",
    "plan_too_long", "macro_step_id", "tool_unknown", "scratch", "approval_missing",
    "approval_declined", "approval_outdated", "trusted_unasked", "trusted_in_window", "preview_unasked",
    "timeout",
}  # fmt: skip


@pytest.fixture(scope="module")
def contracts() -> dict[tuple[str, str], SessionContract]:
    return {
        (host, blender): agreed(proposal=side.proposal, policy=side.policy, blender=profile)
        for host, side in HOSTS.items()
        for blender, profile in BLENDERS.items()
    }


def refusals(contract: SessionContract, demand: Demand) -> list[Finding]:
    """Phase 2 of a call, as it is run: the whole list up to the files, without a Blender."""
    args = demand.tool.args_model.model_validate(demand.args)
    canonical = args.model_dump(mode="json")
    access = FileAccess(contract.constraints.rules.roots, Path("nowhere"))
    level = demand.tool.safety_level_for(args).value
    call = ProposedCall(contract, demand.tool, args, canonical, level, contract.blender, access.path_findings)
    return list(findings_against(call, Stage.FILES))


def anywhere(path: object, mode: int) -> bool:
    return True


@pytest.mark.parametrize("demand", DEMANDS)
@pytest.mark.proves("EXEC-PHASE-04", "CORE-CONTRACT-05", "EXEC-GATE-02")
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


def test_every_objection_is_met_by_a_cell_and_every_side_by_a_rule() -> None:
    met = {rule for demand in DEMANDS.values() for rule in demand.refused}
    listed = [rule for objection in OBJECTIONS for rule in objection.rules]
    assert len(listed) == len(set(listed)) and set(listed) == RULES.keys() - NO_OBJECTIONS
    assert met == set(listed) - {"path_workspace"}, (
        "what belongs to a workspace needs one: tests/engine/files/test_files.py"
    )
    sides = {side for demand in DEMANDS.values() for names in demand.refused.values() for side in names}
    assert sides <= HOSTS.keys() | BLENDERS.keys()
    assert HOSTS.keys() - sides <= {"everything allowed"} | {"default policy"}


def test_the_same_fault_is_told_apart_by_its_rule() -> None:
    causes = [(rule.fault, rule.when) for rule in RULES.values()]
    assert len(set(causes)) == len(causes) == len(RULES)
