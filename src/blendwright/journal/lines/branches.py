"""Branches: named heads, stored as an append-only log of events.

The branch that HEAD is on follows HEAD through commits, undo, redo and rollbacks without further rows. Every other
branch is at the commit of its last row. HEAD is detached after it left its last branch without entering another one.
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
    """Return the branches in the order of their names."""
    head = head_row(store)
    head_number = None
    if head is not None:
        head_number = head[0]
    all_branches: list[Branch] = []
    for name, kind, number in store.rows(_LATEST):
        if kind == "entered":
            all_branches.append(Branch(name, head_number, True))
        else:
            all_branches.append(Branch(name, number, False))
    return tuple(all_branches)


def current(store: Store) -> str | None:
    """Return the branch that HEAD is on, or None when HEAD is detached."""
    return next((branch.name for branch in listed(store) if branch.current), None)


def switch(store: Store, to: SwitchTo, origin: int, target: int) -> None:
    """Move HEAD from its branch to another one, or to none.

    Call it in the transaction that moves HEAD from `origin` to `target`.
    """
    previous_branch = current(store)
    if previous_branch is not None and previous_branch != to.branch:
        _write(store, previous_branch, "left", origin)
    crash_points.reach("head.branch_left")
    if to.branch is None or previous_branch == to.branch:
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
        raise JournalError(f"a branch {name} exists already")
    if store.row("SELECT 1 FROM tags WHERE name = ?", (name,)) is not None:
        raise JournalError(f"a tag {name} exists, which a branch of that name would hide")
    _write(store, name, "created", commit)


def _require(store: Store, name: str) -> tuple[BranchMoveKind, int | None]:
    latest = store.row(_LATEST_OF, (name,))
    if latest is None or latest[0] == "deleted":
        raise JournalError(f"there is no branch {name}")
    return latest[0], latest[1]


def _write(store: Store, name: str, kind: BranchMoveKind, number: int | None) -> None:
    store.change(_INSERT, (name, kind, number, store.fence, utc_now()))


class BranchReader:
    """A reader of branches, tags and merges."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def listed(self) -> tuple[Branch, ...]:
        """Return the branches in the order of their names. HEAD is on the current one, or on none."""
        with self._store.snapshot():
            return listed(self._store)

    def current(self) -> str | None:
        """Return the branch that HEAD is on, or None when HEAD is detached."""
        with self._store.snapshot():
            return current(self._store)

    def tags(self) -> Mapping[str, int]:
        """Return the commit that each tag names."""
        with self._store.snapshot():
            return dict(self._store.rows("SELECT name, number FROM tags ORDER BY name"))

    def merges(self) -> Mapping[str, Merge]:
        """Return the merges by request id, including merges without any remaining commit."""
        with self._store.snapshot():
            return {row[0]: Merge(*row) for row in self._store.rows(_MERGES)}


class BranchWriter(BranchReader):
    """A reader and writer of branches, tags and merges."""

    def create(self, name: str, commit: int) -> None:
        """Create a branch at a commit without moving HEAD. Raise JournalError when a branch or tag has that name."""
        with self._store.transaction("branch"):
            position_of(self._store, commit)
            _create(self._store, name, commit)

    def delete(self, name: str) -> None:
        """Delete a branch. Its commits stay until `collect_garbage` drops other lines.

        Raise JournalError when the branch does not exist or HEAD is on it.
        """
        with self._store.transaction("branch"):
            kind, number = _require(self._store, name)
            if kind == "entered":
                raise JournalError(f"HEAD is on the branch {name}")
            _write(self._store, name, "deleted", number)

    def set_tag(self, name: str, commit: int) -> None:
        """Create a tag for a commit, or move an existing tag. Raise JournalError when a branch has that name."""
        sql = "INSERT INTO tags VALUES (?, ?) ON CONFLICT DO UPDATE SET number = excluded.number"
        with self._store.transaction("tag"):
            position_of(self._store, commit)
            if any(branch.name == name for branch in listed(self._store)):
                raise JournalError(f"a branch {name} exists, which a tag of that name would hide")
            self._store.change(sql, (name, commit))

    def delete_tag(self, name: str) -> None:
        """Delete a tag. Raise JournalError when it does not exist."""
        with self._store.transaction("tag"):
            if self._store.change("DELETE FROM tags WHERE name = ?", (name,)) != 1:
                raise JournalError(f"there is no tag {name}")

    def record_merge(self, merge: Merge) -> None:
        """Record the lines that a request merges. Call it before the first commit of the merge."""
        values = (merge.request_id, merge.source, merge.base, merge.ours, merge.theirs, self._store.fence, utc_now())
        with self._store.transaction("merge"):
            self._store.change("INSERT INTO merges VALUES (?, ?, ?, ?, ?, ?, ?)", values)
