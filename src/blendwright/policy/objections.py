"""Everything that speaks against a call, as one ordered list. Decided on values alone: no side effect, and every reason at once.

`validate` asks the list without a Blender, a run and a preview with the one at hand, a single call with its files too: each up to the
stage that it has reached. What a person has to allow comes after it (`approval_ruling`), and is no objection.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import cache
from typing import Any

import orjson

from blendwright.policy.policy import Limits, Ruling, Verdict, named_rule, ruling
from blendwright.policy.refusals import refusal
from blendwright.policy.session_contract import ContractTerms, dotted
from blendwright.tool_api.arguments import file_arguments
from blendwright.tool_api.promises import CAPABILITIES, Isolation, SafetyLevel, SafetyMode
from blendwright.tool_api.tool import AnyTool, Tool
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding
from blendwright.wire.blender_profile import BlenderProfile

NETWORK = "network"
TRUSTED_PYTHON = "python_trusted"
# The level of confinement at which every forbidden act was tried and refused.
FULL = "full"
# More than this does not fit the wire, nor any plan.
LARGEST_PAYLOAD = Limits.model_construct().payload_bytes
# Of what is wrong with a path, this is known before it is the operation's turn: an operation before it may write the file.
PATH_FAULTS = frozenset({Fault.POLICY_BLOCKED, Fault.ARGS_INVALID})


class Stage(IntEnum):
    """When something can be known."""

    PLAN = 1
    """With the plan and the terms: it holds for every operation, also for one that was done before."""
    ARGUMENTS = 2
    """The same, for operations that are to run."""
    BLENDER = 3
    """With the Blender that is to run it."""
    FILES = 4
    """When it is its turn: with the files as they are then."""


PathFindings = Callable[[AnyTool, dict[str, Any]], Iterable[Finding]]


@dataclass(frozen=True, slots=True)
class ProposedCall:
    """A call with sound arguments, and what it is held against. `level` is the declared one, which may be more than its own."""

    terms: ContractTerms
    tool: AnyTool
    model: Any
    args: Mapping[str, Any]
    level: str
    blender: BlenderProfile | None = None
    path_findings: PathFindings | None = None
    """What speaks against the paths in the arguments; None where nobody knows the roots yet."""

    @property
    def known_blender(self) -> BlenderProfile:
        assert self.blender is not None, "this stage has a Blender"
        return self.blender


def _always(tool: type[AnyTool]) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Objection:
    """One line of the list. `rules` are its rows in refusals.py; the tool's own objections have none there."""

    rules: tuple[str, ...]
    stage: Stage
    reason: str
    find: Callable[[ProposedCall], Iterable[Finding]]
    concerns: Callable[[type[AnyTool]], bool] = _always
    """Whether it can apply to calls of a tool at all."""
    bounds: Callable[[ContractTerms], bool] | None = None
    """Whether the terms have the bound that it is about; None where they always have."""
    by_arguments: bool = False
    """Whether calls that need the same capabilities and isolation may differ in it."""
    in_arguments: bool = False
    """Whether its findings point into the arguments; otherwise they are about the call as a whole."""


def concerning(tool: AnyTool, terms: ContractTerms, stage: Stage) -> tuple[Objection, ...]:
    """The lines of the list that can apply to calls of a tool under these terms, and be known at this stage."""
    lines = _lines(tool.__class__, stage)
    return tuple(one for one in lines if one.bounds is None or one.bounds(terms))


@cache
def _lines(tool: type[AnyTool], stage: Stage) -> tuple[Objection, ...]:
    return tuple(one for one in OBJECTIONS if one.stage <= stage and one.concerns(tool))


def findings_against(call: ProposedCall, stage: Stage) -> Iterator[Finding]:
    """All that speaks against the call as far as it can be known at this stage, in the order of the list."""
    for objection in concerning(call.tool, call.terms, stage):
        yield from objection.find(call)


def _blender_range(call: ProposedCall) -> Iterator[Finding]:
    needs, blender = call.tool.requires, call.known_blender
    message = f"{call.tool.name} does not work on Blender {blender.version_string}"
    if blender.version < needs.blender_min:
        yield refusal("blender_too_old", message, least=dotted(needs.blender_min))
    if needs.blender_max is not None and blender.version >= needs.blender_max:
        yield refusal("blender_too_new", message, most=dotted(needs.blender_max))


def _capabilities(call: ProposedCall) -> Iterator[Finding]:
    for capability in call.tool.capabilities_for(call.model):
        if capability not in call.terms.capabilities:
            need = f"{call.tool.name} needs the capability '{capability}' ({CAPABILITIES[capability]})"
            yield refusal("capability", f"{need}, which this session does not have")


def _user_interface(call: ProposedCall) -> Iterator[Finding]:
    if call.tool.safety_mode is SafetyMode.UI_ASSISTED and call.known_blender.background:
        message = f"{call.tool.name} needs Blender's user interface, and this Blender runs without one"
        yield refusal("ui_missing", message)


