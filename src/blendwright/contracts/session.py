"""The session contract so far: what this Blender offers, what the session allows, and the gate that holds a call to both."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from blendwright.contracts.capabilities import CAPABILITIES
from blendwright.contracts.effects import Determinism, SafetyMode
from blendwright.contracts.profiles import BlenderProfile
from blendwright.contracts.tool import AnyTool
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding


class Limits(BaseModel):
    """What a call may cost."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    call_seconds: float = Field(default=30.0, gt=0, le=3600, description="Deadline of one call.")


class Session(BaseModel):
    """What holds for every call of a session."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    limits: Limits = Limits()
    capabilities: frozenset[str] = frozenset(CAPABILITIES)
    unsafe_ops: bool = False
    determinism: Determinism | None = None


def gate(session: Session, blender: BlenderProfile, tool: AnyTool, args: Any) -> Iterator[Finding]:
    """Phase 2: everything in the contract that speaks against a call. No side effect, every reason at once."""
    needs = tool.requires
    if blender.version < needs.blender_min:
        cure = f"Use Blender {_dotted(needs.blender_min)} or newer."
        yield Finding(
            Fault.UNSUPPORTED_BLENDER, f"{tool.name} does not work on Blender {blender.version_string}", "", cure
        )
    if needs.blender_max is not None and blender.version >= needs.blender_max:
        cure = f"Use a Blender older than {_dotted(needs.blender_max)}."
        yield Finding(
            Fault.UNSUPPORTED_BLENDER, f"{tool.name} does not work on Blender {blender.version_string}", "", cure
        )
    for capability in needs.capabilities:
        if capability not in session.capabilities:
            message = f"{tool.name} needs the capability '{capability}' ({CAPABILITIES[capability]}), which this session does not have"
            yield Finding(Fault.CAPABILITY_MISSING, message, "", "Do without this tool, or open a session that has it.")
    if tool.safety_mode is SafetyMode.UI_ASSISTED and blender.background:
        message = f"{tool.name} needs Blender's user interface, and this Blender runs without one"
        yield Finding(Fault.CAPABILITY_MISSING, message, "", "Do without this tool.")
    if tool.safety_mode is SafetyMode.UNSAFE_OPS and not session.unsafe_ops:
        message = f"{tool.name} uses context-dependent operators, which this session does not allow"
        yield Finding(Fault.POLICY_BLOCKED, message, "", "Allow unsafe_ops for this session, or do without this tool.")
    given = tool.determinism_for(args)
    if session.determinism is not None and given.rank > session.determinism.rank:
        message = (
            f"{tool.name} is {given.value} with these arguments, and {session.determinism.value} results are demanded"
        )
        yield Finding(Fault.NONDETERMINISTIC_REFUSED, message, "", "Choose other arguments, or do without the demand.")


def _dotted(version: tuple[int, int, int]) -> str:
    return ".".join(str(part) for part in version)
