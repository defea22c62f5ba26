"""What is handed to the journal to be written: outcomes of operations, effects that are about to happen, saved scenes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from blendwright.policy.approvals import Approval

CommitKind = Literal["baseline", "operation", "adopt", "rebaseline"]
Status = Literal["succeeded", "failed", "rolled_back", "skipped_idempotent"]


class AuditIds(NamedTuple):
    """What an audit record says beyond the operation itself. `timestamp` None means the moment of the write."""

    mcp_call_id: str
    safety_level: str
    blender_mutation_id: str | None = None
    timestamp: str | None = None
    error_code: str | None = None
    # Microseconds inside Blender: plan, execute, verify; None for a phase that was not reached.
    phases_us: tuple[int | None, int | None, int | None] = (None, None, None)
    approval: Approval | None = None
    """The answer of the person who was asked, where one was."""


@dataclass(frozen=True, slots=True)
class StagedCheckpoint:
    """A saved scene that lies durably among the checkpoints; it counts once a row names it."""

    file: str
    sha256: str
    size: int
    scene_hash: str


@dataclass(frozen=True, slots=True)
class NewCommit:
    """One operation that was kept. Its parent is HEAD, or the commit before it in the same batch.

    One that cannot be replayed must bring its checkpoint. The journal adds `commit` and `audit` (sequence, hash) to the receipt.
    A baseline has no parent and equal hashes. `settles` is the intent that this outcome ends.
    """

    operation_key: str | None
    request_id: str
    operation_id: str
    tool: str
    tool_version: int
    args: Mapping[str, Any]
    hash_before: str
    hash_after: str
    replayable: bool
    receipt: Mapping[str, Any]
    audit: AuditIds
    kind: CommitKind = "operation"
    checkpoint: StagedCheckpoint | None = None
    settles: int | None = None


@dataclass(frozen=True, slots=True)
class NewReading:
    """The receipt of a read-only operation: no commit, since it changes nothing; reusable only at an equal scene hash."""

    operation_key: str
    request_id: str
    operation_id: str
    tool: str
    tool_version: int
    args: Mapping[str, Any]
    scene_hash: str
    receipt: Mapping[str, Any]
    audit: AuditIds


class NewAudit(NamedTuple):
    """An operation that leaves no commit: failed, reverted, or answered with a receipt that was there already."""

    request_id: str
    operation_id: str
    tool: str
    status: Status
    hash_before: str
    hash_after: str | None
    audit: AuditIds
    settles: int | None = None


Entry = NewCommit | NewReading | NewAudit


@dataclass(frozen=True, slots=True)
class NewIntent:
    """Announces an effect outside the scene, before it happens."""

    operation_key: str
    request_id: str
    operation_id: str
    tool: str
    effect: str
