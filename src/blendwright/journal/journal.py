"""The journal of a workspace: opens it, holds its lock, and passes on what it is asked. The work is done by the modules it names.

A commit is one operation's outcome and never changes; HEAD is the commit whose scene is the current one. Nothing may be acknowledged
before `commit` has returned. `Journal` is the one writer; not thread-safe, one caller at a time.
"""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from blendwright.journal import approvals, planner_attempts, programs, recovery
from blendwright.journal import rows as row
from blendwright.journal.audit import head_notes
from blendwright.journal.audit.head_command import HeadCommand
from blendwright.journal.audit.log import HeadNotes
from blendwright.journal.checkpoints import garbage_collection
from blendwright.journal.commits import transaction as commit_transaction
from blendwright.journal.file_modes import make_private_workspace
from blendwright.journal.journal_view import JournalView
from blendwright.journal.lines import branches, head_moves, merges
from blendwright.journal.lines.ancestry import position_of
from blendwright.journal.lock import WorkspaceLock
from blendwright.journal.store import Store, as_json, translate_errors, utc_now
from blendwright.records.audit import AuditDetails
from blendwright.records.branches import Merge, SwitchTo
from blendwright.records.checkpoints import Checkpoint, GcReport, StagedCheckpoint
from blendwright.records.commits import (
    CommitResult,
    Entry,
    HeadMove,
    NewAudit,
    NewCommit,
)
from blendwright.records.recovery import NewIntent
from blendwright.records.requests import NewAttempt
from blendwright.util import crash_points
from blendwright.values import events
from blendwright.values.approval import Approval, ApprovalRequest
from blendwright.values.errors import JournalError
from blendwright.values.plan import ProgramSource


class Journal(JournalView):
    """The one writer of a workspace, from opening to `close` or the end of the process. `observe` is told what became durable.

    Raises EnvironmentUnfit when another process writes, and, unless opened for `recovering`, in quarantine and where a note of the head
    of its audit chain contradicts it (`heads_outside` is where such notes are kept besides the workspace, `head_command` what is told
    the head besides). Every write raises
    EnvironmentUnfit when the disk refuses it and JournalError when it would break a promise or the lock was lost; nothing of it has
    taken place then. After the disk refused, the journal must be opened again. One that is not `durable` survives the end of the
    process and not that of the machine: for a workspace that can be made again from elsewhere.
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
            # What contradicts the journal stays as it is until somebody accepts the journal.
            if not self.contradictions:
                self._notes = self._open_notes()
        except BaseException:
            self.close()
            raise
        self._recovering = recovering

    def _open_notes(self) -> HeadNotes:
        command = HeadCommand(self._head_command, observe=self._observe) if self._head_command else None
        return HeadNotes(self._store, head_notes.note_files(self._store, self._heads_outside), command)

    def _acquire(self) -> None:
        """Raise the fencing number: from here on no earlier holder can write."""
        with self._store.transaction("acquire", checked=False):
            fence = self._store.one("UPDATE state SET fence = fence + 1 RETURNING fence")[0]
            recovery.mark_open_as_indeterminate(self._store)
            approvals.end_sessions(self._store)
        self._store.fence = fence

    def accept_restored(self) -> None:
        """Take the journal for the truth although notes of its head contradict it; that is recorded in the audit chain itself."""
        head = self.head
        scene = "" if head is None else head.hash_after
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
        """One transaction for all: commits, receipts, audit records, checkpoint rows, intents, HEAD. `keeps` ends a boundary."""
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

    def give_approvals(self, requests: Sequence[ApprovalRequest], by: str) -> None:
        """Keep a yes that a person here gave to each of these, to be spent when it runs."""
        approvals.give(self._store, requests, by)

    def record_approvals(self, answered: Sequence[tuple[ApprovalRequest, Approval]]) -> None:
        """Keep answers that were given on the spot, and are spent with that."""
        approvals.record(self._store, answered)

    def record_attempt(self, attempt: NewAttempt) -> None:
        planner_attempts.record(self._store, attempt)

    def record_program(self, request_id: str, program: ProgramSource) -> None:
        """The program that a plan comes from, before it runs; once for each request."""
        programs.record(self._store, request_id, program)

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
        if self._notes is not None:
            self._notes.write(written.audit)
        self._observe(events.RolledBack(written.head, written.records, written.numbers))
        return written

    def give_up(self, reason: str) -> None:
        """Refuse everything that would be written from now on, in this process: it could not be told whether it stands."""
        self._store.give_up(reason)

    def stage_checkpoint(self, saved: Path, scene_hash: str) -> StagedCheckpoint:
        """Copy a saved scene among the checkpoints, durably. It counts once it is committed or added. From any thread."""
        return self._files.stage(saved, scene_hash, self.fence)

    def checkpoint_path(self, staged: StagedCheckpoint) -> Path:
        """Where a staged scene lies."""
        return self._files.directory / staged.file

    def add_checkpoint(
        self, staged: StagedCheckpoint, commit: int, *, instead_of: Checkpoint | None = None
    ) -> Checkpoint:
        """Give a commit its saved scene; `instead_of` is one that nobody needs besides it, and goes in the same transaction."""
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
            removed = () if instead_of is None else garbage_collection.drop(self._store, instead_of)
        # Behind the transaction: a file without a row is garbage, a row without its file would be a lie.
        self._files.remove(removed, durably=False)
        if self._notes is not None:
            self._notes.sync()
        self._observe(events.CheckpointSaved(commit, staged.scene_hash, staged.size))
        values = (id, commit, owner.generation, staged.scene_hash, staged.sha256, staged.size, now)
        return row.checkpoint_of(values, self._files.directory)

    def move_head(
        self, kind: Literal["checkout", "undo", "redo"], to: int, switch: SwitchTo | None = None
    ) -> HeadMove | None:
        """The caller has brought the scene there, or will: HEAD alone is the truth. Its branch goes along, or it is to `switch`; None
        where that is all, since HEAD is at that commit already."""
        self._refuse_in_quarantine()
        moved = head_moves.move(self._store, self._ancestry, kind, to, switch)
        if moved is not None:
            self._observe(events.HeadMoved(kind, moved.from_commit, moved.to_commit))
        return moved

    def create_branch(self, name: str, commit: int) -> None:
        """Raises JournalError where there is a branch or a tag of that name."""
        branches.create(self._store, name, commit)

    def delete_branch(self, name: str) -> None:
        """Raises JournalError where there is none, or HEAD is on it."""
        branches.delete(self._store, name)

    def record_merge(self, merge: Merge) -> None:
        """Before the first commit of it."""
        merges.record(self._store, merge)

    def set_tag(self, name: str, commit: int) -> None:
        """Moves one that is there. Raises JournalError where there is a branch of that name."""
        sql = "INSERT INTO tags VALUES (?, ?) ON CONFLICT DO UPDATE SET number = excluded.number"
        with self._store.transaction("tag"):
            position_of(self._store, commit)
            if any(branch.name == name for branch in branches.listed(self._store)):
                raise JournalError(f"there is a branch {name}, which a tag of that name would hide")
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

        `drop_other_lines` gives up the commits that lie before neither HEAD, a branch, a tag nor what redo leads to.
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
            ends.callback(self._store.close)
            if self._notes is not None:
                self._notes.close()

    def _refuse_in_quarantine(self) -> None:
        if not self._recovering:
            with self._store.snapshot():
                recovery.require_no_quarantine(self._store)
