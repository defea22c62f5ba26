"""Branches: named heads, in an append-only log of what became of each.

The branch that HEAD is on is where HEAD is: commits, undo, redo and rollbacks take it along, and nothing is written for that. Any other
one stays where its last row says. HEAD is on no branch, detached, where the last that it was on was left.
"""

from __future__ import annotations

from collections.abc import Mapping

from blendwright.journal.lines.ancestry import head_row, position_of
from blendwright.journal.store import Store, utc_now
from blendwright.records.branches import Branch, BranchMoveKind, Merge, SwitchTo
from blendwright.util import crash_points
from blendwright.values.errors import JournalError

_LATEST = """
SELECT branch, kind, number FROM branch_moves
WHERE id IN (SELECT max(id) FROM branch_moves GROUP BY branch) AND kind <> 'deleted' ORDER BY branch
"""
_LATEST_OF = "SELECT kind, number FROM branch_moves WHERE branch = ? ORDER BY id DESC LIMIT 1"
_MERGES = "SELECT request_id, source, base, ours, theirs FROM merges"
_INSERT = "INSERT INTO branch_moves (branch, kind, number, fence, timestamp) VALUES (?, ?, ?, ?, ?)"


def listed(store: Store) -> tuple[Branch, ...]:
    """By name."""
    head = head_row(store)
    if head is None:
        at = None
    else:
        at = head[0]
    return tuple(
        Branch(name, at if kind == "entered" else number, kind == "entered")
        for name, kind, number in store.rows(_LATEST)
    )


def current(store: Store) -> str | None:
    """The branch that HEAD is on; None where it is detached."""
    return next((branch.name for branch in listed(store) if branch.current), None)


def switch(store: Store, to: SwitchTo, origin: int, target: int) -> None:
    """In the transaction of a move of HEAD from one commit to another: from the branch that it is on to another one, or to none."""
    left = current(store)
    if left is not None and left != to.branch:
        _write(store, left, "left", origin)
    crash_points.reach("head.branch_left")
    if to.branch is None or left == to.branch:
        return
    if to.create:
        _create(store, to.branch, target)
    _, number = _require(store, to.branch)
    if number != target:
        raise JournalError(f"the branch {to.branch} leads to commit {number}, not to {target}")
    _write(store, to.branch, "entered", target)


def _create(store: Store, name: str, commit: int) -> None:
    latest = store.row(_LATEST_OF, (name,))
    if latest is not None and latest[0] != "deleted":
        raise JournalError(f"there is a branch {name} already")
    if store.row("SELECT 1 FROM tags WHERE name = ?", (name,)) is not None:
        raise JournalError(f"there is a tag {name}, which a branch of that name would hide")
    _write(store, name, "created", commit)


def _require(store: Store, name: str) -> tuple[BranchMoveKind, int | None]:
    latest = store.row(_LATEST_OF, (name,))
    if latest is None or latest[0] == "deleted":
        raise JournalError(f"there is no branch {name}")
    return latest[0], latest[1]


def _write(store: Store, name: str, kind: BranchMoveKind, number: int | None) -> None:
    store.change(_INSERT, (name, kind, number, store.fence, utc_now()))


class BranchReader:
    """Reads branches, tags and merges."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def listed(self) -> tuple[Branch, ...]:
        """Return the branches by name. HEAD is on the one that is current, or on none."""
        with self._store.snapshot():
            return listed(self._store)

    def current(self) -> str | None:
        """Return the branch that HEAD is on; None where HEAD is detached."""
        with self._store.snapshot():
            return current(self._store)

    def tags(self) -> Mapping[str, int]:
        """Return the commit that each tag names."""
        with self._store.snapshot():
            return dict(self._store.rows("SELECT name, number FROM tags ORDER BY name"))

    def merges(self) -> Mapping[str, Merge]:
        """Return the merges by request, including those of which nothing was kept in the end."""
        with self._store.snapshot():
            return {row[0]: Merge(*row) for row in self._store.rows(_MERGES)}


class BranchWriter(BranchReader):
    """Creates and deletes branches and tags, and records merges."""

    def create(self, name: str, commit: int) -> None:
        """Begin a branch at a commit; HEAD stays on its own. Raises JournalError where a branch or tag has that name."""
        with self._store.transaction("branch"):
            position_of(self._store, commit)
            _create(self._store, name, commit)

    def delete(self, name: str) -> None:
        """Give up a branch. Its commits stay until `collect_garbage` is asked to drop them.

        Raises JournalError where there is none, or HEAD is on it."""
        with self._store.transaction("branch"):
            kind, number = _require(self._store, name)
            if kind == "entered":
                raise JournalError(f"HEAD is on the branch {name}")
            _write(self._store, name, "deleted", number)

    def set_tag(self, name: str, commit: int) -> None:
        """Name a commit, and move a tag that exists. Raises JournalError where a branch has that name."""
        sql = "INSERT INTO tags VALUES (?, ?) ON CONFLICT DO UPDATE SET number = excluded.number"
        with self._store.transaction("tag"):
            position_of(self._store, commit)
            if any(branch.name == name for branch in listed(self._store)):
                raise JournalError(f"there is a branch {name}, which a tag of that name would hide")
            self._store.change(sql, (name, commit))

    def delete_tag(self, name: str) -> None:
        """Raises JournalError where there is no such tag."""
        with self._store.transaction("tag"):
            if self._store.change("DELETE FROM tags WHERE name = ?", (name,)) != 1:
                raise JournalError(f"there is no tag {name}")

    def record_merge(self, merge: Merge) -> None:
        """Record which lines a request joins. Call it before the first commit of the merge."""
        values = (merge.request_id, merge.source, merge.base, merge.ours, merge.theirs, self._store.fence, utc_now())
        with self._store.transaction("merge"):
            self._store.change("INSERT INTO merges VALUES (?, ?, ?, ?, ?, ?, ?)", values)
