"""What the journal holds and answers: commits, readings, audit records, checkpoints, ways to a scene, and what is pending."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

from blendwright.policy.approvals import ApprovalRequest
from blendwright.records.journal_entries import CommitKind

MoveKind = Literal["commit", "checkout", "undo", "redo", "rollback"]
Where = Literal["nowhere", "ancestor", "reading", "before_adopt", "elsewhere", "rolled_back"]
IntentState = Literal["open", "settled", "indeterminate", "resolved"]
ApprovalState = Literal["pending", "approved", "declined", "used"]


class AuditHead(NamedTuple):
    """Where the audit chain ends: the number and the hash of its last record; number 0 is a chain without records."""

    sequence: int
    hash: str


@dataclass(frozen=True, slots=True)
class AuditRecord:
    """`record` has the fields of the minimum audit record, `error_code`, what the phases took, `sequence`, and `prev`, the hash of
    the record before."""

    sequence: int
    hash: str
    record: Mapping[str, Any]


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
class Written:
    """What a batch became, entry by entry; `receipts` is None where an entry has none. `records` are the audit records."""

    numbers: tuple[int | None, ...]
    receipts: tuple[Mapping[str, Any] | None, ...]
    head: int | None
    audit: AuditHead
    records: Sequence[Mapping[str, Any]] = ()


class Wanted(NamedTuple):
    """An operation about to run, to be looked up."""

    operation_key: str
    request_id: str
    operation_id: str
    tool: str
    tool_version: int


class Done(NamedTuple):
    """A commit, as far as it answers for an operation that is asked for again."""

    number: int
    operation_key: str | None
    operation_id: str
    tool: str
    tool_version: int
    receipt: Mapping[str, Any]
    line: int
    generation: int


class Found(NamedTuple):
    """What the journal knows of a wanted operation.

    `ancestor`: `commit.receipt` is its answer. `reading`: `reading.receipt` is, for the scene hash that was asked for.
    `before_adopt`: on HEAD's line, but a foreign file was adopted since and may have lost it. `elsewhere`: on another line
    only. `rolled_back`: it was taken back, so it may run again. `clash` is an operation of the same request and operation id
    with other args, tool or tool version (never one that was rolled back). `intent` is an outside effect of this key of which
    nobody knows whether it happened. `earlier` is the latest reading of this key, whatever scene it was taken in.
    """

    where: Where
    commit: Done | None = None
    reading: Reading | None = None
    clash: Done | Reading | None = None
    intent: int | None = None
    earlier: Reading | None = None


@dataclass(frozen=True, slots=True)
class CheckpointRow:
    """A saved scene: `path` is the file, `scene_hash` that of the commit it belongs to."""

    id: int
    commit: int
    generation: int
    scene_hash: str
    sha256: str
    size: int
    path: Path
    timestamp: str


@dataclass(frozen=True, slots=True)
class HeadMove:
    """One step of HEAD, in an append-only log."""

    id: int
    kind: MoveKind
    from_commit: int | None
    to_commit: int | None
    timestamp: str


@dataclass(frozen=True, slots=True)
class Intent:
    """An announced effect outside the scene. `indeterminate`: its process died before it told the outcome."""

    id: int
    operation_key: str
    request_id: str
    operation_id: str
    tool: str
    effect: str
    state: IntentState
    timestamp: str
    note: str | None = None


@dataclass(frozen=True, slots=True)
class KeptApproval:
    """A question and what became of it; `given_by` says how it was answered."""

    request: ApprovalRequest
    state: ApprovalState
    given_by: str | None


@dataclass(frozen=True, slots=True)
class OpenBoundary:
    """An all-or-nothing plan that has begun at `base` and is neither kept nor rolled back."""

    id: int
    request_id: str
    base: int


@dataclass(frozen=True, slots=True)
class Quarantine:
    """Why nothing may be written: what the journal says the scene is, and what it was found to be."""

    reason: str
    expected: str
    found: str
    timestamp: str


@dataclass(frozen=True, slots=True)
class Route:
    """How to get the scene of commit `to`: open the checkpoint (None: the empty scene of the baseline), redo the commits in order.

    `start_hash` is what the opened scene must hash to. `damaged` are newer checkpoints whose files do not match their rows.
    """

    to: int
    checkpoint: CheckpointRow | None
    start_hash: str
    redo: tuple[Commit, ...]
    damaged: tuple[CheckpointRow, ...] = ()


@dataclass(frozen=True, slots=True)
class RecoveryInfo:
    """What whoever opens a workspace must know before working on it. `route` is None in one without commits."""

    head: Commit | None
    route: Route | None
    indeterminate: tuple[Intent, ...]
    boundary: OpenBoundary | None
    quarantine: Quarantine | None
    cleaned: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AuditReport:
    """The outcome of a verification; `problems` name records by their sequence, none means that the chain holds."""

    head: AuditHead
    records: int
    problems: tuple[str, ...] = field(default=())

    @property
    def ok(self) -> bool:
        return not self.problems


@dataclass(frozen=True, slots=True)
class Freed:
    """What `gc` removed, or would; `lost` are the commits whose scene can no longer be rebuilt."""

    files: tuple[str, ...]
    bytes: int
    kept: int
    lost: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Statistics:
    """What a journal holds, counted. `openings` is how often it was opened for writing, `requests` how many asked for something."""

    commits: Mapping[str, int]
    moves: Mapping[str, int]
    intents: Mapping[str, int]
    requests: int
    openings: int
    quarantines: int
    checkpoints: int
    checkpoint_bytes: int
