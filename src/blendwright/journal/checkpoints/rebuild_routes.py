"""Routes back to the scene of a commit: the newest sound checkpoint on its line, and the commits to redo after it.

A route never replays a commit that cannot be replayed. It needs a checkpoint at that commit or after it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from blendwright.journal import rows
from blendwright.journal.checkpoints.files import CheckpointFiles
from blendwright.journal.lines.ancestry import NO_END, Ancestors, Ancestry, commits_among, position_of
from blendwright.journal.store import TAMPERED, Store
from blendwright.records.checkpoints import Checkpoint
from blendwright.records.commits import CommittedStep
from blendwright.records.recovery import RebuildRoute
from blendwright.values.errors import JournalError

_ALL = (
    f"SELECT {rows.CHECKPOINT}, k.line FROM checkpoints c JOIN commits k USING (number)"
    " WHERE k.generation >= ? ORDER BY k.generation DESC, c.id DESC"
)
_STEPS = (
    f"SELECT {', '.join(CommittedStep._fields)} FROM commits"
    " WHERE line = ? AND generation BETWEEN ? AND ? ORDER BY generation"
)
_NOT_REPLAYABLE = "SELECT line, generation FROM commits WHERE replayable = 0 ORDER BY generation DESC"


def find(
    store: Store, ancestry: Ancestry, files: CheckpointFiles, to: int, without: Collection[int] = ()
) -> RebuildRoute:
    """Return the route to commit `to`.

    Raise JournalError when only checkpoints whose ids are in `without` lead there.
    """
    with store.snapshot():
        ancestors = ancestry.of(to)
        floor = next((g for line, g in store.rows(_NOT_REPLAYABLE) if ancestors.holds(line, g)), -1)
        damaged: list[Checkpoint] = []
        for checkpoint in checkpoints_of(store, files, ancestors, floor):
            if checkpoint.id in without:
                continue
            if files.sound(checkpoint.sha256, checkpoint.size):
                redo = tuple(commits_among(store, ancestors, above=checkpoint.generation))
                return RebuildRoute(to, checkpoint, checkpoint.scene_hash, redo, tuple(damaged))
            damaged.append(checkpoint)
        if floor >= 0:
            raise _lost(to, damaged)
        commits = tuple(commits_among(store, ancestors))
        if not commits:
            raise JournalError(
                f"no line of commits in journal.db leads to commit {to}: the file was edited", cure=TAMPERED
            )
        return RebuildRoute(to, None, commits[0].hash_after, commits[1:], tuple(damaged))


def steps_between(store: Store, ancestry: Ancestry, at: int, to: int) -> tuple[CommittedStep, ...] | None:
    """Return the commits to redo from the scene of commit `at` to the scene of `to`.

    Return None if redo alone does not lead there.
    """
    with store.snapshot():
        ancestors = ancestry.of(to)
        line, generation = position_of(store, at)
        if not ancestors.holds(line, generation):
            return None
        floor = next((g for line, g in store.rows(_NOT_REPLAYABLE) if ancestors.holds(line, g)), -1)
        if floor > generation:
            return None
        parts = reversed(ancestors.between(generation + 1, NO_END))
        return tuple(CommittedStep._make(step_row) for part in parts for step_row in store.rows(_STEPS, part))


def checkpoints_of(store: Store, files: CheckpointFiles, ancestors: Ancestors, floor: int) -> Iterator[Checkpoint]:
    """Yield the checkpoints of the ancestors from generation `floor` on, newest first, without reading their files."""
    for *checkpoint, line in store.rows(_ALL, (floor,)):
        if ancestors.holds(line, checkpoint[2]):
            yield rows.checkpoint_of(tuple(checkpoint), files.directory)


def _lost(to: int, damaged: list[Checkpoint]) -> JournalError:
    names = ", ".join(checkpoint.path.name for checkpoint in damaged)
    if damaged:
        reason = f"damaged or missing: {names}"
    else:
        reason = "it was removed by gc"
    return JournalError(
        f"no checkpoint leads to commit {to} ({reason}), and the commits before it cannot be replayed",
        cure="Check out another commit, or run `blendwright recover`.",
        details={"commit": to, "damaged": [str(checkpoint.path) for checkpoint in damaged]},
    )
