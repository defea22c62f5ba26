"""Phase 2 of a call: what the contract says against it. Decided on values alone: no side effect, and every reason at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from blendwright.policy.policy import Ruling, Verdict, named_rule, ruling
from blendwright.policy.refusals import refusal
from blendwright.policy.session_contract import Terms, dotted
from blendwright.tool_api.capabilities import CAPABILITIES
from blendwright.tool_api.effects import Isolation, SafetyLevel, SafetyMode
from blendwright.tool_api.tool import AnyTool
from blendwright.values.findings import Finding
from blendwright.wire.profiles import BlenderProfile

NETWORK = "network"
TRUSTED_PYTHON = "python_trusted"
# The level of confinement at which every forbidden act was tried and refused.
FULL = "full"


def gate(
    terms: Terms, blender: BlenderProfile, tool: AnyTool, args: Any, *, level: str | None = None, payload: int = 0
) -> Iterator[Finding]:
    """`level` is what a plan declares, which may be more than the tool's own; `payload` the size of the arguments in bytes.

    That the tool is in the registry is the caller's to find out, who has the registry at hand; which paths may be touched is said
    where paths are made absolute.
    """
    yield from tool_gate(terms, blender, tool, args, level or tool.safety_level_for(args).value)
    yield from of_arguments(terms, tool, args, payload)


def tool_gate(terms: Terms, blender: BlenderProfile, tool: AnyTool, args: Any, level: str) -> Iterator[Finding]:
    """What holds for every call of a tool at a level whose arguments need the same capabilities and the same isolation."""
    yield from _blender(blender, tool)
    yield from _offered(terms, blender, tool, args)
    yield from _allowed(terms, tool, args, level)


def static_gate(terms: Terms, tool: AnyTool, args: Any, level: str, payload: int = 0) -> Iterator[Finding]:
    """What is known of a call before there is a Blender. The demand for a class of results is left to whoever judges the whole plan."""
    yield from _capable(terms, tool, args)
    yield from _allowed(terms, tool, args, level)
    yield from _within_limits(terms, tool, args, payload)


def of_arguments(terms: Terms, tool: AnyTool, args: Any, payload: int) -> Iterator[Finding]:
    """What depends on the arguments."""
    yield from _within_limits(terms, tool, args, payload)
    if terms.constraints.determinism is not None:
        yield from demanded(terms, tool, args)


def demanded(terms: Terms, tool: AnyTool, args: Any) -> Iterator[Finding]:
    """The demand for a class of results."""
    demand, given = terms.constraints.determinism, tool.determinism_for(args)
    if demand is not None and given.rank > demand.rank:
        message = f"{tool.name} is {given.value} with these arguments, and {demand.value} results are demanded"
        yield refusal("determinism", message)


def approval_ruling(
    terms: Terms, tool: AnyTool, args: Any, level: str, roots: tuple[tuple[str, Verdict], ...] = ()
) -> Ruling | None:
    """What a person must be asked about a call that the gate lets pass, or None."""
    rules = terms.constraints.rules
    found = ruling(rules, tool.name, tool.safety_mode, _level(tool, args, level), roots)
    if TRUSTED_PYTHON in tool.capabilities_for(args):
        return Ruling(Verdict.ASK, (*found.reasons, "policy.trusted_python = ask"), (tool.name,), in_person=True)
    return found if found.verdict is Verdict.ASK else None


def approval_ruling_for(terms: Terms, act: str, level: str) -> Ruling | None:
    """The same for an act that is no tool."""
    found = ruling(terms.constraints.rules, act, SafetyMode.HEADLESS_SAFE, level)
    return found if found.verdict is Verdict.ASK else None


def _blender(blender: BlenderProfile, tool: AnyTool) -> Iterator[Finding]:
    needs = tool.requires
    message = f"{tool.name} does not work on Blender {blender.version_string}"
    if blender.version < needs.blender_min:
        yield refusal("blender_too_old", message, least=dotted(needs.blender_min))
    if needs.blender_max is not None and blender.version >= needs.blender_max:
        yield refusal("blender_too_new", message, most=dotted(needs.blender_max))


def _capable(terms: Terms, tool: AnyTool, args: Any) -> Iterator[Finding]:
    for capability in tool.capabilities_for(args):
        if capability not in terms.capabilities:
            meaning = CAPABILITIES[capability]
            message = f"{tool.name} needs the capability '{capability}' ({meaning}), which this session does not have"
            yield refusal("capability", message)


def _offered(terms: Terms, blender: BlenderProfile, tool: AnyTool, args: Any) -> Iterator[Finding]:
    yield from _capable(terms, tool, args)
    if tool.safety_mode is SafetyMode.UI_ASSISTED and blender.background:
        yield refusal("ui_missing", f"{tool.name} needs Blender's user interface, and this Blender runs without one")
    if tool.isolation_for(args) is Isolation.DISPOSABLE and blender.confinement.get("level") != FULL:
        why = blender.confinement.get("reason") or "this system has none"
        yield refusal("unconfined", f"{tool.name} runs foreign code and this Blender is not fully confined: {why}")


def _allowed(terms: Terms, tool: AnyTool, args: Any, declared: str) -> Iterator[Finding]:
    rules = terms.constraints.rules
    yield from denied(terms, tool.name, _level(tool, args, declared))
    if rules.modes.of(tool.safety_mode) is Verdict.DENY:
        yield _mode_denied(tool)
    if NETWORK in tool.requires.capabilities and rules.network == "deny":
        yield refusal("network", f"{tool.name} reaches other machines, which the policy denies")
    if TRUSTED_PYTHON in tool.capabilities_for(args) and rules.trusted_python == "deny":
        yield refusal("trusted_python", f"{tool.name} runs Python without confinement, which the policy denies")


def denied(terms: Terms, name: str, level: str) -> Iterator[Finding]:
    """What the rules for names and levels say against an act, which need not be a tool: going to another commit is none."""
    rules = terms.constraints.rules
    named = named_rule(rules, name)
    if named is not None and named[1] is Verdict.DENY:
        yield refusal("tool_denied", f"{name} is denied by {named[0]}", place=named[0])
    if named is None and rules.levels.of(level) is Verdict.DENY:
        yield refusal("level_denied", f"{name} is {level}, which the policy denies", level=level)


def _mode_denied(tool: AnyTool) -> Finding:
    match tool.safety_mode:
        case SafetyMode.UNSAFE_OPS:
            return refusal(
                "unsafe_ops", f"{tool.name} uses context-dependent operators, which this session does not allow"
            )
        case SafetyMode.UI_ASSISTED:
            return refusal(
                "ui_not_agreed", f"{tool.name} uses Blender's user interface, which this session does not allow"
            )
        case mode:
            return refusal("mode_denied", f"{tool.name} is {mode.value}, which the policy denies", mode=mode.value)


def _within_limits(terms: Terms, tool: AnyTool, args: Any, payload: int) -> Iterator[Finding]:
    if payload > terms.limits.payload_bytes:
        message = f"the arguments of {tool.name} have {payload} bytes, and {terms.limits.payload_bytes} are allowed"
        yield refusal("payload", message)
    vertices = tool.vertices_for(args)
    if vertices > terms.constraints.vertices:
        message = f"{tool.name} is asked for {vertices} vertices, and {terms.constraints.vertices} are allowed"
        yield refusal("vertices", message)
    yield from too_much_code(terms, tool, args)


def too_much_code(terms: Terms, tool: AnyTool, args: Any) -> Iterator[Finding]:
    """The bound on code, which needs no Blender to be found passed."""
    chars = tool.code_chars_for(args)
    if chars > terms.limits.python_code_chars:
        message = f"the code has {chars} characters, and {terms.limits.python_code_chars} are allowed"
        yield refusal("python_code", message)


def _level(tool: AnyTool, args: Any, declared: str) -> str:
    """The level that counts: declaring more than the call's own is honoured."""
    return max(tool.safety_level_for(args), SafetyLevel(declared), key=lambda level: level.rank).value