def _confinement(call: ProposedCall) -> Iterator[Finding]:
    confinement = call.known_blender.confinement
    if call.tool.isolation_for(call.model) is Isolation.DISPOSABLE and confinement.get("level") != FULL:
        why = confinement.get("reason") or "this system has none"
        yield refusal("unconfined", f"{call.tool.name} runs foreign code and this Blender is not fully confined: {why}")


def _name_and_level(call: ProposedCall) -> Iterator[Finding]:
    return denied(call.terms, call.tool.name, _level(call.tool, call.model, call.level))


def denied(terms: ContractTerms, name: str, level: str) -> Iterator[Finding]:
    """What the rules for names and levels say against an act, which need not be a tool: going to another commit is none."""
    rules = terms.constraints.rules
    named = named_rule(rules, name)
    if named is not None and named[1] is Verdict.DENY:
        yield refusal("tool_denied", f"{name} is denied by {named[0]}", place=named[0])
    if named is None and rules.levels.of(level) is Verdict.DENY:
        yield refusal("level_denied", f"{name} is {level}, which the policy denies", level=level)


def _mode(call: ProposedCall) -> Iterator[Finding]:
    mode, name = call.tool.safety_mode, call.tool.name
    if call.terms.constraints.rules.modes.of(mode) is not Verdict.DENY:
        return
    match mode:
        case SafetyMode.UNSAFE_OPS:
            yield refusal("unsafe_ops", f"{name} uses context-dependent operators, which this session does not allow")
        case SafetyMode.UI_ASSISTED:
            yield refusal("ui_not_agreed", f"{name} uses Blender's user interface, which this session does not allow")
        case _:
            yield refusal("mode_denied", f"{name} is {mode.value}, which the policy denies", mode=mode.value)


def _network(call: ProposedCall) -> Iterator[Finding]:
    if NETWORK in call.tool.requires.capabilities and call.terms.constraints.rules.network == "deny":
        yield refusal("network", f"{call.tool.name} reaches other machines, which the policy denies")


def _trusted_python(call: ProposedCall) -> Iterator[Finding]:
    denies = call.terms.constraints.rules.trusted_python == "deny"
    if denies and TRUSTED_PYTHON in call.tool.capabilities_for(call.model):
        yield refusal("trusted_python", f"{call.tool.name} runs Python without confinement, which the policy denies")


def _payload(call: ProposedCall) -> Iterator[Finding]:
    size, most = payload_bytes(call.args), call.terms.limits.payload_bytes
    if size > most:
        yield refusal("payload", f"the arguments of {call.tool.name} have {size} bytes, and {most} are allowed")


def payload_bytes(args: Mapping[str, Any]) -> int:
    try:
        return len(orjson.dumps(args))
    except TypeError:
        return 0  # an integer beyond 64 bits, which the arguments' own schema has let pass


def _vertices(call: ProposedCall) -> Iterator[Finding]:
    vertices, most = call.tool.vertices_for(call.model), call.terms.constraints.vertices
    if vertices > most:
        yield refusal("vertices", f"{call.tool.name} is asked for {vertices} vertices, and {most} are allowed")


def _code(call: ProposedCall) -> Iterator[Finding]:
    chars, most = call.tool.code_chars_for(call.model), call.terms.limits.python_code_chars
    if chars > most:
        yield refusal("python_code", f"the code has {chars} characters, and {most} are allowed")


def _seconds(call: ProposedCall) -> Iterator[Finding]:
    asked, most = call.tool.time_asked(call.model), call.terms.seconds_for(call.tool)
    if asked is not None and asked[1] > most:
        message = f"{call.tool.name} is asked for {asked[1]:g} s, and {most:g} s are allowed"
        background = f"{call.terms.constraints.background_seconds:g}"
        yield refusal(
            "seconds", message, asked[0], most=f"{most:g}", background=background, setting=call.tool.time_limit
        )


def _determinism(call: ProposedCall) -> Iterator[Finding]:
    demand, actual = call.terms.constraints.determinism, call.tool.determinism_for(call.model)
    if demand is not None and actual.rank > demand.rank:
        message = f"{call.tool.name} is {actual.value} with these arguments, and {demand.value} results are demanded"
        yield refusal("determinism", message)


def _own(call: ProposedCall) -> Iterable[Finding]:
    return call.tool.examine(call.model, call.known_blender.version)


def _paths(call: ProposedCall) -> Iterator[Finding]:
    return (finding for finding in _path_findings(call) if finding.fault in PATH_FAULTS)


def _files(call: ProposedCall) -> Iterator[Finding]:
    return (finding for finding in _path_findings(call) if finding.fault not in PATH_FAULTS)


