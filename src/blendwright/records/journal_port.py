"""The port to the durable journal, as those who run plans see it.

Says what a journal can be asked and is given; the values are in the other modules of this folder, and files, SQL and
locks are the journal's affair. A commit is one operation's outcome and never changes; HEAD is the commit whose scene is the current
one. Nothing may be acknowledged before `commit` has returned.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Protocol

from blendwright.policy.approvals import Approval, ApprovalRequest
from blendwright.records.approvals import StoredApproval
from blendwright.records.audit import AuditHead, AuditRecord, AuditReport
from blendwright.records.checkpoints import Checkpoint, GcReport, StagedCheckpoint
from blendwright.records.commits import Commit, CommitResult, Entry, HeadMove, NewAudit
from blendwright.records.operation_lookup import OperationMatch, OperationQuery
from blendwright.records.planner_attempts import Attempt, NewAttempt
from blendwright.records.recovery import Intent, NewIntent, OpenBoundary, Quarantine, RebuildRoute, RecoveryInfo
from blendwright.records.statistics import Statistics


class JournalReader(Protocol):
    """What needs no lock."""

    @property
    def head(self) -> Commit | None: ...

    def find_many(
        self, queries: Sequence[OperationQuery], *, scene_hash: str | None = None
    ) -> tuple[OperationMatch, ...]:
        """One answer for each, in order; readings are looked up at `scene_hash`, HEAD's when it is None."""
        ...

    def recovery(self) -> RecoveryInfo: ...

    # The parts of `recovery`, for when no way leads to HEAD and it cannot be had as a whole.

    def quarantined(self) -> Quarantine | None: ...

    def indeterminate(self) -> tuple[Intent, ...]: ...

    def open_boundary(self) -> OpenBoundary | None: ...

    def route(self, to: int) -> RebuildRoute:
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

    def approvals(self, operation_hash: str | None = None) -> tuple[StoredApproval, ...]:
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

    def commit(self, entries: Sequence[Entry], *, keeps: int | None = None) -> CommitResult:
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

    def roll_back(self, boundary: int, failed: Sequence[NewAudit] = ()) -> CommitResult:
        """Move HEAD back to where the boundary began; in the same transaction the records of what failed, then a `rolled_back`
        record for every commit since, newest first, under the ids of the commit's own record."""
        ...

    def give_up(self, reason: str) -> None:
        """Refuse everything that would be written from now on, in this process: it could not be told whether it stands."""
        ...

    def stage_checkpoint(self, saved: Path, scene_hash: str) -> StagedCheckpoint:
        """Copy a saved scene among the checkpoints, durably. It counts once it is committed or added."""
        ...

    def add_checkpoint(self, staged: StagedCheckpoint, commit: int) -> Checkpoint: ...

    def move_head(self, kind: Literal["checkout", "undo", "redo"], to: int) -> HeadMove:
        """The caller has brought the scene there, or will: HEAD alone is the truth."""
        ...

    def set_tag(self, name: str, commit: int) -> None: ...

    def delete_tag(self, name: str) -> None: ...

    def quarantine(self, reason: str, *, expected: str, found: str) -> None: ...

    def end_quarantine(self, how: str) -> None: ...

    def gc(self, *, redo_budget: int, drop_other_lines: bool = False, dry_run: bool = False) -> GcReport:
        """Remove checkpoint files that no commit needs, keeping redo within `redo_budget` commits.

        `drop_other_lines` gives up the commits that lie before neither HEAD nor a tag nor what redo leads to.
        """
        ...
