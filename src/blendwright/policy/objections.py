"""An ordered list of all objections that can refuse a call. They read values only and return every reason at once.

Each caller checks the list up to the stage that it has reached. `validate` has no Blender; a run and a preview have
one; a single call also has its files. A need for a person's approval is not an objection: `approval_ruling` decides it.
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
# The level of confinement of a Blender that tried every forbidden act and failed at each.
FULL = "full"
# The largest arguments of a call in bytes. Neither the wire nor a plan takes more.
LARGEST_PAYLOAD = Limits.model_construct().payload_bytes
# Faults of a path that are certain before the operation's turn. Other faults can vanish, because an earlier operation may
# write the file.
PATH_FAULTS = frozenset({Fault.POLICY_BLOCKED, Fault.ARGS_INVALID})


class Stage(IntEnum):
    """The moment from which an objection is decidable."""

    PLAN = 1
    """With the plan and the terms. The objection applies to every operation, also to one that already ran."""
    ARGUMENTS = 2
    """With the plan and the terms, but only for operations that will run."""
    BLENDER = 3
    """With the Blender that will run the operation."""
    FILES = 4
    """At the operation's turn, with the files as they are at that moment."""


PathFindings = Callable[[AnyTool, dict[str, Any]], Iterable[Finding]]


@dataclass(frozen=True, slots=True)
class ProposedCall:
    """A call with valid arguments, and the terms to check it against.

    `level` is the declared safety level, which may be stricter than the level of the call itself.
    """

    terms: ContractTerms
    tool: AnyTool
    model: Any
    args: Mapping[str, Any]
    level: str
    blender: BlenderProfile | None = None
    path_findings: PathFindings | None = None
    """Returns the findings about paths in the arguments. None if the roots are not known yet."""

    @property
    def known_blender(self) -> BlenderProfile:
        assert self.blender is not None, "this stage has a Blender"
        return self.blender


def _always(tool: type[AnyTool]) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Objection:
    """A line of the list of objections.

    `rules` names its rows in refusals.py. It is empty for objections that a tool itself raises.
    """

    rules: tuple[str, ...]
    stage: Stage
    reason: str
    find: Callable[[ProposedCall], Iterable[Finding]]
    concerns: Callable[[type[AnyTool]], bool] = _always
    """Returns whether the objection can apply to calls of a tool."""
    bounds: Callable[[ContractTerms], bool] | None = None
    """Returns whether the terms have the bound that the objection checks. None if all terms have it."""
    by_arguments: bool = False
    """True if calls with the same capabilities and isolation may get different findings."""
    in_arguments: bool = False
    """True if the findings point into the arguments. False if they concern the call as a whole."""


def concerning(tool: AnyTool, terms: ContractTerms, stage: Stage) -> tuple[Objection, ...]:
    """Return the objections that can apply to calls of a tool under these terms, up to this stage."""
    lines = _lines(tool.__class__, stage)
    return tuple(objection for objection in lines if objection.bounds is None or objection.bounds(terms))


@cache
def _lines(tool: type[AnyTool], stage: Stage) -> tuple[Objection, ...]:
    return tuple(objection for objection in OBJECTIONS if objection.stage <= stage and objection.concerns(tool))


def findings_against(call: ProposedCall, stage: Stage) -> Iterator[Finding]:
    """Yield all findings against the call up to this stage, in the order of the list."""
    for objection in concerning(call.tool, call.terms, stage):
        yield from objection.find(call)


def _blender_range(call: ProposedCall) -> Iterator[Finding]:
    needs = call.tool.requires
    blender = call.known_blender
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
    """Yield a refusal if the policy denies an act by its name or level.

    The act need not be a tool: checking out another commit is an act without one.
    """
    rules = terms.constraints.rules
    matching_rule = named_rule(rules, name)
    if matching_rule is not None:
        location, verdict = matching_rule
        if verdict is Verdict.DENY:
            yield refusal("tool_denied", f"{name} is denied by {location}", place=location)
    elif rules.levels.of(level) is Verdict.DENY:
        yield refusal("level_denied", f"{name} is {level}, which the policy denies", level=level)


def _mode(call: ProposedCall) -> Iterator[Finding]:
    mode = call.tool.safety_mode
    name = call.tool.name
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
    size = payload_bytes(call.args)
    limit = call.terms.limits.payload_bytes
    if size > limit:
        yield refusal("payload", f"the arguments of {call.tool.name} have {size} bytes, and {limit} are allowed")


def payload_bytes(args: Mapping[str, Any]) -> int:
    """Return the size of the arguments as JSON in bytes, or 0 if orjson cannot write them."""
    try:
        return len(orjson.dumps(args))
    except TypeError:
        return 0  # an integer beyond 64 bits, which the schema of the arguments accepts


def _vertices(call: ProposedCall) -> Iterator[Finding]:
    vertices = call.tool.vertices_for(call.model)
    limit = call.terms.constraints.vertices
    if vertices > limit:
        yield refusal("vertices", f"{call.tool.name} is asked for {vertices} vertices, and {limit} are allowed")