def _path_findings(call: ProposedCall) -> Iterable[Finding]:
    if call.path_findings is None:
        return ()
    return call.path_findings(call.tool, dict(call.args))


def _overrides(method: str) -> Callable[[type[AnyTool]], bool]:
    """Only tools that have a say in it are asked."""
    return lambda tool: getattr(tool, method) is not getattr(Tool, method)


def _has_paths(tool: type[AnyTool]) -> bool:
    return bool(file_arguments(tool.args_model))


OBJECTIONS: tuple[Objection, ...] = (
    # What this Blender and this session offer, before what the policy says about it.
    Objection(("blender_too_old", "blender_too_new"), Stage.BLENDER, "the tool needs another Blender", _blender_range),
    Objection(("capability",), Stage.ARGUMENTS, "the session lacks a capability", _capabilities),
    Objection(("ui_missing",), Stage.BLENDER, "Blender has no user interface", _user_interface),
    Objection(("unconfined",), Stage.BLENDER, "Blender is not confined enough for foreign code", _confinement),
    # The policy: the most particular rule first.
    Objection(("tool_denied", "level_denied"), Stage.ARGUMENTS, "the policy denies tool or level", _name_and_level),
    Objection(("unsafe_ops", "ui_not_agreed", "mode_denied"), Stage.ARGUMENTS, "the policy denies the mode", _mode),
    Objection(("network",), Stage.ARGUMENTS, "the policy denies the network", _network),
    Objection(("trusted_python",), Stage.ARGUMENTS, "the policy denies unconfined Python", _trusted_python),
    # What depends on every single argument.
    Objection(
        ("payload",), Stage.ARGUMENTS, "the arguments are too large", _payload,
        bounds=lambda terms: terms.limits.payload_bytes < LARGEST_PAYLOAD, by_arguments=True,
    ),
    Objection(
        ("vertices",), Stage.ARGUMENTS, "the arguments ask for too much geometry", _vertices,
        concerns=_overrides("vertices_for"), by_arguments=True,
    ),
    Objection(
        ("python_code",), Stage.PLAN, "the code is too long", _code,
        concerns=_overrides("code_chars_for"), by_arguments=True, in_arguments=True,
    ),
    Objection(
        ("seconds",), Stage.ARGUMENTS, "the arguments ask for too much time", _seconds,
        concerns=_overrides("time_asked"), by_arguments=True, in_arguments=True,
    ),
    Objection(
        ("determinism",), Stage.PLAN, "the result is of a weaker class than demanded", _determinism,
        bounds=lambda terms: terms.constraints.determinism is not None, by_arguments=True, in_arguments=True,
    ),
    Objection(
        (), Stage.BLENDER, "the tool itself knows that this Blender cannot do it", _own,
        concerns=_overrides("examine"), by_arguments=True, in_arguments=True,
    ),
    # Last, since the file system is asked.
    Objection(
        ("path_outside", "path_denied", "path_workspace"), Stage.ARGUMENTS, "a path may not be touched", _paths,
        concerns=_has_paths, by_arguments=True, in_arguments=True,
    ),
    Objection(
        (), Stage.FILES, "a file is missing, or in the way", _files,
        concerns=_has_paths, by_arguments=True, in_arguments=True,
    ),
)  # fmt: skip


def approval_ruling(
    terms: ContractTerms,
    tool: AnyTool,
    args: Any,
    level: str,
    roots: tuple[tuple[str, Verdict], ...] = (),
    hidden: tuple[str, ...] = (),
) -> Ruling | None:
    """What a person must be asked about a call that nothing speaks against, or None. `hidden` are hidden files that it reads."""
    rules = terms.constraints.rules
    verdict = ruling(rules, tool.name, tool.safety_mode, _level(tool, args, level), roots)
    if TRUSTED_PYTHON in tool.capabilities_for(args):
        return Ruling(Verdict.ASK, (*verdict.reasons, "policy.trusted_python = ask"), (tool.name,), in_person=True)
    if hidden and verdict.verdict is not Verdict.DENY:
        reasons = (*verdict.reasons, *(f"{path} is a hidden file" for path in hidden))
        verdict = Ruling(Verdict.ASK, reasons, (*verdict.grants, *hidden))
    if verdict.verdict is not Verdict.ASK:
        return None
    return replace(verdict, notes=tool.reasons_for(args))


def approval_ruling_for(terms: ContractTerms, act: str, level: str) -> Ruling | None:
    """The same for an act that is no tool."""
    verdict = ruling(terms.constraints.rules, act, SafetyMode.HEADLESS_SAFE, level)
    if verdict.verdict is Verdict.ASK:
        return verdict
    return None


def _level(tool: AnyTool, args: Any, declared: str) -> str:
    """The level that counts: declaring more than the call's own is honoured."""
    return max(tool.safety_level_for(args), SafetyLevel(declared), key=lambda level: level.rank).value
