"""Checkpoints for readers of the journal: the routes back to the scene of a commit."""

from __future__ import annotations

from collections.abc import Collection

from blendwright.journal.checkpoints import rebuild_routes
from blendwright.journal.checkpoints.files import CheckpointFiles
from blendwright.journal.lines.ancestry import Ancestry
from blendwright.journal.store import Store
from blendwright.records.commits import CommittedStep
from blendwright.records.recovery import RebuildRoute


class CheckpointReader:
    """A finder of routes to the scene of a commit."""

    def __init__(self, store: Store, ancestry: Ancestry, files: CheckpointFiles) -> None:
        self._store = store
        self._ancestry = ancestry
        self._files = files

    def route(self, to: int, *, without: Collection[int] = ()) -> RebuildRoute:
        """Return the route to the scene of a commit. Raise JournalError when no undamaged checkpoint leads there.

        `without` has the ids of checkpoints to skip, because Blender opens them with another scene than the saved
        one.
        """
        return rebuild_routes.find(self._store, self._ancestry, self._files, to, without)

    def steps_between(self, at: int, to: int) -> tuple[CommittedStep, ...] | None:
        """Return the commits that a worker with the scene of commit `at` redoes to reach the scene of `to`.

        Return None if redo does not lead there.
        """
        return rebuild_routes.steps_between(self._store, self._ancestry, at, to)
