"""The journal of a workspace: opens it, holds its lock, and passes on what it is asked. The work is done by the modules it names.

A commit is one operation's outcome and never changes; HEAD is the commit whose scene is the current one. Nothing may be acknowledged
before `commit` has returned. `JournalView` needs no lock and sees what is committed. `Journal` is the one writer; not thread-safe,
one caller at a time.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import orjson

from blendwright.journal import (
    approvals,
    audit_verification,
    commit_transaction,
    garbage_collection,
    head_moves,
    operation_lookup,
    planner_attempts,
    rebuild_routes,
    recovery,
    statistics,
    superseded,
)
from blendwright.journal import rows as row
from blendwright.journal.ancestry import Ancestry, commits_among, head_row, position_of
from blendwright.journal.checkpoint_files import CheckpointFiles
from blendwright.journal.file_modes import make_private_workspace
from blendwright.journal.lock import WorkspaceLock
from blendwright.journal.statistics import Statistics
from blendwright.journal.store import FILE, Store, as_json, translate_errors, utc_now
from blendwright.policy.approvals import Approval, ApprovalRequest
from blendwright.records.audit import AuditHead, AuditRecord, AuditReport
from blendwright.records.checkpoints import Checkpoint, GcReport, StagedCheckpoint
from blendwright.records.commits import (
    Commit,
    CommitResult,
    Entry,
    HeadMove,
    MatchedCommit,
    NewAudit,
    NewCommit,
    OperationMatch,
    OperationQuery,
)
from blendwright.records.recovery import Intent, NewIntent, OpenBoundary, Quarantine, RebuildRoute, RecoveryInfo
from blendwright.records.requests import Attempt, NewAttempt, StoredApproval
from blendwright.values import crash_points, events
from blendwright.values.errors import EnvironmentUnfit, JournalError


class JournalView:
    """Reads a workspace's journal. Raises EnvironmentUnfit when there is none."""

    def __init__(self, workspace: Path) -> None:
        if not (workspace / FILE).is_file():
            raise EnvironmentUnfit(
                f"{workspace} is not a workspace", cure="Name another directory, or start one: blendwright new."
            )
        self._store = Store(workspace, writable=False)
        self._prepare(workspace)

    def _prepare(self, workspace: Path) -> None:
        self._files = CheckpointFiles(workspace)
        self._ancestry = Ancestry(self._store)
        self._cleaned: tuple[str, ...] = ()

    @property
    def head(self) -> Commit | None:
        with self._store.snapshot():
            head = head_row(self._store)
            return None if head is None else self._commit(head[0])

    def find_many(
        self, queries: Sequence[OperationQuery], *, scene_hash: str | None = None
    ) -> tuple[OperationMatch, ...]:
        """One answer for each, in order; readings are looked up at `scene_hash`, HEAD's when it is None."""
        return operation_lookup.find_many(self._store, self._ancestry, queries, scene_hash)

    def superseded_by(self, request_id: str, commits: Sequence[MatchedCommit]) -> dict[int, int]:
        """Of these commits of a request, those whose effect a later commit of another one took back, each with that commit."""
        return superseded.superseded_by(self._store, self._ancestry, request_id, commits)

    def recovery(self) -> RecoveryInfo:
        with self._store.snapshot():
            head = self.head
            return RecoveryInfo(
                head=head,
                route=None if head is None else self.route(head.number),
                indeterminate=recovery.indeterminate_intents(self._store),
                boundary=recovery.open_boundary(self._store),
                quarantine=recovery.current_quarantine(self._store),
                cleaned=self._cleaned,
            )

    # The parts of `recovery`, for when no way leads to HEAD and it cannot be had as a whole.

    def quarantined(self) -> Quarantine | None:
        with self._store.snapshot():
            return recovery.current_quarantine(self._store)

    def indeterminate(self) -> tuple[Intent, ...]:
        with self._store.snapshot():
            return recovery.indeterminate_intents(self._store)

    def open_boundary(self) -> OpenBoundary | None:
        with self._store.snapshot():
            return recovery.open_boundary(self._store)

    def route(self, to: int) -> RebuildRoute:
        """The way to the scene of a commit; raises JournalError when no undamaged checkpoint leads there."""
        return rebuild_routes.find(self._store, self._ancestry, self._files, to)

    def show(self, number: int) -> Commit:
        """Raises JournalError for a number that is not there."""
        with self._store.snapshot():
            return self._commit(number)

    def _commit(self, number: int) -> Commit:
        values = self._store.row(f"SELECT {row.COMMIT} FROM commits WHERE number = ?", (number,))
        if values is None:
            raise JournalError(f"there is no commit {number}")
        return row.commit_of(values)

    def log(self, *, limit: int = 50, before: int | None = None, all_lines: bool = False) -> tuple[Commit, ...]:
        """HEAD's line, or every commit there is, newest first; `before` is the last number of the page before."""
        with self._store.snapshot():
            if all_lines:
                newest_first = f"SELECT {row.COMMIT} FROM commits WHERE number < ? ORDER BY number DESC LIMIT ?"
                below = before or 2**63 - 1
                return tuple(map(row.commit_of, self._store.rows(newest_first, (below, limit))))
            head = head_row(self._store)
            if head is None:
                return ()
            below = None if before is None else self._commit(before).generation
            ancestors = self._ancestry.of(head[0])
            return tuple(islice(commits_among(self._store, ancestors, below=below, newest_first=True), limit))

    def origins(self, *, all_lines: bool = False) -> tuple[Commit, ...]:
        """The commits that took a whole scene in (baseline, adopted files), newest first; those before HEAD unless all are asked for."""
        sql = f"SELECT {row.COMMIT} FROM commits WHERE kind = 'baseline' OR kind = 'adopt' ORDER BY number DESC"
        with self._store.snapshot():
            head = head_row(self._store)
            if head is None:
                return ()
            commits = map(row.commit_of, self._store.rows(sql))
            ancestors = self._ancestry.of(head[0])
            return tuple(each for each in commits if all_lines or ancestors.holds(each.line, each.generation))

    def moves(self, *, limit: int = 50) -> tuple[HeadMove, ...]:
        """The latest moves of HEAD, newest first."""
        with self._store.snapshot():
            return head_moves.moves(self._store, limit)

    def redo_target(self) -> int | None:
        """Where `redo` would lead: back over the last undo, unless something else has happened since."""
        with self._store.snapshot():
            return next(iter(head_moves.redo_targets(self._store)), None)

    def tags(self) -> Mapping[str, int]:
        with self._store.snapshot():
            return dict(self._store.rows("SELECT name, number FROM tags ORDER BY name"))

    def contract(self, fingerprint: str) -> Mapping[str, Any] | None:
        """The contract that a receipt names, as it was kept."""
        with self._store.snapshot():
            row = self._store.row("SELECT contract FROM contracts WHERE fingerprint = ?", (fingerprint,))
        return None if row is None else orjson.loads(row[0])

    def contract_of(self, session_id: str) -> str | None:
        """The fingerprint of the contract that a session was held to."""
        with self._store.snapshot():
            row = self._store.row("SELECT contract FROM sessions WHERE session_id = ?", (session_id,))
        return None if row is None else row[0]

    def approvals(self, operation_hash: str | None = None) -> tuple[StoredApproval, ...]:
        """Every question about one operation, newest first; without one, those that wait for an answer."""
        with self._store.snapshot():
            if operation_hash is None:
                return approvals.pending(self._store)
            return approvals.for_operation(self._store, operation_hash)

    def attempts(self, request_id: str) -> tuple[Attempt, ...]:
        """What planners made of a request, in the order in which they were asked."""
        with self._store.snapshot():
            return planner_attempts.of_request(self._store, request_id)

    def commits_of(self, request_id: str) -> tuple[Commit, ...]:
        """What a request did to the scene, on any line, oldest first."""
        sql = f"SELECT {row.COMMIT} FROM commits WHERE request_id = ? ORDER BY number"
        with self._store.snapshot():
            return tuple(map(row.commit_of, self._store.rows(sql, (request_id,))))

    def audit_records(self, *, after: int = 0, limit: int = 100, **fields: str) -> tuple[AuditRecord, ...]:
        """In order, from the one after `after` on: those whose fields have these values."""
        return audit_verification.records(self._store, after, limit, fields)

    def statistics(self) -> Statistics:
        return statistics.read(self._store)

    def verify_audit(self, known_heads: Sequence[AuditHead] = ()) -> AuditReport:
        """Check the whole chain, and that the heads in receipts, and those the caller knows, lie on it."""
        return audit_verification.verify(self._store, known_heads)

    def close(self) -> None:
        self._store.close()


