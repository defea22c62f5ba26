"""The gate: everything in the contract that speaks against a call, all at once, decided on values alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import ValidationError

from blendwright.policy.objections import ProposedCall, Stage, approval_ruling, findings_against
from blendwright.policy.policy import Costs, Levels, Modes, Rules, Verdict
from blendwright.policy.session_contract import Agreed, ContractTerms
from blendwright.tool_api.promises import CAPABILITIES, Determinism, Requires, SafetyLevel, SafetyMode
from blendwright.tool_api.tool import AnyTool
from blendwright.tools import catalog
from blendwright.values.findings import Finding
from blendwright.wire.blender_profile import BlenderProfile
from support.engine.sessions import ARGS, TOOL, blender, changed


def gate(
    terms: ContractTerms, profile: BlenderProfile, tool: AnyTool, args: Any, level: str | None = None
) -> Iterator[Finding]:
    """What a run holds against a call."""
    declared = level or tool.safety_level_for(args).value
    call = ProposedCall(terms, tool, args, args.model_dump(mode="json"), declared, profile)
    return findings_against(call, Stage.BLENDER)


def findings(tool: AnyTool, terms: ContractTerms | None = None, profile: BlenderProfile | None = None) -> list[Finding]:
    return list(gate(terms or ContractTerms(), profile or blender(), tool, ARGS))


def codes(found: list[Finding]) -> list[str]:
    assert all(finding.cure for finding in found), "every refusal says what to do"
    assert all(TOOL.name in finding.message for finding in found)
    return [finding.fault.value for finding in found]


def test_a_call_that_keeps_to_the_contract_passes() -> None:
    assert findings(TOOL) == []


@pytest.mark.parametrize(
    ("version", "expected"),
    [((4, 1, 9), ["UNSUPPORTED_BLENDER"]), ((4, 2, 0), []), ((5, 9, 9), []), ((6, 0, 0), ["UNSUPPORTED_BLENDER"])],
)
@pytest.mark.proves("CORE-REFUSE-01", "EXEC-GATE-01")
def test_blender_must_be_in_the_range_which_excludes_its_end(
    version: tuple[int, int, int], expected: list[str]
) -> None:
    tool = changed(requires=Requires((4, 2, 0), ("object_write",), blender_max=(6, 0, 0)))
    found = findings(tool, profile=blender(version))
    assert codes(found) == expected
    if found:
        assert ("4.2.0" if version < (5, 0, 0) else "6.0.0") in (found[0].cure or "")


@pytest.mark.proves("CORE-REFUSE-05")
def test_every_missing_capability_is_named() -> None:
    tool = changed(requires=Requires((4, 2, 0), ("object_write", "render", "file_read")))
    found = findings(tool, ContractTerms(capabilities=("render",)))
    assert codes(found) == ["CAPABILITY_MISSING", "CAPABILITY_MISSING"]
    assert "'object_write'" in found[0].message and "'file_read'" in found[1].message


@pytest.mark.proves("EXEC-PHASE-04")
@pytest.mark.proves("EXEC-MODE-03")
def test_a_tool_for_the_user_interface_needs_one() -> None:
    tool = changed(safety_mode=SafetyMode.UI_ASSISTED)
    agreed = ContractTerms(constraints=Agreed(rules=Rules(modes=Modes(ui_assisted=Verdict.ALLOW))), ui_optional=True)
    assert codes(findings(tool, agreed)) == ["CAPABILITY_MISSING"]
    assert codes(findings(tool, agreed, blender(background=False))) == []


@pytest.mark.proves("CORE-UI-01")
def test_the_user_interface_is_used_only_where_the_contract_says_so() -> None:
    tool = changed(safety_mode=SafetyMode.UI_ASSISTED)
    found = findings(tool, ContractTerms(), blender(background=False))
    assert codes(found) == ["POLICY_BLOCKED"] and found[0].rule == "ui_not_agreed"


@pytest.mark.proves("EXEC-MODE-02")
def test_unsafe_operators_need_leave() -> None:
    tool = changed(safety_mode=SafetyMode.UNSAFE_OPS)
    assert codes(findings(tool)) == ["POLICY_BLOCKED"]
    assert (
        codes(findings(tool, ContractTerms(constraints=Agreed(rules=Rules(modes=Modes(unsafe_ops=Verdict.ALLOW))))))
        == []
    )


@pytest.mark.parametrize("demanded", Determinism)
@pytest.mark.parametrize("given", Determinism)
@pytest.mark.proves("EXEC-CODE-03")
def test_a_demand_for_determinism_refuses_what_is_weaker(demanded: Determinism, given: Determinism) -> None:
    order = ["deterministic", "seeded", "nondeterministic"]
    weaker = order.index(given.value) > order.index(demanded.value)
    found = findings(changed(determinism=given), ContractTerms(constraints=Agreed(determinism=demanded)))
    assert codes(found) == (["NONDETERMINISTIC_REFUSED"] if weaker else [])


def test_without_a_demand_nothing_is_refused_for_its_determinism() -> None:
    assert findings(changed(determinism=Determinism.NONDETERMINISTIC)) == []


def test_the_arguments_decide_where_the_promise_depends_on_them() -> None:
    export = catalog.tools()["file.export"]
    terms = ContractTerms(constraints=Agreed(determinism=Determinism.DETERMINISTIC))
    refused = list(gate(terms, blender(), export, export.args_model.model_validate({"path": "a.blend"})))
    assert [finding.fault.value for finding in refused] == ["NONDETERMINISTIC_REFUSED"]
    assert list(gate(terms, blender(), export, export.args_model.model_validate({"path": "a.stl"}))) == []


@pytest.mark.parametrize("name", ["file.export", "render.still"])
def test_replacing_a_file_is_destructive_whatever_is_declared(name: str) -> None:
    tool = catalog.tools()[name]
    new, replacing = (
        tool.args_model.model_validate({"path": "a.png" if name == "render.still" else "a.stl", "overwrite": overwrite})
        for overwrite in (False, True)
    )
    denying = ContractTerms(constraints=Agreed(rules=Rules(levels=Levels(destructive=Verdict.DENY))))
    for level in (None, "safe_write"):
        assert list(gate(denying, blender(), tool, new, level=level)) == []
        assert [found.rule for found in gate(denying, blender(), tool, replacing, level=level)] == ["level_denied"]
    asked = approval_ruling(ContractTerms(), tool, replacing, "safe_write")
    assert asked is not None and asked.grants == ("destructive",)
    assert approval_ruling(ContractTerms(), tool, new, "safe_write") is None


def test_all_reasons_come_at_once() -> None:
    tool = changed(
        safety_mode=SafetyMode.UNSAFE_OPS,
        determinism=Determinism.NONDETERMINISTIC,
        requires=Requires((9, 0, 0), ("object_write",)),
    )
    found = findings(tool, ContractTerms(capabilities=(), constraints=Agreed(determinism=Determinism.SEEDED)))
    expected = ["UNSUPPORTED_BLENDER", "CAPABILITY_MISSING", "POLICY_BLOCKED", "NONDETERMINISTIC_REFUSED"]
    assert codes(found) == expected


@pytest.mark.parametrize(
    ("own", "declared", "counts"),
    [
        (SafetyLevel.SAFE_WRITE, "destructive", True),
        (SafetyLevel.DESTRUCTIVE, "read_only", True),
        (SafetyLevel.DESTRUCTIVE, "destructive", True),
        (SafetyLevel.SAFE_WRITE, "read_only", False),
        (SafetyLevel.READ_ONLY, "safe_write", False),
    ],
)
def test_the_level_that_counts_is_the_higher_of_the_tool_s_own_and_the_declared(
    own: SafetyLevel, declared: str, counts: bool
) -> None:
    tool = changed(safety_level=own)
    denying = ContractTerms(constraints=Agreed(rules=Rules(levels=Levels(destructive=Verdict.DENY))))
    denied = [finding.rule for finding in gate(denying, blender(), tool, ARGS, level=declared)]
    assert denied == (["level_denied"] if counts else [])
    asked = approval_ruling(ContractTerms(), tool, ARGS, declared)
    assert (asked is not None) == counts, "the default asks about what destroys"


@pytest.mark.parametrize("seconds", [0, -1, 3601, float("nan"), float("inf")])
def test_a_limit_without_sense_is_refused(seconds: float) -> None:
    with pytest.raises(ValidationError):
        Costs(call_seconds=seconds)


def test_the_defaults_are_thirty_seconds_and_every_capability() -> None:
    terms = ContractTerms()
    assert terms.constraints.call_seconds == 30.0
    assert set(terms.capabilities) == set(CAPABILITIES)
    assert terms.constraints.rules.modes.unsafe_ops is Verdict.DENY and not terms.ui_optional


def test_every_tool_asks_for_capabilities_that_exist() -> None:
    for tool in catalog.tools().values():
        assert tool.requires.capabilities, tool.name
        assert set(tool.requires.capabilities) <= set(CAPABILITIES), tool.name
