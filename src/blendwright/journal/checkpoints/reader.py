"""Checkpoints for readers of the journal: the ways back to the scene of a commit."""

from __future__ import annotations

from collections.abc import Collection

from blendwright.journal.checkpoints import rebuild_routes
from blendwright.journal.checkpoints.files import CheckpointFiles
from blendwright.journal.lines.ancestry import Ancestry
from blendwright.journal.store import Store
from blendwright.records.commits import CommittedStep
from blendwright.records.recovery import RebuildRoute


class CheckpointReader:
    """Finds the way to the scene of a commit."""

    def __init__(self, store: Store, ancestry: Ancestry, files: CheckpointFiles) -> None:
        self._store = store
        self._ancestry = ancestry
        self._files = files

    def route(self, to: int, *, without: Collection[int] = ()) -> RebuildRoute:
        """Return the way to the scene of a commit. Raises JournalError when no undamaged checkpoint leads there.

        `without` are ids of checkpoints to pass over, because Blender opens them to another scene than was saved."""
        return rebuild_routes.find(self._store, self._ancestry, self._files, to, without)

    def steps_between(self, at: int, to: int) -> tuple[CommittedStep, ...] | None:
        """Return what a worker with the scene of commit `at` redoes to have that of `to`; None where redo does not lead there."""
        return rebuild_routes.steps_between(self._store, self._ancestry, at, to)
