"""The port to the durable journal, as those who run plans see it.

Says what a journal is asked and what it answers; files, SQL and locks are the journal's affair. A commit is one operation's outcome
and never changes; HEAD is the commit whose scene is the current one. Nothing may be acknowledged before `commit` has returned.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol

from blendwright.contracts.approvals import Approval, ApprovalRequest
from blendwright.contracts.attempts import Attempt, NewAttempt

CommitKind = Literal["baseline", "operation", "adopt", "rebaseline"]
MoveKind = Literal["commit", "checkout", "undo", "redo", "rollback"]
Status = Literal["succeeded", "failed", "rolled_back", "skipped_idempotent"]
Where = Literal["nowhere", "ancestor", "reading", "before_adopt", "elsewhere", "rolled_back"]
IntentState = Literal["open", "settled", "indeterminate", "resolved"]
ApprovalState = Literal["pending", "approved", "declined", "used"]


# ---------------------------------------------------------------------- what is written


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


@dataclass(frozen=True, slots=True)
class NewAudit:
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


# ---------------------------------------------------------------------- what is read


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


class Found(NamedTuple):
    """What the journal knows of a wanted operation.

    `ancestor`: `commit.receipt` is its answer. `reading`: `reading.receipt` is, for the scene hash that was asked for.
    `before_adopt`: on HEAD's line, but a foreign file was adopted since and may have lost it. `elsewhere`: on another line
    only. `rolled_back`: it was taken back, so it may run again. `clash` is an operation of the same request and operation id
    with other args, tool or tool version (never one that was rolled back). `intent` is an outside effect of this key of which
    nobody knows whether it happened. `earlier` is the latest reading of this key, whatever scene it was taken in.
    """

    where: Where
    commit: Commit | None = None
    reading: Reading | None = None
    clash: Commit | Reading | None = None
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


# ---------------------------------------------------------------------- the port


class JournalReader(Protocol):
    """What needs no lock."""

    @property
    def head(self) -> Commit | None: ...

    def find_many(self, wanted: Sequence[Wanted], *, scene_hash: str | None = None) -> tuple[Found, ...]:
        """One answer for each, in order; readings are looked up at `scene_hash`, HEAD's when it is None."""
        ...

    def recovery(self) -> RecoveryInfo: ...

    # The parts of `recovery`, for when no way leads to HEAD and it cannot be had as a whole.

    def quarantined(self) -> Quarantine | None: ...

    def indeterminate(self) -> tuple[Intent, ...]: ...

    def open_boundary(self) -> OpenBoundary | None: ...

    def route(self, to: int) -> Route:
        """The way to the scene of a commit; raises JournalError when no undamaged checkpoint leads there."""
        ...

    def show(self, number: int) -> Commit:
        """Raises JournalError for a number that is not there."""
        ...

    def log(self, *, limit: int = 50, before: int | None = None, all_lines: bool = False) -> tuple[Commit, ...]:
        """HEAD's line, or every commit there is, newest first; `before` is the last number of the page before."""
        ...

    def origins(self, *, all_lines: bool = False) -> tuple[Commit, ...]:
        """The commits that took a whole scene in (baseline, adopted files), newest first; those before HEAD unless all are asked for."""
        ...

    def moves(self, *, limit: int = 50) -> tuple[HeadMove, ...]:
        """The latest moves of HEAD, newest first."""
        ...

    def undo_target(self) -> int | None:
        """Where `undo` would lead; None when there is nothing before HEAD."""
        ...

    def redo_target(self) -> int | None:
        """Where `redo` would lead: back over the last undo, unless something else has happened since."""
        ...

    def tags(self) -> Mapping[str, int]: ...

    def contract(self, fingerprint: str) -> Mapping[str, Any] | None:
        """The contract that a receipt names, as it was kept."""
        ...

    def contract_of(self, session_id: str) -> str | None:
        """The fingerprint of the contract that a session was held to."""
        ...

    def approvals(self, operation_hash: str | None = None) -> tuple[KeptApproval, ...]:
        """Every question about one operation, newest first; without one, those that wait for an answer."""
        ...

    def attempts(self, request_id: str) -> tuple[Attempt, ...]:
        """What planners made of a request, in the order in which they were asked."""
        ...

    def commits_of(self, request_id: str) -> tuple[Commit, ...]:
        """What a request did to the scene, on any line, oldest first."""
        ...

    def audit_records(self, *, after: int = 0, limit: int = 100) -> tuple[AuditRecord, ...]: ...

    def statistics(self) -> Statistics: ...

    def verify_audit(self, known: Sequence[AuditHead] = ()) -> AuditReport:
        """Check the whole chain, and that the heads in receipts, and those the caller knows, lie on it."""
        ...

    def close(self) -> None: ...


