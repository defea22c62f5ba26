"""Outcomes of operations: as they are handed to the journal, as it stores and finds them, and the moves of HEAD over them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from blendwright.records.audit import AuditDetails, AuditHead, Status
from blendwright.records.checkpoints import StagedCheckpoint

CommitKind = Literal["baseline", "operation", "adopt", "rebaseline"]
MoveKind = Literal["commit", "checkout", "undo", "redo", "rollback"]
HistoryPosition = Literal["nowhere", "ancestor", "reading", "before_adopt", "elsewhere", "rolled_back"]


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
    audit: AuditDetails
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
    audit: AuditDetails


class NewAudit(NamedTuple):
    """An operation that leaves no commit: failed, reverted, or answered with a receipt that was there already."""

    request_id: str
    operation_id: str
    tool: str
    status: Status
    hash_before: str
    hash_after: str | None
    audit: AuditDetails
    settles: int | None = None


Entry = NewCommit | NewReading | NewAudit


class Commit(NamedTuple):
    """One line of history. `number` names it for people; `generation` counts its ancestors."""

    number: int
    parent: int | None
    kind: CommitKind
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
    audit_sequence: int
    fence: int
    timestamp: str
    line: int
    generation: int


class PlanSpan(NamedTuple):
    """Commits that follow each other and are of one request; `tools` says how often each tool was called."""

    request_id: str
    first: int
    last: int
    tools: Counter[str]

    @property
    def operations(self) -> int:
        return self.tools.total()

    def holds(self, number: int) -> bool:
        return self.first <= number <= self.last


class CommittedStep(NamedTuple):
    """What of a commit is needed to redo it; the arguments are the text that the journal has."""

    number: int
    tool: str
    tool_version: int
    args: str
    hash_before: str
    hash_after: str

    @property
    def changed(self) -> bool:
        return self.hash_before != self.hash_after


class Reading(NamedTuple):
    """A read-only receipt and the scene it is true for."""

    operation_key: str
    request_id: str
    operation_id: str
    tool: str
    tool_version: int
    scene_hash: str
    receipt: Mapping[str, Any]
    audit_sequence: int


@dataclass(frozen=True, slots=True)
class CommitResult:
    """What a batch became, entry by entry; `receipts` is None where an entry has none. `records` are the audit records."""

    numbers: tuple[int | None, ...]
    receipts: tuple[Mapping[str, Any] | None, ...]
    head: int | None
    audit: AuditHead
    records: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True, slots=True)
class HeadMove:
    """One step of HEAD, in an append-only log."""

    id: int
    kind: MoveKind
    from_commit: int | None
    to_commit: int | None
    timestamp: str


class OperationQuery(NamedTuple):
    """An operation about to run, to be looked up."""

    operation_key: str
    request_id: str
    operation_id: str
    tool: str
    tool_version: int


class MatchedCommit(NamedTuple):
    """A commit, as far as it answers for an operation that is asked for again."""

    number: int
    operation_key: str | None
    operation_id: str
    tool: str
    tool_version: int
    receipt: Mapping[str, Any]
    line: int
    generation: int


class OperationMatch(NamedTuple):
    """What the journal knows of a wanted operation.

    `ancestor`: `commit.receipt` is its answer. `reading`: `reading.receipt` is, for the scene hash that was asked for.
    `before_adopt`: on HEAD's line, but a foreign file was adopted since and may have lost it. `elsewhere`: on another line
    only. `rolled_back`: it was taken back, so it may run again. `clash` is an operation of the same request and operation id
    with other args, tool or tool version (never one that was rolled back). `intent` is an outside effect of this key of which
    nobody knows whether it happened. `earlier` is the latest reading of this key, whatever scene it was taken in.
    """

    where: HistoryPosition
    commit: MatchedCommit | None = None
    reading: Reading | None = None
    clash: MatchedCommit | Reading | None = None
    intent: int | None = None
    earlier: Reading | None = None