def _code(call: ProposedCall) -> Iterator[Finding]:
    chars = call.tool.code_chars_for(call.model)
    limit = call.terms.limits.python_code_chars
    if chars > limit:
        yield refusal("python_code", f"the code has {chars} characters, and {limit} are allowed")


def _seconds(call: ProposedCall) -> Iterator[Finding]:
    request = call.tool.time_asked(call.model)
    if request is None:
        return

    pointer, seconds = request
    limit = call.terms.seconds_for(call.tool)
    if seconds > limit:
        message = f"{call.tool.name} is asked for {seconds:g} s, and {limit:g} s are allowed"
        background = f"{call.terms.constraints.background_seconds:g}"
        yield refusal(
            "seconds", message, pointer, most=f"{limit:g}", background=background, setting=call.tool.time_limit
        )


def _determinism(call: ProposedCall) -> Iterator[Finding]:
    demand = call.terms.constraints.determinism
    actual = call.tool.determinism_for(call.model)
    if demand is not None and actual.rank > demand.rank:
        message = f"{call.tool.name} is {actual.value} with these arguments, and {demand.value} results are demanded"
        yield refusal("determinism", message)


def _tool_objections(call: ProposedCall) -> Iterable[Finding]:
    return call.tool.examine(call.model, call.known_blender.version)


def _paths(call: ProposedCall) -> Iterator[Finding]:
    for finding in _path_findings(call):
        if finding.fault in PATH_FAULTS:
            yield finding


def _files(call: ProposedCall) -> Iterator[Finding]:
    for finding in _path_findings(call):
        if finding.fault not in PATH_FAULTS:
            yield finding


def _path_findings(call: ProposedCall) -> Iterable[Finding]:
    if call.path_findings is None:
        return ()
    return call.path_findings(call.tool, dict(call.args))


def _overrides(method: str) -> Callable[[type[AnyTool]], bool]:
    """Return a function that checks whether a tool class overrides this method of Tool."""
    return lambda tool: getattr(tool, method) is not getattr(Tool, method)


def _has_paths(tool: type[AnyTool]) -> bool:
    return bool(file_arguments(tool.args_model))


OBJECTIONS: tuple[Objection, ...] = (
    # The abilities of this Blender and this session come before the rules of the policy.
    Objection(("blender_too_old", "blender_too_new"), Stage.BLENDER, "the tool needs another Blender", _blender_range),
    Objection(("capability",), Stage.ARGUMENTS, "the session lacks a capability", _capabilities),
    Objection(("ui_missing",), Stage.BLENDER, "Blender has no user interface", _user_interface),
    Objection(("unconfined",), Stage.BLENDER, "Blender is not confined enough for foreign code", _confinement),
    # The policy: the most specific rule comes first.
    Objection(("tool_denied", "level_denied"), Stage.ARGUMENTS, "the policy denies tool or level", _name_and_level),
    Objection(("unsafe_ops", "ui_not_agreed", "mode_denied"), Stage.ARGUMENTS, "the policy denies the mode", _mode),
    Objection(("network",), Stage.ARGUMENTS, "the policy denies the network", _network),
    Objection(("trusted_python",), Stage.ARGUMENTS, "the policy denies unconfined Python", _trusted_python),
    # Objections that depend on the values of the arguments.
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
        (), Stage.BLENDER, "the tool itself knows that this Blender cannot do it", _tool_objections,
        concerns=_overrides("examine"), by_arguments=True, in_arguments=True,
    ),
    # Paths come last, because checking them reads the file system.
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
    """Return the ruling that a person must approve before a call without objections runs, or None.

    `roots` holds the policy roots of the call's files with their verdicts. `hidden` holds hidden files that the call reads.
    """
    rules = terms.constraints.rules
    verdict = ruling(rules, tool.name, tool.safety_mode, _level(tool, args, level), roots)
    if TRUSTED_PYTHON in tool.capabilities_for(args):
        return Ruling(Verdict.ASK, (*verdict.reasons, "policy.trusted_python = ask"), (tool.name,), in_person=True)
    if hidden and verdict.verdict is not Verdict.DENY:
        hidden_reasons = [f"{path} is a hidden file" for path in hidden]
        reasons = (*verdict.reasons, *hidden_reasons)
        verdict = Ruling(Verdict.ASK, reasons, (*verdict.grants, *hidden))
    if verdict.verdict is not Verdict.ASK:
        return None
    return replace(verdict, notes=tool.reasons_for(args))


def approval_ruling_for(terms: ContractTerms, act: str, level: str) -> Ruling | None:
    """Return the ruling that a person must approve for an act that is not a tool, or None."""
    verdict = ruling(terms.constraints.rules, act, SafetyMode.HEADLESS_SAFE, level)
    if verdict.verdict is Verdict.ASK:
        return verdict
    return None


def _level(tool: AnyTool, args: Any, declared: str) -> str:
    """Return the stricter of the declared level and the level of the call itself."""
    return max(tool.safety_level_for(args), SafetyLevel(declared), key=lambda level: level.rank).value