class JournalPort(JournalReader, Protocol):
    """What only the holder of the workspace's lock can do. Not thread-safe: one caller at a time.

    Every write raises EnvironmentUnfit when the disk refuses it and JournalError when it would break a promise or the lock was
    lost; nothing of it has taken place then. After the disk refused, the journal must be opened again.
    """

    def commit(self, entries: Sequence[Entry], *, keeps: int | None = None) -> Written:
        """One transaction for all: commits, receipts, audit records, checkpoint rows, intents, HEAD. `keeps` ends a boundary."""
        ...

    def keep_contract(self, session_id: str, fingerprint: str, contract: Mapping[str, Any]) -> None:
        """Before the first thing that a session writes."""
        ...

    def ask_approval(self, requests: Sequence[ApprovalRequest]) -> tuple[str, ...]:
        """Keep questions that nobody here can answer; returns the id that each waits under."""
        ...

    def use_approval(self, operation_hash: str) -> Approval | None:
        """Spend the approval that somebody gave for this very operation; None where there is none that still counts."""
        ...

    def record_approvals(self, answered: Sequence[tuple[ApprovalRequest, Approval]]) -> None:
        """Keep answers that were given on the spot, and are spent with that."""
        ...

    def record_attempt(self, attempt: NewAttempt) -> None: ...

    def begin_intent(self, intent: NewIntent) -> int: ...

    def resolve_intent(self, id: int, note: str) -> None:
        """A person has found out what became of an indeterminate effect."""
        ...

    def begin_boundary(self, request_id: str) -> int:
        """From here on all or nothing: end it by `commit(…, keeps=id)` or `roll_back`."""
        ...

    def roll_back(self, boundary: int, failed: Sequence[NewAudit] = ()) -> Written:
        """Move HEAD back to where the boundary began; in the same transaction the records of what failed, then a `rolled_back`
        record for every commit since, newest first, under the ids of the commit's own record."""
        ...

    def stage_checkpoint(self, saved: Path, scene_hash: str) -> StagedCheckpoint:
        """Copy a saved scene among the checkpoints, durably. It counts once it is committed or added."""
        ...

    def add_checkpoint(self, staged: StagedCheckpoint, commit: int) -> CheckpointRow: ...

    def move_head(self, kind: Literal["checkout", "undo", "redo"], to: int) -> HeadMove:
        """The caller has brought the scene there, or will: HEAD alone is the truth."""
        ...

    def set_tag(self, name: str, commit: int) -> None: ...

    def delete_tag(self, name: str) -> None: ...

    def quarantine(self, reason: str, *, expected: str, found: str) -> None: ...

    def end_quarantine(self, how: str) -> None: ...

    def gc(self, *, redo_budget: int, drop_other_lines: bool = False, dry_run: bool = False) -> Freed:
        """Remove checkpoint files that no commit needs, keeping redo within `redo_budget` commits.

        `drop_other_lines` gives up the commits that lie before neither HEAD nor a tag nor what redo leads to.
        """
        ...
