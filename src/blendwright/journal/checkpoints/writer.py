"""Checkpoints for the writer of the journal: staging saved scenes, adding them to commits, and removing unneeded
ones.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from blendwright.journal import rows
from blendwright.journal.checkpoints import garbage_collection
from blendwright.journal.checkpoints.files import CheckpointFiles
from blendwright.journal.checkpoints.reader import CheckpointReader
from blendwright.journal.commits import transaction
from blendwright.journal.commits.reading import commit_numbered
from blendwright.journal.lines.ancestry import Ancestry
from blendwright.journal.store import Store, utc_now
from blendwright.records.checkpoints import Checkpoint, GcReport, StagedCheckpoint
from blendwright.values import events
from blendwright.values.errors import JournalError


class CheckpointWriter(CheckpointReader):
    """A reader and writer of checkpoints.

    It calls `sync_notes` after each transaction, to make the notes of the audit head durable.
    """

    def __init__(
        self,
        store: Store,
        ancestry: Ancestry,
        files: CheckpointFiles,
        sync_notes: Callable[[], None],
        observe: events.Observer,
    ) -> None:
        super().__init__(store, ancestry, files)
        self._sync_notes = sync_notes
        self._observe = observe

    def stage(self, saved: Path, scene_hash: str) -> StagedCheckpoint:
        """Copy a saved scene durably into the checkpoint directory.

        It has an effect only after a commit or `add`. Thread-safe.
        """
        return self._files.stage(saved, scene_hash, self._store.fence)

    def path(self, staged: StagedCheckpoint) -> Path:
        """Return the file of a staged scene."""
        return self._files.directory / staged.file

    def add(self, staged: StagedCheckpoint, commit: int, *, instead_of: Checkpoint | None = None) -> Checkpoint:
        """Add a saved scene to a commit. `instead_of` is a checkpoint that the same transaction drops.

        Raise JournalError when the checkpoint has another scene than the commit.
        """
        with self._store.transaction("checkpoint_row"):
            self._files.require(staged)
            owner = commit_numbered(self._store, commit)
            if owner.hash_after != staged.scene_hash:
                raise JournalError(
                    f"the checkpoint has another scene than commit {commit}",
                    details={"expected": owner.hash_after, "found": staged.scene_hash},
                )
            now = utc_now()
            id = transaction.insert_checkpoint(self._store, commit, staged, now)
            if instead_of is None:
                removed = ()
            else:
                removed = garbage_collection.drop(self._store, instead_of)
        # After the transaction: a file without a row is garbage, a row without its file would be wrong.
        self._files.remove(removed, durably=False)
        self._sync_notes()
        self._observe(events.CheckpointSaved(commit, staged.scene_hash, staged.size))
        values = (id, commit, owner.generation, staged.scene_hash, staged.sha256, staged.size, now)
        return rows.checkpoint_of(values, self._files.directory)

    def collect_garbage(self, *, redo_budget: int, drop_other_lines: bool = False, dry_run: bool = False) -> GcReport:
        """Remove checkpoint files that no commit needs, keeping redo within `redo_budget` commits.

        `drop_other_lines` drops the checkpoints of commits that do not lead to HEAD, a branch, a tag or a redo
        target.
        """
        return garbage_collection.collect(
            self._store,
            self._ancestry,
            self._files,
            redo_budget=redo_budget,
            drop_other_lines=drop_other_lines,
            dry_run=dry_run,
        )
