"""The journal of a workspace for its only writer: the lock, commits, moves of HEAD, and the writing half of each
part.

A commit is the outcome of one operation and never changes. HEAD is the commit whose scene is the current one.
Acknowledge an operation only after `commit` has returned. `Journal` is not thread-safe: one caller at a time.
"""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Literal

from blendwright.journal import recovery
from blendwright.journal.approvals import ApprovalWriter, end_sessions
from blendwright.journal.audit import head_notes
from blendwright.journal.audit.head_command import HeadCommand
from blendwright.journal.audit.log import HeadNotes
from blendwright.journal.checkpoints.writer import CheckpointWriter
from blendwright.journal.commits import transaction as commit_transaction
from blendwright.journal.contracts import ContractWriter
from blendwright.journal.file_modes import make_private_workspace
from blendwright.journal.journal_view import JournalView
from blendwright.journal.lines import head_moves
from blendwright.journal.lines.branches import BranchWriter
from blendwright.journal.lock import WorkspaceLock
from blendwright.journal.planner_attempts import AttemptWriter
from blendwright.journal.programs import ProgramWriter
from blendwright.journal.recovery import RecoveryWriter
from blendwright.journal.store import Store, translate_errors, utc_now
from blendwright.records.audit import AuditDetails
from blendwright.records.branches import SwitchTo
from blendwright.records.commits import (
    CommitResult,
    Entry,
    HeadMove,
    NewAudit,
    NewCommit,
)
from blendwright.util import crash_points
from blendwright.values import events


