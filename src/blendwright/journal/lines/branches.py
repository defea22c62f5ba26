"""Branches: named heads, in an append-only log of what became of each.

The branch that HEAD is on is where HEAD is: commits, undo, redo and rollbacks take it along, and nothing is written for that. Any other
one stays where its last row says. HEAD is on no branch, detached, where the last that it was on was left.
"""

from __future__ import annotations

from blendwright.journal.lines.ancestry import head_row, position_of
from blendwright.journal.store import Store, utc_now
from blendwright.records.branches import Branch, BranchMoveKind, SwitchTo
from blendwright.util import crash_points
from blendwright.values.errors import JournalError

_LATEST = """
SELECT branch, kind, number FROM branch_moves
WHERE id IN (SELECT max(id) FROM branch_moves GROUP BY branch) AND kind <> 'deleted' ORDER BY branch
"""
_LATEST_OF = "SELECT kind, number FROM branch_moves WHERE branch = ? ORDER BY id DESC LIMIT 1"
_INSERT = "INSERT INTO branch_moves (branch, kind, number, fence, timestamp) VALUES (?, ?, ?, ?, ?)"


def listed(store: Store) -> tuple[Branch, ...]:
    """By name."""
    head = head_row(store)
    at = None if head is None else head[0]
    return tuple(
        Branch(name, at if kind == "entered" else number, kind == "entered")
        for name, kind, number in store.rows(_LATEST)
    )


def current(store: Store) -> str | None:
    """The branch that HEAD is on; None where it is detached."""
    return next((branch.name for branch in listed(store) if branch.current), None)


def create(store: Store, name: str, commit: int) -> None:
    """Begin a branch at a commit; HEAD stays where it is."""
    with store.transaction("branch"):
        position_of(store, commit)
        _create(store, name, commit)


def delete(store: Store, name: str) -> None:
    """Its commits stay; only `gc` may give them up, and only where it is asked to."""
    with store.transaction("branch"):
        kind, number = _require(store, name)
        if kind == "entered":
            raise JournalError(f"HEAD is on the branch {name}")
        _write(store, name, "deleted", number)


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