class Journal(JournalView):
    """The one writer of a workspace, from opening to `close` or the end of the process. `observe` is told what became durable.

    Raises EnvironmentUnfit when another process writes, and in quarantine unless opened for `recovering`. Every write raises
    EnvironmentUnfit when the disk refuses it and JournalError when it would break a promise or the lock was lost; nothing of it has
    taken place then. After the disk refused, the journal must be opened again.
    """

    def __init__(
        self,
        workspace: Path,
        *,
        recovering: bool = False,
        observe: events.Observer = events.silent,
        vfs: str | None = None,
    ) -> None:
        self._observe = observe
        with translate_errors(f"opening the workspace {workspace}"):
            make_private_workspace(workspace)
            self._lock = WorkspaceLock(workspace, utc_now())
        try:
            self._store = Store(workspace, writable=True, vfs=vfs)
        except BaseException:
            self._lock.release()
            raise
        try:
            if not recovering:
                with self._store.snapshot():
                    recovery.require_no_quarantine(self._store)
            self._acquire()
            self._prepare(workspace)
            with translate_errors(f"opening the workspace {workspace}"):
                self._files.create()
                self._cleaned = self._files.clear_parts()
        except BaseException:
            self.close()
            raise
        self._recovering = recovering

    def _acquire(self) -> None:
        """Raise the fencing number: from here on no earlier holder can write."""
        with self._store.transaction("acquire", checked=False):
            fence = self._store.one("UPDATE state SET fence = fence + 1 RETURNING fence")[0]
            recovery.mark_open_as_indeterminate(self._store)
        self._store.fence = fence

    @property
    def fence(self) -> int:
        return self._store.fence

    def commit(self, entries: Sequence[Entry], *, keeps: int | None = None) -> CommitResult:
        """One transaction for all: commits, receipts, audit records, checkpoint rows, intents, HEAD. `keeps` ends a boundary."""
        written = commit_transaction.write(
            self._store, self._ancestry, self._files, entries, keeps_boundary=keeps, recovering=self._recovering
        )
        self._observe(events.Committed(written.records, written.numbers))
        for entry, number in zip(entries, written.numbers, strict=True):
            if isinstance(entry, NewCommit) and entry.checkpoint is not None and number is not None:
                staged = entry.checkpoint
                self._observe(events.CheckpointSaved(number, staged.scene_hash, staged.size))
        return written

    def keep_contract(self, session_id: str, fingerprint: str, contract: Mapping[str, Any]) -> None:
        """Before the first thing that a session writes. Equal contracts are kept once, and a session is recorded once."""
        store = self._store
        text = as_json("the contract", contract)
        with store.transaction("session"):
            store.change("INSERT OR IGNORE INTO contracts VALUES (?, ?)", (fingerprint, text))
            values = (session_id, fingerprint, store.fence, utc_now())
            store.change("INSERT OR IGNORE INTO sessions VALUES (?, ?, ?, ?)", values)

    def ask_approval(self, requests: Sequence[ApprovalRequest]) -> tuple[str, ...]:
        """Keep questions that nobody here can answer; returns the id that each waits under."""
        return approvals.ask(self._store, requests)

    def use_approval(self, operation_hash: str) -> Approval | None:
        """Spend the approval that somebody gave for this very operation; None where there is none that still counts."""
        return approvals.use(self._store, operation_hash)

    def record_approvals(self, answered: Sequence[tuple[ApprovalRequest, Approval]]) -> None:
        """Keep answers that were given on the spot, and are spent with that."""
        approvals.record(self._store, answered)

    def record_attempt(self, attempt: NewAttempt) -> None:
        planner_attempts.record(self._store, attempt)

    def begin_intent(self, intent: NewIntent) -> int:
        self._refuse_in_quarantine()
        return recovery.begin_intent(self._store, intent)

    def resolve_intent(self, id: int, note: str) -> None:
        """A person has found out what became of an indeterminate effect."""
        recovery.resolve_intent(self._store, id, note)

    def begin_boundary(self, request_id: str) -> int:
        """From here on all or nothing: end it by `commit(…, keeps=id)` or `roll_back`."""
        self._refuse_in_quarantine()
        return recovery.begin_boundary(self._store, request_id)

    def roll_back(self, boundary: int, failed: Sequence[NewAudit] = ()) -> CommitResult:
        """Move HEAD back to where the boundary began; in the same transaction the records of what failed, then a `rolled_back`
        record for every commit since, newest first, under the ids of the commit's own record."""
        written = head_moves.roll_back(self._store, self._ancestry, boundary, failed)
        self._observe(events.RolledBack(written.head, written.records, written.numbers))
        return written

    def give_up(self, reason: str) -> None:
        """Refuse everything that would be written from now on, in this process: it could not be told whether it stands."""
        self._store.give_up(reason)

    def stage_checkpoint(self, saved: Path, scene_hash: str) -> StagedCheckpoint:
        """Copy a saved scene among the checkpoints, durably. It counts once it is committed or added."""
        return self._files.stage(saved, scene_hash, self.fence)

    def add_checkpoint(self, staged: StagedCheckpoint, commit: int) -> Checkpoint:
        with self._store.transaction("checkpoint_row"):
            self._files.require(staged)
            owner = self._commit(commit)
            if owner.hash_after != staged.scene_hash:
                raise JournalError(
                    f"the checkpoint is of another scene than commit {commit}",
                    details={"expected": owner.hash_after, "found": staged.scene_hash},
                )
            now = utc_now()
            id = commit_transaction.insert_checkpoint(self._store, commit, staged, now)
        self._observe(events.CheckpointSaved(commit, staged.scene_hash, staged.size))
        values = (id, commit, owner.generation, staged.scene_hash, staged.sha256, staged.size, now)
        return row.checkpoint_of(values, self._files.directory)

    def move_head(self, kind: Literal["checkout", "undo", "redo"], to: int) -> HeadMove:
        """The caller has brought the scene there, or will: HEAD alone is the truth."""
        self._refuse_in_quarantine()
        moved = head_moves.move(self._store, self._ancestry, kind, to)
        self._observe(events.HeadMoved(kind, moved.from_commit, moved.to_commit))
        return moved

    def set_tag(self, name: str, commit: int) -> None:
        sql = "INSERT INTO tags VALUES (?, ?) ON CONFLICT DO UPDATE SET number = excluded.number"
        with self._store.transaction("tag"):
            position_of(self._store, commit)
            self._store.change(sql, (name, commit))

    def delete_tag(self, name: str) -> None:
        with self._store.transaction("tag"):
            if self._store.change("DELETE FROM tags WHERE name = ?", (name,)) != 1:
                raise JournalError(f"there is no tag {name}")

    def quarantine(self, reason: str, *, expected: str, found: str) -> None:
        recovery.begin_quarantine(self._store, reason, expected, found)
        self._observe(events.Quarantined(reason, expected, found))

    def end_quarantine(self, how: str) -> None:
        recovery.end_quarantine(self._store, how)
        self._observe(events.QuarantineEnded(how))

    def gc(self, *, redo_budget: int, drop_other_lines: bool = False, dry_run: bool = False) -> GcReport:
        """Remove checkpoint files that no commit needs, keeping redo within `redo_budget` commits.

        `drop_other_lines` gives up the commits that lie before neither HEAD nor a tag nor what redo leads to.
        """
        return garbage_collection.collect(
            self._store, self._ancestry, self._files,
            redo_budget=redo_budget, drop_other_lines=drop_other_lines, dry_run=dry_run,
        )  # fmt: skip

    def close(self) -> None:
        """A second time does nothing."""
        with contextlib.ExitStack() as ends:
            ends.callback(self._lock.release)
            ends.callback(crash_points.reach, "close.before_lock_release")
            self._store.close()

    def _refuse_in_quarantine(self) -> None:
        if not self._recovering:
            with self._store.snapshot():
                recovery.require_no_quarantine(self._store)
