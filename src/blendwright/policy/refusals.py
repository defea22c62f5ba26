"""The table of refusals: every reason to refuse a session, a plan or a call before execution, with its code and fix.

Code that refuses something takes fault and fix from this table and adds a message about the case. The documentation
and the tests use the same table.
"""

from __future__ import annotations

from dataclasses import dataclass

from blendwright.values.faults import Fault
from blendwright.values.findings import Finding


@dataclass(frozen=True, slots=True)
class Rule:
    """A reason to refuse. `cure` is the fix; it may contain placeholders that `refusal` fills in."""

    fault: Fault
    when: str
    cure: str


APPROVAL_OUTDATED = "approval_outdated"

RULES: dict[str, Rule] = {
    # ---- negotiation
    "contract_version": Rule(
        Fault.POLICY_BLOCKED,
        "the host speaks another version of the contract",
        "Negotiate with contract_version {known}.",
    ),
    "feature_unknown": Rule(
        Fault.POLICY_BLOCKED, "the host asks for a feature flag that does not exist", "Known flags: {known}."
    ),
    "capability_unknown": Rule(
        Fault.CAPABILITY_MISSING, "the host asks for a capability that does not exist", "Known capabilities: {known}."
    ),
    "session_blender": Rule(
        Fault.UNSUPPORTED_BLENDER,
        "Blender is outside the range that the engine or the host supports",
        "Use a Blender from {least} on, older than {most}.",
    ),
    "contract_edited": Rule(
        Fault.POLICY_BLOCKED,
        "a contract from before does not have the fingerprints of its own content",
        "Give it exactly as it was made, or negotiate a new contract: blendwright contract --json",
    ),
    "registry_changed": Rule(
        Fault.TOOL_NOT_ALLOWED,
        "a contract from before names a tool or macro that has changed, gone or come since",
        "Negotiate a new contract: blendwright contract --json",
    ),
    "blender_changed": Rule(
        Fault.UNSUPPORTED_BLENDER,
        "a contract from before was made for another Blender",
        "Use that Blender, or negotiate a new contract: blendwright contract --json",
    ),
    # ---- plans
    "plan_too_long": Rule(Fault.LIMIT_EXCEEDED, "a plan has more operations than the contract allows", "Split it."),
    "macro_step_id": Rule(
        Fault.SCHEMA_INVALID,
        "an operation has an id that a step of a macro in the same plan goes by",
        "Choose another id.",
    ),
    # ---- calls: registry and policy
    "tool_unknown": Rule(Fault.TOOL_NOT_ALLOWED, "the tool is not in the registry", "{near}"),
    "tool_denied": Rule(
        Fault.POLICY_BLOCKED, "a rule of [policy.tools] denies the tool", "Do without it, or change {place}."
    ),
    "level_denied": Rule(
        Fault.POLICY_BLOCKED,
        "[policy.levels] denies the safety level",
        "Do without this tool, or change policy.levels.{level}.",
    ),
    "mode_denied": Rule(
        Fault.POLICY_BLOCKED,
        "[policy.modes] denies the safety mode",
        "Do without this tool, or change policy.modes.{mode}.",
    ),
    "unsafe_ops": Rule(
        Fault.POLICY_BLOCKED,
        "the tool uses context-dependent operators and the contract has not opted into unsafe_ops",
        "Do without this tool, or allow policy.modes.unsafe_ops and ask for the feature unsafe_ops.",
    ),
    "ui_not_agreed": Rule(
        Fault.POLICY_BLOCKED,
        "the tool uses the user interface and the contract's ui_optional is false",
        "Do without this tool, or allow policy.modes.ui_assisted and ask for the feature ui_optional.",
    ),
    "network": Rule(
        Fault.POLICY_BLOCKED,
        "the tool reaches other machines and the network is denied",
        "Do without this tool, or allow policy.network and ask for the feature network.",
    ),
    "trusted_python": Rule(
        Fault.POLICY_BLOCKED,
        "the call runs Python without confinement and that is denied",
        "Use safe Python, or set policy.trusted_python to ask and ask for the feature trusted_python.",
    ),
    # ---- calls: what Blender and the session offer
    "capability": Rule(
        Fault.CAPABILITY_MISSING,
        "the tool needs a capability that the session does not have",
        "Do without this tool, or open a session that has it.",
    ),
    "blender_too_old": Rule(
        Fault.UNSUPPORTED_BLENDER, "Blender is older than the tool's blender_min", "Use Blender {least} or newer."
    ),
    "blender_too_new": Rule(
        Fault.UNSUPPORTED_BLENDER,
        "Blender is not older than the tool's blender_max",
        "Use a Blender older than {most}.",
    ),
    "ui_missing": Rule(
        Fault.CAPABILITY_MISSING, "the tool needs a user interface and Blender has none", "Do without this tool."
    ),
    "unconfined": Rule(
        Fault.CAPABILITY_MISSING,
        "safe Python is asked for and Blender is not fully confined",
        "Do without Python, or use a system with full confinement: `blendwright doctor` says what is missing.",
    ),
    # ---- calls: limits
    "payload": Rule(Fault.LIMIT_EXCEEDED, "the arguments are larger than the contract allows", "Ask for less at once."),
    "vertices": Rule(
        Fault.LIMIT_EXCEEDED, "the arguments ask for more geometry than the contract allows", "Ask for fewer vertices."
    ),
    "python_code": Rule(
        Fault.LIMIT_EXCEEDED, "a piece of code is longer than the contract allows", "Split it, or write less."
    ),
    "seconds": Rule(
        Fault.LIMIT_EXCEEDED,
        "a call asks for more time than the contract gives it",
        "Ask for at most {most} s, run it in the background (at most {background} s), or raise constraints.{setting}.",
    ),
    "timeout": Rule(
        Fault.LIMIT_EXCEEDED,
        "a run or a call is to be given more time than the contract gives it",
        "Allow at most {most} s, run it in the background, or raise constraints.{setting}.",
    ),
    "scratch": Rule(
        Fault.LIMIT_EXCEEDED, "what Blender wrote is larger than the contract allows; it is taken back", "Ask for less."
    ),
    # ---- calls: files
    "path_outside": Rule(Fault.POLICY_BLOCKED, "a path is in none of [policy.roots]", "Allowed roots: {roots}."),
    "path_denied": Rule(
        Fault.POLICY_BLOCKED,
        "the nearest of [policy.roots] denies a path",
        "Choose a path elsewhere. Allowed: {roots}.",
    ),
    "path_workspace": Rule(
        Fault.POLICY_BLOCKED,
        "a path belongs to the workspace: its journal, checkpoints, artifacts and the like",
        "Choose a path outside {workspace}. `blendwright export` and `adopt` take scenes out and in.",
    ),
    # ---- calls: determinism
    "determinism": Rule(
        Fault.NONDETERMINISTIC_REFUSED,
        "the result is of a weaker class than is demanded",
        "Choose other arguments, or do without the demand for determinism: leave it out of the call and of [constraints].",
    ),
    # ---- approvals
    "approval_missing": Rule(
        Fault.POLICY_BLOCKED,
        "a person must allow the call and nobody could be asked",
        "Allow it with `{command}` and run it again{or_option}.",
    ),
    "trusted_unasked": Rule(
        Fault.POLICY_BLOCKED,
        "trusted code is to run where nobody is asked, as in a preview",
        "Use safe Python, or run the plan itself: it asks.",
    ),
    "trusted_in_window": Rule(
        Fault.POLICY_BLOCKED,
        "trusted code is to run on a scene that a person has open in a window",
        "Use safe Python, which runs beside the window; or `blendwright detach` and run it on the saved file.",
    ),
    "preview_unasked": Rule(
        Fault.POLICY_BLOCKED,
        "a person must allow the call, in a preview too, and nobody could be asked",
        "Give {option}, or run the plan itself: it asks.",
    ),
    "approval_declined": Rule(
        Fault.POLICY_BLOCKED, "a person was asked and declined", "Do without it, or run it again to be asked again."
    ),
    APPROVAL_OUTDATED: Rule(
        Fault.POLICY_BLOCKED,
        "others changed the scene while a person was asked",
        "Run it again: what is done is not done again, and the person is asked about the scene as it is then.",
    ),
}


def outdated_approval(tool: str) -> Finding:
    """Return the refusal of a call whose scene changed while a person decided about its approval."""
    return refusal(APPROVAL_OUTDATED, f"others changed the scene while a person was asked about {tool}")


def refusal(rule: str, message: str, at: str = "", **names: str) -> Finding:
    """Return a finding of this rule at the JSON pointer `at`. `names` fill the placeholders of its fix."""
    row = RULES[rule]
    return Finding(row.fault, message, at, row.cure.format(**names), rule)
