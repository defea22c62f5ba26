"""Models of the geonodes protocol's documents: the plan, the result and the gate envelope.

scripts/generate_schemas.py makes the published schemas from them. Field names that the protocol prints stay exactly as
printed. This project defines the fields that the protocol only mentions; docs/geonodes.md lists them.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from blendwright.nodes.payloads import GnOpsPayload, NodeTreePayload
from blendwright.tool_api.arguments import Args, Result

MAX_STEPS = 25
MAX_MILLISECONDS = 600_000
MAX_ID_CHARACTERS = 128

Version = Literal["1.0"]
StepType = Literal["NODE_TREE", "GN_OPS", "PYTHON"]
StepId = Annotated[str, Field(min_length=1, max_length=MAX_ID_CHARACTERS, description="A unique name for the step.")]
Description = Annotated[str, Field(max_length=10_000, description="Purpose of the step, for people.")]


class PythonPayload(Args):
    """Python for Blender."""

    mode: Literal["safe", "trusted"] = Field(
        default="safe",
        description="safe: in a confined, disposable Blender; trusted: only after a person has confirmed it.",
    )
    code: str = Field(min_length=1, description="The code; limits.python_code_chars bounds its length.")
    timeout_ms: Annotated[int, Field(ge=1, le=MAX_MILLISECONDS)] = Field(
        default=4000, description="Time limit in milliseconds."
    )


class NodeTreeStep(Args):
    """Build or change a tree."""

    id: StepId
    type: Literal["NODE_TREE"]
    description: Description = ""
    payload: NodeTreePayload


class GnOpsStep(Args):
    """Apply a deterministic patch."""

    id: StepId
    type: Literal["GN_OPS"]
    description: Description = ""
    payload: GnOpsPayload


class PythonStep(Args):
    """Run Python."""

    id: StepId
    type: Literal["PYTHON"]
    description: Description = ""
    payload: PythonPayload


class PlanMeta(Args):
    """Options for the treatment of the plan."""

    requires_gate_verification: bool = Field(
        default=True, description="True: done is accepted only when the gates pass. False: the gates are only reported."
    )


class GeonodesPlan(Args):
    """A plan of the geonodes protocol, version 1.0. Beyond this schema: step ids are unique, and __gates__ is reserved."""

    version: Version = Field(description="Version of the protocol: 1.0.")
    steps: list[Annotated[NodeTreeStep | GnOpsStep | PythonStep, Field(discriminator="type")]] = Field(
        max_length=MAX_STEPS, description=f"The steps, in order; at most {MAX_STEPS}."
    )
    done: bool = Field(description="True when no further actions are needed, false to ask for another round.")
    final_message: str = Field(min_length=1, max_length=10_000, description="Message to the user at the end.")
    meta: PlanMeta = Field(default=PlanMeta(), description="Options for the treatment of the plan.")


class GateEnvelope(Result):
    """Verdict of the verification gates on all trees of the plan. Read it before the next round."""

    success: bool = Field(description="True if every tree passes every required gate.")
    failed_gates: list[str] = Field(description="The required gates that failed.")
    messages: list[str] = Field(
        description="The problem and the fix for each failed gate; without one, why the gates were not judged."
    )


class Problem(Result):
    """A problem of a step or of the plan."""

    pointer: str = Field(description="JSON pointer into the plan.")
    message: str = Field(description="Description of the problem.")
    cure: str | None = Field(description="Fix for the problem.")


class ErrorSummary(Result):
    """The reason why some steps were not done."""

    step_id: str | None = Field(description="The step that failed; null if no step did.")
    code: str = Field(description="Kind of the failure.")
    message: str = Field(description="Description of the failure.")
    problems: list[Problem] = Field(description="All problems, with locations and fixes.")


class StepSummary(Result):
    """Outcome of a step."""

    id: str = Field(description="Id of the step.")
    type: StepType = Field(description="Type of the step.")
    status: Literal["ok", "failed", "skipped", "rolled_back"] = Field(
        description="rolled_back: the step was done, and then undone because something after it failed."
    )
    message: str = Field(description="Why it is not ok, or that it was done earlier; empty otherwise.")
    output: dict[str, object] | None = Field(description="Output of the step.")


class GeonodesResult(Result):
    """Outcome of a plan of the geonodes protocol."""

    version: Version = Field(description="Version of the protocol.")
    request_id: str = Field(description="The sha256 of the plan, or the id that the caller gave.")
    status: Literal["done", "continue", "failed", "rolled_back", "refused"] = Field(
        description="continue: the steps were done, and the plan asked for another round. refused: nothing was done."
    )
    done: bool = Field(
        description="True if done was accepted: requested, every step done, and the required gates passed."
    )
    steps: list[StepSummary] = Field(description="The steps, in order.")
    gates_required: bool = Field(description="True if done depends on the gates; false: they are only reported.")
    gates: GateEnvelope = Field(description="The verification gates.")
    error: ErrorSummary | None = Field(description="Why a step failed; null if only gates failed, or nothing.")
    final_message: str = Field(description="The message of the plan; valid if done was accepted.")