class Journal(JournalView):
    """The only writer of a workspace, from opening to `close` or the end of the process.

    `observe` receives each event after it became durable. `heads_outside` is a second directory for notes of the
    audit head, and `head_command` is a command that receives the head.

    Raise EnvironmentUnfit when another process writes. Unless `recovering`, also raise it in quarantine and when a
    note of the audit head contradicts the journal.

    Every write raises EnvironmentUnfit when the disk refuses it, and JournalError when it would break a promise or
    after the lock was lost. A failed write changes nothing. After the disk refused a write, open the journal again.

    Without `durable`, the journal survives the end of the process but not the end of the machine. Use that for a
    workspace that can be created again from elsewhere.
    """

    def __init__(
        self,
        workspace: Path,
        *,
        recovering: bool = False,
        heads_outside: Path | None = None,
        head_command: Sequence[str] | None = None,
        observe: events.Observer = events.silent,
        durable: bool = True,
        vfs: str | None = None,
    ) -> None:
        self._observe = observe
        self._recovering = recovering
        self._cleaned: tuple[str, ...] = ()
        self._notes: HeadNotes | None = None
        self._heads_outside = heads_outside
        self._head_command = head_command
        with translate_errors(f"opening the workspace {workspace}"):
            make_private_workspace(workspace)
            self._lock = WorkspaceLock(workspace, utc_now())
        try:
            self._store = Store(
                workspace, writable=True, durable=durable, vfs=vfs, before_create=head_notes.require_unused
            )
        except BaseException:
            self._lock.release()
            raise
        try:
            if not recovering:
                with self._store.snapshot():
                    recovery.require_no_quarantine(self._store)
            self.contradictions = tuple(head_notes.contradictions(self._store, heads_outside))
            if not recovering:
                head_notes.require_no_contradiction(list(self.contradictions))
            self._acquire()
            self._prepare(workspace)
            with translate_errors(f"opening the workspace {workspace}"):
                self._files.create()
                self._cleaned = self._files.clear_parts()
            # Notes that contradict the journal stay unchanged until the user accepts the journal.
            if not self.contradictions:
                self._notes = self._open_notes()
        except BaseException:
            self.close()
            raise

    @cached_property
    def approvals(self) -> ApprovalWriter:
        return ApprovalWriter(self._store)

    @cached_property
    def checkpoints(self) -> CheckpointWriter:
        return CheckpointWriter(self._store, self._ancestry, self._files, self._sync_notes, self._observe)

    @cached_property
    def branches(self) -> BranchWriter:
        return BranchWriter(self._store)

    @cached_property
    def recovery(self) -> RecoveryWriter:
        return RecoveryWriter(
            self._store, self.checkpoints, self._cleaned, recovering=self._recovering, observe=self._observe
        )

    @cached_property
    def programs(self) -> ProgramWriter:
        return ProgramWriter(self._store)

    @cached_property
    def attempts(self) -> AttemptWriter:
        return AttemptWriter(self._store)

    @cached_property
    def contracts(self) -> ContractWriter:
        return ContractWriter(self._store)

    def _sync_notes(self) -> None:
        if self._notes is not None:
            self._notes.sync()

    def _open_notes(self) -> HeadNotes:
        if self._head_command:
            command = HeadCommand(self._head_command, observe=self._observe)
        else:
            command = None
        return HeadNotes(self._store, head_notes.note_files(self._store, self._heads_outside), command)

    def _acquire(self) -> None:
        """Increase the fencing number: from here on, no earlier lock holder can write."""
        with self._store.transaction("acquire", checked=False):
            fence = self._store.one("UPDATE state SET fence = fence + 1 RETURNING fence")[0]
            recovery.mark_open_as_indeterminate(self._store)
            end_sessions(self._store)
        self._store.fence = fence

    def accept_restored(self) -> None:
        """Accept the journal although notes of its head contradict it. The audit chain records this."""
        head = self.head
        if head is None:
            scene = ""
        else:
            scene = head.hash_after
        details = AuditDetails(uuid.uuid4().hex, "destructive")
        self.commit(
            [
                NewAudit(
                    "workspace", "accept_restored", "workspace.accept_restored", "rolled_back", scene, scene, details
                )
            ]
        )
        self._notes = self._open_notes()
        self.contradictions = ()

    @property
    def fence(self) -> int:
        return self._store.fence

    def commit(self, entries: Sequence[Entry], *, keeps: int | None = None) -> CommitResult:
        """Write all entries in one transaction: commits, receipts, audit records, checkpoint rows, intents and HEAD.

        `keeps` is the boundary that the transaction ends.
        """
        written = commit_transaction.write(
            self._store, self._ancestry, self._files, entries, keeps_boundary=keeps, recovering=self._recovering
        )
        if self._notes is not None:
            self._notes.write(written.audit)
        self._observe(events.Committed(written.records, written.numbers))
        for entry, number in zip(entries, written.numbers, strict=True):
            if isinstance(entry, NewCommit) and entry.checkpoint is not None and number is not None:
                staged = entry.checkpoint
                self._observe(events.CheckpointSaved(number, staged.scene_hash, staged.size))
        return written

    def roll_back(self, boundary: int, failed: Sequence[NewAudit] = ()) -> CommitResult:
        """Move HEAD back to the start of the boundary, in one transaction.

        The transaction records the failed operations, then adds a `rolled_back` record for every commit since the
        boundary. These records come newest first and have the ids of the commit's own record.
        """
        written = head_moves.roll_back(self._store, self._ancestry, boundary, failed)
        if self._notes is not None:
            self._notes.write(written.audit)
        self._observe(events.RolledBack(written.head, written.records, written.numbers))
        return written

    def give_up(self, reason: str) -> None:
        """Refuse all further writes in this process, because their outcome would be uncertain."""
        self._store.give_up(reason)

    def move_head(
        self, kind: Literal["checkout", "undo", "redo"], to: int, switch: SwitchTo | None = None
    ) -> HeadMove | None:
        """Move HEAD and its branch to a commit, or HEAD to the branch `switch`, and return the move.

        Return None if HEAD is at that commit already and only the branch changes. The caller brings the scene there,
        before or after: HEAD alone is authoritative.
        """
        self.recovery.refuse_in_quarantine()
        moved = head_moves.move(self._store, self._ancestry, kind, to, switch)
        if moved is not None:
            self._observe(events.HeadMoved(kind, moved.from_commit, moved.to_commit))
        return moved

    def close(self) -> None:
        """Close the notes and the store, and release the lock. A second call does nothing."""
        with contextlib.ExitStack() as ends:
            ends.callback(self._lock.release)
            ends.callback(crash_points.reach, "close.before_lock_release")
            ends.callback(self._store.close)
            if self._notes is not None:
                self._notes.close()
