"""Garbage collection of checkpoints. It removes rows first and then files, so that a row never outlives its file.

For the end of every line of commits, it keeps the newest checkpoint and the checkpoints of commits that cannot be
replayed. It also keeps enough others that the redo budget covers the distance from a checkpoint to every scene. Every
commit can therefore still be checked out. Only a caller that drops the other lines reduces this to HEAD, redo, the
branches and the tags.
"""

from __future__ import annotations

from functools import cache

from blendwright.journal.checkpoints.files import CheckpointFiles
from blendwright.journal.checkpoints.rebuild_routes import checkpoints_of
from blendwright.journal.lines import branches, head_moves
from blendwright.journal.lines.ancestry import Ancestors, Ancestry, head_row
from blendwright.journal.store import Store, translate_errors
from blendwright.records.checkpoints import Checkpoint, GcReport


def collect(
    store: Store,
    ancestry: Ancestry,
    files: CheckpointFiles,
    *,
    redo_budget: int,
    drop_other_lines: bool,
    dry_run: bool,
) -> GcReport:
    with store.snapshot():
        rows = dict(store.rows("SELECT id, sha256 FROM checkpoints"))
        owners = dict(store.rows("SELECT id, number FROM checkpoints"))
        if drop_other_lines:
            roots = _current_commits(store)
        else:
            roots = _last_of_each_line(store)
        needed = _needed(store, ancestry, files, roots, redo_budget)
        lost = _reachable(store, set(owners.values())) - _reachable(store, {owners[id] for id in needed})
    keep = {f"{rows[id]}.blend" for id in needed}
    with translate_errors(f"reading {files.directory}"):
        present = files.names()
    unneeded = sorted(name for name in present if name not in keep)
    if not dry_run:
        with store.transaction("gc"):
            dropped = [(id,) for id in rows if id not in needed]
            store.change_many("DELETE FROM checkpoints WHERE id = ?", dropped)
        with translate_errors(f"removing checkpoints from {files.directory}"):
            files.remove(unneeded)
    return GcReport(tuple(unneeded), sum(present[name] for name in unneeded), len(needed), tuple(sorted(lost)))


def drop(store: Store, checkpoint: Checkpoint) -> list[str]:
    """Delete one checkpoint row, unless its commit cannot be replayed, and return the files that no row names any
    more.

    Call it inside a transaction.
    """
    sql = "DELETE FROM checkpoints WHERE id = ? AND number IN (SELECT number FROM commits WHERE replayable = 1 AND number = ?)"
    dropped = store.change(sql, (checkpoint.id, checkpoint.commit))
    if not dropped or store.row("SELECT 1 FROM checkpoints WHERE sha256 = ?", (checkpoint.sha256,)) is not None:
        return []
    return [checkpoint.path.name]


def _last_of_each_line(store: Store) -> set[int]:
    """Return the last commit of each line. All commits are ancestors of these."""
    # SQLite: a bare column next to max() has the value of the row with the maximum.
    return {number for number, _ in store.rows("SELECT number, max(generation) FROM commits GROUP BY line")}


def _current_commits(store: Store) -> set[int]:
    """Return HEAD, the commits that redo leads to, and the commits that branches and tags name."""
    head = head_row(store)
    named = {number for (number,) in store.rows("SELECT number FROM tags")}
    named |= {branch.commit for branch in branches.listed(store) if branch.commit is not None}
    if head is not None:
        named |= {head[0], *head_moves.redo_targets(store)}
    return named


def _needed(store: Store, ancestry: Ancestry, files: CheckpointFiles, roots: set[int], budget: int) -> set[int]:
    needed: set[int] = set()
    sound = cache(files.sound)
    for root in sorted(roots):
        ancestors = ancestry.of(root)
        checkpoints: list[Checkpoint] = []
        seen: set[int] = set()
        for row in checkpoints_of(store, files, ancestors, 0):
            if row.generation not in seen and sound(row.sha256, row.size):
                seen.add(row.generation)
                checkpoints.append(row)
        needed |= _thinned(store, ancestors, checkpoints, budget)
    return needed


def _thinned(store: Store, ancestors: Ancestors, newest_first: list[Checkpoint], budget: int) -> set[int]:
    """Return the ids of the checkpoints of one line to keep. `newest_first` contains only sound checkpoints."""
    fixed = {
        generation
        for line, generation in store.rows("SELECT line, generation FROM commits WHERE replayable = 0")
        if ancestors.holds(line, generation)
    }
    last = 0
    to_keep: set[int] = set()
    oldest_first = newest_first[::-1]
    for checkpoint, following in zip(oldest_first, [*oldest_first[1:], None], strict=False):
        # Without this checkpoint, the scene just before the following one would be this many commits from the last kept one.
        if following is None or checkpoint.generation in fixed or following.generation - 1 - last > budget:
            to_keep.add(checkpoint.id)
            last = checkpoint.generation
    return to_keep


def _reachable(store: Store, saved: set[int]) -> set[int]:
    """Return the commits whose scenes can be rebuilt if the commits in `saved` have a checkpoint.

    Parents have lower numbers than their children.
    """
    reachable: set[int] = set()
    for number, parent, replayable in store.rows("SELECT number, parent, replayable FROM commits ORDER BY number"):
        if number in saved or (replayable and (parent is None or parent in reachable)):
            reachable.add(number)
    return reachable
