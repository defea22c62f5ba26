"""Every cure of the table of refusals is followed, and leads to something that works: none leads back to where it began."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from blendwright.dialects.registry import parse_plan
from blendwright.engine.files.access import FileAccess
from blendwright.engine.options import too_much_time
from blendwright.plan.validate import ValidPlan, validate
from blendwright.policy.objections import ProposedCall, Stage, findings_against
from blendwright.policy.policy import LimitsAsked, Policy
from blendwright.policy.refusals import RULES
from blendwright.policy.session_contract import (
    Proposal,
    SessionContract,
    agree,
    edited,
    negotiate,
    other_blender,
    outdated,
)
from blendwright.tools import catalog
from blendwright.tools.registry import tool_registry
from blendwright.values.findings import Finding
from support.engine.sessions import NO_MACROS, agreed, blender, negotiation
from support.plans import macro_documents
from support.suite.refusal_matrix import BLENDERS, DEMANDS, HOSTS, ROOT, Demand

HERE = "5.0 headless"
Walk = Callable[[], tuple[Finding, ...]]


@dataclass(frozen=True)
class Situation:
    """A demand that meets a host and a Blender."""

    demand: Demand
    host: str = "default policy"
    blender: str = HERE

    def findings(self) -> tuple[Finding, ...]:
        side, demand = HOSTS[self.host], self.demand
        made = negotiate(negotiation(proposal=side.proposal, policy=side.policy, blender=BLENDERS[self.blender]))
        assert isinstance(made, SessionContract)
        args = demand.tool.args_model.model_validate(demand.args)
        access = FileAccess(made.constraints.rules.roots, Path("nowhere"), workspace=ROOT / "work")
        level = demand.tool.safety_level_for(args).value
        canonical = args.model_dump(mode="json")
        call = ProposedCall(made, demand.tool, args, canonical, level, made.blender, access.path_findings)
        return tuple(findings_against(call, Stage.FILES))


def asked(demand: str, host: str = "default policy", blender: str = HERE) -> Situation:
    return Situation(DEMANDS[demand], host, blender)


def export_to(path: Path) -> Situation:
    return Situation(Demand(catalog.tools()["file.export"], {"path": str(path)}, {}))


def with_args(situation: Situation, **args: Any) -> Situation:
    return replace(situation, demand=replace(situation.demand, args={**situation.demand.args, **args}))


SAFE = asked("safe Python")
FREE = "everything allowed"
# By rule: what is refused, and what its cure says to do instead, each way that it names.
CALLS: dict[str, tuple[Situation, tuple[Situation, ...]]] = {
    "tool_denied": (asked("a safe write", "tool denied"), (asked("a safe write"), asked("reading", "tool denied"))),
    "level_denied": (asked("a safe write", "writing denied"), (asked("a safe write"), asked("reading", "writing denied"))),
    "mode_denied": (asked("a safe write", "headless denied"), (asked("a safe write"),)),
    "unsafe_ops": (asked("context-dependent operators"), (asked("context-dependent operators", FREE), asked("a safe write"))),
    "ui_not_agreed": (
        asked("the user interface", blender="5.0 with UI"),
        (asked("the user interface", FREE, "5.0 with UI"), asked("a safe write", blender="5.0 with UI")),
    ),
    "network": (asked("the network"), (asked("the network", FREE), asked("a safe write"))),
    "trusted_python": (asked("trusted Python"), (SAFE, asked("trusted Python", FREE))),
    "capability": (asked("a safe write", "only scene_read"), (asked("a safe write"), asked("reading", "only scene_read"))),
    "blender_too_old": (
        asked("Blender 4.5 or newer", blender="4.2 headless"),
        (asked("Blender 4.5 or newer", blender="4.5 headless"),),
    ),
    "blender_too_new": (asked("Blender before 5.0"), (asked("Blender before 5.0", blender="4.5 headless"),)),
    "ui_missing": (asked("the user interface", FREE), (asked("a safe write", FREE),)),
    "unconfined": (asked("safe Python", blender="5.0 unconfined"), (SAFE, asked("a safe write", blender="5.0 unconfined"))),
    "payload": (
        asked("arguments of more than 1 kB", "small payload"),
        (with_args(asked("arguments of more than 1 kB", "small payload"), vertices=[[0, 0, 0]]),),
    ),
    "vertices": (
        asked("a mesh of 482 vertices", "few vertices"),
        (with_args(asked("a mesh of 482 vertices", "few vertices"), segments=6, rings=4),),
    ),
    "python_code": (asked("safe Python", "little code"), (with_args(asked("safe Python", "little code"), code="0"),)),
    "seconds": (
        with_args(asked("code of three seconds", "little time for code"), mode="safe"),
        (
            with_args(asked("code of three seconds", "little time for code"), mode="safe", timeout_ms=2000),
            with_args(asked("code of three seconds"), mode="safe"),
        ),
    ),
    "path_outside": (asked("a file outside of every root"), (asked("a file inside a root"),)),
    "path_denied": (asked("a file in a denied directory", "path denied"), (asked("a file inside a root", "path denied"),)),
    "path_workspace": (export_to(ROOT / "work" / "a.stl"), (export_to(ROOT / "a.stl"),)),
    "determinism": (
        asked("a nondeterministic result", "seeded demanded"),
        (asked("a nondeterministic result"), asked("a seeded result", "seeded demanded")),
    ),
}  # fmt: skip


def negotiated(**parts: Any) -> Walk:
    def walk() -> tuple[Finding, ...]:
        made = negotiate(negotiation(**parts))
        return made if isinstance(made, tuple) else ()

    return walk


def planned(count: int, *ids: str, tool: str = "object.create_empty") -> Walk:
    def walk() -> tuple[Finding, ...]:
        names = ids or tuple(f"o{number}" for number in range(count))
        operations: list[dict[str, Any]] = [
            {
                "operation_id": id,
                "tool_name": tool,
                "args": {"name": id},
                "depends_on": [],
                "safety_level": "safe_write",
            }
            for id in names
        ]
        terms = agree(Proposal(limits=LimitsAsked(operations_per_plan=5)), Policy())
        assert not isinstance(terms, tuple)
        plan = validate(parse_plan({"request_id": "r", "operations": operations}), catalog.tools(), terms)
        return () if isinstance(plan, ValidPlan) else plan

    return walk


PAIR = macro_documents.macros(macro_documents.document())
FEWER = tool_registry({name: tool for name, tool in catalog.tools().items() if name != "camera.set"})


def called_beside(id: str) -> Walk:
    """A macro is called as `pair`, beside an operation with this id."""

    def walk() -> tuple[Finding, ...]:
        terms = agree(Proposal(), Policy())
        assert not isinstance(terms, tuple)
        macro = next(iter(PAIR))
        operations: list[dict[str, Any]] = [
            {"operation_id": "pair", "tool_name": macro, "args": {"name": "Two"}, "depends_on": [], "safety_level": "safe_write"},
            {"operation_id": id, "tool_name": "scene.find", "args": {}, "depends_on": [], "safety_level": "read_only"},
        ]  # fmt: skip
        plan = validate(parse_plan({"request_id": "r", "operations": operations}), catalog.tools(), terms, PAIR)
        return () if isinstance(plan, ValidPlan) else plan

    return walk


OTHERS: dict[str, tuple[Walk, tuple[Walk, ...]]] = {
    "contract_version": (
        negotiated(proposal=Proposal(contract_version="99.0")),
        (negotiated(proposal=Proposal()),),
    ),
    "feature_unknown": (
        negotiated(proposal=Proposal(features=("telepathy",))),
        (negotiated(proposal=Proposal(features=("network",))),),
    ),
    "capability_unknown": (
        negotiated(proposal=Proposal(capabilities=("telepathy",))),
        (negotiated(proposal=Proposal(capabilities=("scene_read",))),),
    ),
    "session_blender": (negotiated(blender=blender((3, 6, 0))), (negotiated(blender=blender((5, 0, 1))),)),
    "plan_too_long": (planned(8), (planned(5), planned(3))),
    "contract_edited": (
        lambda: tuple(edited(agreed().model_copy(update={"blender": blender((4, 5, 3))}))),
        (lambda: tuple(edited(agreed())),),
    ),
    "registry_changed": (
        lambda: tuple(outdated(agreed(), FEWER, NO_MACROS)),
        (lambda: tuple(outdated(agreed(tool_registry=FEWER), FEWER, NO_MACROS)),),
    ),
    "blender_changed": (
        lambda: tuple(other_blender(agreed(), blender((4, 5, 3)))),
        (
            lambda: tuple(other_blender(agreed(), blender())),
            lambda: tuple(other_blender(agreed(blender=blender((4, 5, 3))), blender((4, 5, 3)))),
        ),
    ),
    "timeout": (
        lambda: too_much_time(10.0, 5.0, "call_seconds"),
        (lambda: too_much_time(5.0, 5.0, "call_seconds"), lambda: too_much_time(10.0, 20.0, "call_seconds")),
    ),
    "macro_step_id": (called_beside("pair.001"), (called_beside("other"),)),
}
# What needs Blender, a person or both is followed where these are.
WITH_BLENDER: Mapping[str, str] = {
    "tool_unknown": "tests/engine/test_followed_cures.py",
    "approval_missing": "tests/engine/test_followed_cures.py",
    "scratch": "tests/engine/test_followed_cures.py",
    "trusted_unasked": "tests/engine/test_followed_cures.py",
    "trusted_in_window": "tests/window/test_stories.py",
    "preview_unasked": "tests/engine/test_followed_cures.py",
    "approval_declined": "tests/engine/test_followed_cures.py",
    "approval_outdated": "tests/server/test_open_questions.py",
}


def test_every_rule_of_the_table_is_followed() -> None:
    assert CALLS.keys() | OTHERS.keys() | WITH_BLENDER.keys() == RULES.keys()
    tests = Path(__file__).parents[2]
    for rule, file in WITH_BLENDER.items():
        assert f'"{rule}"' in (tests / file).read_text(), rule


def anywhere(path: object, mode: int) -> bool:
    return True


@pytest.mark.parametrize("rule", [*CALLS, *OTHERS])
def test_a_cure_leads_to_something_that_works(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # The roots of the table are of no machine.
    monkeypatch.setattr(os, "access", anywhere)
    if rule in CALLS:
        refused, ways = CALLS[rule]
        before, after = refused.findings, [way.findings for way in ways]
    else:
        before, after = OTHERS[rule]
    assert rule in {finding.rule for finding in before()}
    for way in after:
        assert way() == (), "the cure leads to another refusal"
