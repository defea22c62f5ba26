"""Outcomes of operations, as the engine passes them to the journal and as the journal stores and finds them, and
the moves of HEAD.
"""

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
    """A successful operation for the journal. Its parent is HEAD, or the previous commit in the same batch.

    A commit that is not replayable must have a checkpoint. The journal adds `commit` and `audit` (sequence, hash)
    to the receipt. A baseline has no parent and equal hashes. `settles` is the intent that this outcome ends.
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
    """The receipt of a read-only operation. It makes no commit, because it changes nothing, and is valid only for
    an equal scene hash.
    """

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
    """An operation without a commit: failed, reverted, or answered with an existing receipt."""

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
    """A commit of the history. `number` is its name for people; `generation` counts its ancestors."""

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
    """Consecutive commits of one request. `tools` counts the calls of each tool."""

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
    """The data of a commit that its redo needs. `args` is the JSON text of the journal."""

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
    """A read-only receipt and the scene hash for which it is valid."""

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
    """The result of writing a batch, entry by entry. `receipts` has None for entries without a receipt. `records`
    are the audit records.
    """

    numbers: tuple[int | None, ...]
    receipts: tuple[Mapping[str, Any] | None, ...]
    head: int | None
    audit: AuditHead
    records: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True, slots=True)
class HeadMove:
    """A move of HEAD, in an append-only log."""

    id: int
    kind: MoveKind
    from_commit: int | None
    to_commit: int | None
    timestamp: str


class OperationQuery(NamedTuple):
    """An operation about to run, for a look-up in the journal."""

    operation_key: str
    request_id: str
    operation_id: str
    tool: str
    tool_version: int


class MatchedCommit(NamedTuple):
    """The fields of a commit that answer a repeated operation."""

    number: int
    operation_key: str | None
    operation_id: str
    tool: str
    tool_version: int
    receipt: Mapping[str, Any]
    line: int
    generation: int


class OperationMatch(NamedTuple):
    """The journal's knowledge of a requested operation.

    `where` is one of these:

    - `ancestor`: `commit.receipt` is the answer.
    - `reading`: `reading.receipt` is the answer, for the requested scene hash.
    - `before_adopt`: the commit is an ancestor of HEAD, but an adopted file since then may lack its result.
    - `elsewhere`: the commit is only on another line.
    - `rolled_back`: the operation was rolled back, so it may run again.
    - `nowhere`: the journal does not contain the operation.

    `clash` is an operation with the same request and operation id, but other arguments, tool or version; never a
    rolled-back one. `intent` is an effect of this key outside the scene whose outcome is unknown. `earlier` is the
    latest reading of this key in any scene.
    """

    where: HistoryPosition
    commit: MatchedCommit | None = None
    reading: Reading | None = None
    clash: MatchedCommit | Reading | None = None
    intent: int | None = None
    earlier: Reading | None = None
