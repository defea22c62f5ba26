"""The table of refusals by what calls demand: one row for each demand of a tool, with the hosts and the Blenders that refuse it.

A cell is a demand, met by a host under its policy and by a Blender: refused for the reasons that the row names for either side, in any
combination. The tests walk every cell; docs/reference/refusals.md is made of the same rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from blendwright.policy.host_profile import HostProfile
from blendwright.policy.policy import CostsAsked, Levels, LimitsAsked, Modes, Policy, Rules, Verdict
from blendwright.policy.session_contract import Proposal
from blendwright.tool_api.promises import Determinism, Requires, SafetyLevel, SafetyMode
from blendwright.tool_api.tool import AnyTool
from blendwright.tools import catalog
from blendwright.wire.blender_profile import BlenderProfile
from support.engine.sessions import TOOL, blender, changed

ROOT = Path("/allowed")


@dataclass(frozen=True, slots=True)
class Side:
    """A host with the policy that it meets."""

    proposal: Proposal = field(default_factory=Proposal)
    policy: Policy = field(default_factory=Policy)


def rules(**parts: Any) -> Policy:
    given: dict[str, Any] = {"roots": {str(ROOT): Verdict.ALLOW}}
    return Policy(policy=Rules(**(given | parts)))


HOSTS: dict[str, Side] = {
    "default policy": Side(policy=rules()),
    "everything allowed": Side(
        policy=rules(
            levels=Levels(destructive=Verdict.ALLOW),
            modes=Modes(ui_assisted=Verdict.ALLOW, unsafe_ops=Verdict.ALLOW),
            network="allow",
            trusted_python="ask",
        )
    ),
    "allowed and not asked for": Side(
        Proposal(features=()),
        rules(modes=Modes(ui_assisted=Verdict.ALLOW, unsafe_ops=Verdict.ALLOW), network="allow", trusted_python="ask"),
    ),
    "only scene_read": Side(Proposal(capabilities=("scene_read",)), rules()),
    "tool denied": Side(policy=rules(tools={TOOL.name: Verdict.DENY})),
    "noun denied": Side(policy=rules(tools={"object.*": Verdict.DENY})),
    "writing denied": Side(policy=rules(levels=Levels(safe_write=Verdict.DENY, destructive=Verdict.DENY))),
    "headless denied": Side(policy=rules(modes=Modes(headless_safe=Verdict.DENY))),
    "path denied": Side(policy=rules(roots={str(ROOT): Verdict.ALLOW, str(ROOT / "secret"): Verdict.DENY})),
    "small payload": Side(Proposal(host=HostProfile(payload_bytes=1024)), rules()),
    "payload limit": Side(Proposal(limits=LimitsAsked(payload_bytes=1024)), rules()),
    "little code": Side(Proposal(limits=LimitsAsked(python_code_chars=3)), rules()),
    "short code": Side(Proposal(limits=LimitsAsked(python_code_chars=100)), rules()),
    "little time for code": Side(Proposal(constraints=CostsAsked(code_seconds=2)), rules()),
    "few vertices": Side(Proposal(constraints=CostsAsked(vertices=100)), rules()),
    "seeded demanded": Side(Proposal(determinism=Determinism.SEEDED), rules()),
    "deterministic demanded": Side(Proposal(determinism=Determinism.DETERMINISTIC), rules()),
}

BLENDERS: dict[str, BlenderProfile] = {
    "4.2 headless": blender((4, 2, 0)),
    "4.5 headless": blender((4, 5, 3)),
    "5.0 headless": blender((5, 0, 1)),
    "5.0 with UI": blender((5, 0, 1), background=False),
    "5.0 unconfined": blender((5, 0, 1)).model_copy(update={"confinement": {"level": "none", "reason": "none here"}}),
}


@dataclass(frozen=True, slots=True)
class Demand:
    """What a call demands. `refused`: by rule, the hosts and the Blenders that refuse it; `asked`: the hosts that have a person asked
    where nothing refuses it."""

    tool: AnyTool
    args: Mapping[str, Any]
    refused: Mapping[str, tuple[str, ...]]
    asked: tuple[str, ...] = ()

    def expected(self, host: str, blender: str) -> set[str]:
        """The rules by which the cell of this host and this Blender refuses."""
        return {rule for rule, sides in self.refused.items() if host in sides or blender in sides}


def needing(*capabilities: str, least: Any = (4, 2, 0), most: Any = None) -> Requires:
    return Requires(least, ("object_write", *capabilities), most)


def but(*hosts: str) -> tuple[str, ...]:
    return tuple(host for host in HOSTS if host not in hosts)


def four_characters(args: Any) -> int:
    return 4


CATALOGUE = catalog.tools()
PIVOT = {"name": "Pivot"}
GRANTED = "everything allowed"
# What refuses any tool of the noun `object` that writes.
WRITING = {
    "capability": ("only scene_read",),
    "tool_denied": ("tool denied", "noun denied"),
    "level_denied": ("writing denied",),
}
HEADLESS_WRITING = {**WRITING, "mode_denied": ("headless denied",)}
# The same for tools of other nouns.
ELSEWHERE = {name: sides for name, sides in HEADLESS_WRITING.items() if name != "tool_denied"}

DEMANDS: dict[str, Demand] = {
    "reading": Demand(CATALOGUE["scene.find"], {}, {"mode_denied": ("headless denied",)}),
    "a safe write": Demand(TOOL, PIVOT, HEADLESS_WRITING),
    "a destructive write": Demand(
        changed(safety_level=SafetyLevel.DESTRUCTIVE), PIVOT, HEADLESS_WRITING, asked=but(GRANTED)
    ),
    "Blender 4.5 or newer": Demand(
        changed(requires=needing(least=(4, 5, 0))), PIVOT, {**HEADLESS_WRITING, "blender_too_old": ("4.2 headless",)}
    ),
    "Blender before 5.0": Demand(
        changed(requires=needing(most=(5, 0, 0))),
        PIVOT,
        {**HEADLESS_WRITING, "blender_too_new": ("5.0 headless", "5.0 with UI", "5.0 unconfined")},
    ),
    "the user interface": Demand(
        changed(safety_mode=SafetyMode.UI_ASSISTED),
        PIVOT,
        {
            **WRITING,
            "ui_not_agreed": but(GRANTED),
            "ui_missing": ("4.2 headless", "4.5 headless", "5.0 headless", "5.0 unconfined"),
        },
    ),
    "context-dependent operators": Demand(
        changed(safety_mode=SafetyMode.UNSAFE_OPS), PIVOT, {**WRITING, "unsafe_ops": but(GRANTED)}
    ),
    "the network": Demand(changed(requires=needing("network")), PIVOT, {**HEADLESS_WRITING, "network": but(GRANTED)}),
    "trusted Python": Demand(
        changed(requires=needing("python_trusted")),
        PIVOT,
        {**HEADLESS_WRITING, "trusted_python": but(GRANTED)},
        asked=(GRANTED,),
    ),
    "safe Python": Demand(
        CATALOGUE["python.run"],
        {"code": "pass"},
        {
            **ELSEWHERE,
            "unconfined": ("5.0 unconfined",),
            "determinism": ("deterministic demanded",),
            "python_code": ("little code",),
        },
    ),
    "code of 101 characters": Demand(
        CATALOGUE["python.run"],
        {"code": "#" * 101, "mode": "trusted"},
        {
            **ELSEWHERE,
            "python_code": ("little code", "short code"),
            "trusted_python": but(GRANTED),
            "determinism": ("deterministic demanded",),
        },
        asked=(GRANTED,),
    ),
    "code of three seconds": Demand(
        CATALOGUE["python.run"],
        {"code": "###", "mode": "trusted", "timeout_ms": 3000},
        {
            **ELSEWHERE,
            "seconds": ("little time for code",),
            "trusted_python": but(GRANTED),
            "determinism": ("deterministic demanded",),
        },
        asked=(GRANTED,),
    ),
    "arguments of more than 1 kB": Demand(
        CATALOGUE["mesh.create"],
        {"name": "Cloud", "vertices": [[number / 8, 0.125, 0.25] for number in range(100)]},
        {**ELSEWHERE, "payload": ("small payload", "payload limit")},
    ),
    "a mesh of 482 vertices": Demand(
        CATALOGUE["mesh.create_primitive"],
        {"kind": "uv_sphere", "name": "Ball"},
        {**ELSEWHERE, "vertices": ("few vertices",)},
    ),
    "a piece of code": Demand(
        changed(code_chars_for=four_characters), PIVOT, {**HEADLESS_WRITING, "python_code": ("little code",)}
    ),
    "a seeded result": Demand(
        changed(determinism=Determinism.SEEDED), PIVOT, {**HEADLESS_WRITING, "determinism": ("deterministic demanded",)}
    ),
    "a nondeterministic result": Demand(
        changed(determinism=Determinism.NONDETERMINISTIC),
        PIVOT,
        {**HEADLESS_WRITING, "determinism": ("deterministic demanded", "seeded demanded")},
    ),
    "a file inside a root": Demand(CATALOGUE["file.export"], {"path": str(ROOT / "a.stl")}, ELSEWHERE),
    "a file outside of every root": Demand(
        CATALOGUE["file.export"], {"path": "/elsewhere/a.stl"}, {**ELSEWHERE, "path_outside": tuple(HOSTS)}
    ),
    "a file in a denied directory": Demand(
        CATALOGUE["file.export"],
        {"path": str(ROOT / "secret" / "a.stl")},
        {**ELSEWHERE, "path_denied": ("path denied",)},
    ),
}
