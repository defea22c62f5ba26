"""What a run leaves, as published documents: the receipt of an operation, and the report. The code makes them as plain data;
these models say what is in them, and tests hold the two together."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from blendwright.values.outcome import DeterminismClass

SafetyWord = Literal["read_only", "safe_write", "destructive"]


class _Document(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class AuditPlace(_Document):
    """Where in the audit chain the record of an operation stands."""

    sequence: int = Field(description="Number of the record.")
    hash: str = Field(description="Its hash, which every later record builds on.")


class Receipt(_Document):
    """The receipt of one operation that was done, as the journal keeps it."""

    request_id: str = Field(description="The request it belongs to.")
    operation_id: str = Field(description="The operation; of a step of a macro the caller's id and the step's number.")
    tool_name: str = Field(description="The tool.")
    tool_version: int = Field(description="The version of the tool.")
    operation_key: str = Field(description="sha256 of request id, operation id and canonical arguments.")
    mcp_call_id: str = Field(description="Id of the invocation.")
    blender_mutation_id: str | None = Field(description="Id of the change; null when nothing changed.")
    safety_level: SafetyWord = Field(description="The level under which it ran.")
    status: Literal["succeeded"] = Field(description="A receipt is there for what was done, and nothing else.")
    scene_hash_before: str = Field(description="The scene before.")
    scene_hash_after: str = Field(description="The scene after.")
    result: dict[str, Any] | None = Field(description="What the tool gave back.")
    handles: list[dict[str, str]] = Field(description="Kind and name of what it made or changed.")
    changes: list[dict[str, str]] = Field(description="Kind, name and change of what it touched; the first 200.")
    determinism_class: DeterminismClass = Field(description="What was promised for these arguments.")
    seed: int | None = Field(description="The seed, where there is one.")
    tolerance: float | None = Field(description="The tolerance within which results agree, where one applies.")
    timestamp: str = Field(description="When, in UTC.")
    contract: str | None = Field(default=None, description="Fingerprint of the session's contract.")
    approval: str | None = Field(default=None, description="Id of the approval that a person gave.")
    commit: int | None = Field(default=None, description="Number of the commit; none for what only read.")
    audit: AuditPlace | None = Field(default=None, description="Its audit record.")
    superseded_by: int | None = Field(
        default=None,
        description="Of an operation that was done before: the commit that took its effect back since, where one did.",
    )


class FindingDocument(_Document):
    """One thing that is wrong."""

    code: str = Field(description="Its code, as the failure payload has it.")
    pointer: str = Field(description="JSON pointer into the plan.")
    message: str = Field(description="What is wrong.")
    cure: str | None = Field(description="What to do about it.")
    rule: str | None = Field(default=None, description="The rule of contract or policy that was not met.")
    place: str | None = Field(default=None, description="Where in a program it stands, as file:line:column.")
    expected: str | None = Field(default=None, description="What a value should be, where it is to equal another.")
    actual: str | None = Field(default=None, description="What it is instead.")


class MacroPlace(_Document):
    """The macro that an operation is a step of."""

    operation_id: str = Field(description="The caller's operation.")
    name: str = Field(description="The macro.")
    version: int = Field(description="Its version.")
    step: int = Field(description="Number of the step, from 1.")
    steps: int = Field(description="How many there are.")
    title: str = Field(description="What the step does.")


class OperationDocument(_Document):
    """One operation of a run."""

    operation_id: str = Field(description="Its id; steps of macros have the caller's id and a number.")
    tool: str = Field(description="The tool.")
    status: Literal["succeeded", "failed", "rolled_back", "skipped_idempotent", "skipped", "refused"] = Field(
        description="What became of it."
    )
    safety_level: SafetyWord | None = Field(description="The level under which it runs.")
    fault: str | None = Field(description="What went wrong with it.")
    message: str = Field(description="Why it is not succeeded.")
    findings: list[FindingDocument] = Field(description="Everything that is wrong with it.")
    blocked: bool = Field(description="Kept from running by what it waits for.")
    result: dict[str, Any] | None = Field(description="What the tool gave back.")
    scene_hash_before: str | None = Field(description="The scene before.")
    scene_hash_after: str | None = Field(description="The scene after.")
    mcp_call_id: str | None = Field(description="Id of the invocation.")
    blender_mutation_id: str | None = Field(description="Id of the change.")
    operation_key: str | None = Field(description="Its key.")
    commit: int | None = Field(description="Number of the commit.")
    receipt: Receipt | None = Field(description="Its receipt.")
    timings: dict[str, float] = Field(description="Milliseconds by part.")
    macro: MacroPlace | None = Field(description="Where it is a step of a macro.")
    partial_work: dict[str, Any] | None = Field(
        default=None,
        description="Where it failed after it had begun: what was taken back, or that nothing of it stands, and what code had printed.",
    )


class RepairDocument(_Document):
    """One entry of the smallest repair."""

    operation_id: str = Field(description="The operation.")
    action: Literal["retry", "replace_args", "drop", "insert_precondition"] = Field(description="What to do with it.")


class RunReportDocument(_Document):
    """The report of a run, or of its refusal, whatever the dialect of the plan."""

    dialect: str = Field(description="The dialect of the plan.")
    request_id: str = Field(description="The request.")
    status: Literal["succeeded", "partial", "failed", "rolled_back", "refused"] = Field(
        description="What became of it."
    )
    operations: list[OperationDocument] = Field(description="In schedule order; macros are there step by step.")
    findings: list[FindingDocument] = Field(description="What is wrong with the plan as a whole.")
    repair: list[RepairDocument] = Field(description="The smallest repair after which the plan can run.")
    schedule_hash: str | None = Field(description="Equal for equal plans, tools and scenes.")
    boundary: Literal["operation", "plan"] = Field(description="What a failure takes back.")
    contract: str | None = Field(default=None, description="Fingerprint of the session's contract.")
    scene_hash_before: str | None = Field(default=None, description="The scene before the run.")
    scene_hash_after: str | None = Field(default=None, description="The scene after the run.")
    checkpoint: dict[str, Any] | None = Field(description="The latest consistent one, after a rollback that failed.")
    started: float | None = Field(description="Seconds since the epoch.")
    finished: float | None = Field(description="Seconds since the epoch.")
    timings: dict[str, float] = Field(description="Milliseconds by part.")
    implied_by: dict[str, dict[str, str]] = Field(
        default={}, description="By operation, those that it waited for because of what they make or use, and why."
    )
    notes: list[str] = Field(default=[], description="What the author should know although nothing is wrong.")
