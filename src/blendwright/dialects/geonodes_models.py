"""The documents of the geonodes protocol as models: the plan that comes in, the result and the gate envelope that go out.

The published schemas are made from these. Field names that the protocol prints are taken over exactly; fields that it only names
are ours, and docs/geonodes.md tells which.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from blendwright.nodes.payloads import GnOpsPayload, NodeTreePayload
from blendwright.tool_api.arguments import Args, Result

MOST_STEPS = 25
MOST_MILLISECONDS = 600_000
MOST_ID = 128

Version = Literal["1.0"]
StepType = Literal["NODE_TREE", "GN_OPS", "PYTHON"]
StepId = Annotated[str, Field(min_length=1, max_length=MOST_ID, description="A name of its own for the step.")]
Description = Annotated[str, Field(max_length=10_000, description="What the step is about, for people.")]


class PythonPayload(Args):
    """Python for Blender."""

    mode: Literal["safe", "trusted"] = Field(
        default="safe",
        description="safe: in a confined Blender that is thrown away; trusted: only after a person has confirmed it.",
    )
    code: str = Field(min_length=1, description="The code; its length is bounded by limits.python_code_chars.")
    timeout_ms: Annotated[int, Field(ge=1, le=MOST_MILLISECONDS)] = Field(
        default=4000, description="Milliseconds that it may take."
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
    """How the plan wants to be treated."""

    requires_gate_verification: bool = Field(
        default=True, description="True: done is accepted only when the gates pass. False: the gates are only reported."
    )


class GeonodesPlan(Args):
    """A plan of the geonodes protocol, version 1.0. Beyond this schema: step ids are unique, and __gates__ is reserved."""

    version: Version = Field(description="Version of the protocol: 1.0.")
    steps: list[Annotated[NodeTreeStep | GnOpsStep | PythonStep, Field(discriminator="type")]] = Field(
        max_length=MOST_STEPS, description=f"What to do, in order; at most {MOST_STEPS} steps."
    )
    done: bool = Field(description="True when no further actions are needed, false to ask for another round.")
    final_message: str = Field(min_length=1, max_length=10_000, description="What to tell the user at the end.")
    meta: PlanMeta = Field(default=PlanMeta(), description="How the plan wants to be treated.")


class GateEnvelope(Result):
    """What the verification gates of all trees say that the plan touched, to be read before the next round."""

    success: bool = Field(description="True when every required gate of every tree is passed.")
    failed_gates: list[str] = Field(description="The required gates that are not passed.")
    messages: list[str] = Field(
        description="For each of them what is wrong and what to change; without one, why they were not judged."
    )


class Problem(Result):
    """One thing that is wrong with a step, or with the plan."""

    pointer: str = Field(description="Where in the plan, as a JSON pointer.")
    message: str = Field(description="What is wrong.")
    cure: str | None = Field(description="What to do about it.")


class ErrorSummary(Result):
    """Why the steps were not done."""

    step_id: str | None = Field(description="The step that failed; null when it was no step.")
    code: str = Field(description="What kind of failure it was.")
    message: str = Field(description="What went wrong.")
    problems: list[Problem] = Field(description="Everything that is wrong, with places and cures.")


class StepSummary(Result):
    """What became of one step."""

    id: str = Field(description="Id of the step.")
    type: StepType = Field(description="Type of the step.")
    status: Literal["ok", "failed", "skipped", "rolled_back"] = Field(
        description="rolled_back: it was done, and was taken back because something after it failed."
    )
    message: str = Field(description="Why it is not ok, or that it was done before; empty otherwise.")
    output: dict[str, object] | None = Field(description="What the step gave.")


class GeonodesResult(Result):
    """What became of a plan of the geonodes protocol."""

    version: Version = Field(description="Version of the protocol.")
    request_id: str = Field(description="The sha256 of the plan, or the id that it was run under.")
    status: Literal["done", "continue", "failed", "rolled_back", "refused"] = Field(
        description="continue: the steps were done, and the plan asked for another round. refused: nothing was done."
    )
    done: bool = Field(
        description="Whether done was accepted: asked for, every step done, and the required gates passed."
    )
    steps: list[StepSummary] = Field(description="The steps, in order.")
    gates_required: bool = Field(description="Whether done depends on the gates; false: they are only reported.")
    gates: GateEnvelope = Field(description="The verification gates.")
    error: ErrorSummary | None = Field(description="Why a step failed; null when only gates did, or nothing.")
    final_message: str = Field(description="The message of the plan; it holds when done was accepted.")
