"""Moves of HEAD without a commit: checkout, undo, redo and rollback. Commits stay, so no move loses anything."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from blendwright.journal import recovery
from blendwright.journal.audit.log import ENTRY_HASH, AuditAppender
from blendwright.journal.commits.transaction import insert_move
from blendwright.journal.lines import branches
from blendwright.journal.lines.ancestry import Ancestors, Ancestry, commits_among, head_row, position_of
from blendwright.journal.store import Row, Store, object_in, utc_now
from blendwright.records.branches import SwitchTo
from blendwright.records.commits import CommitResult, HeadMove, NewAudit
from blendwright.util import crash_points
from blendwright.values.errors import JournalError


def move(
    store: Store,
    ancestry: Ancestry,
    kind: Literal["checkout", "undo", "redo"],
    to: int,
    switch: SwitchTo | None = None,
) -> HeadMove | None:
    """Move HEAD and its branch to a commit, or HEAD to the branch `switch`, and return the move.

    Return None if HEAD is at that commit already and only the branch changes. Raise JournalError when the commit is
    not a valid target.
    """
    with store.transaction("head"):
        if recovery.open_boundary(store) is not None:
            raise JournalError("HEAD cannot move while an all-or-nothing plan is running")
        head = _require_head(store)
        target = position_of(store, to)
        before = ancestry.of(head[0])
        if kind == "undo" and (to == head[0] or not (before.holds(*target) or _left_behind(store, before, to))):
            raise JournalError(f"commit {to} is not before HEAD (commit {head[0]})")
        if kind == "redo" and to not in redo_targets(store):
            raise JournalError(f"commit {to} was not undone, so there is nothing to redo")
        now = utc_now()
        if switch is not None:
            branches.switch(store, switch, head[0], to)
            if to == head[0] and switch.branch is not None:
                return None
        id = insert_move(store, kind, head[0], to, now)
    return HeadMove(id, kind, head[0], to, now)


def _left_behind(store: Store, before: Ancestors, number: int) -> bool:
    """Return whether a checkout led from this commit back to one of the ancestors `before`.

    A later plan then replaced the commit.
    """
    sql = "SELECT to_commit FROM head_moves WHERE kind = 'checkout' AND from_commit = ?"
    return any(before.holds(*position_of(store, to)) for (to,) in store.rows(sql, (number,)))


def roll_back(store: Store, ancestry: Ancestry, boundary: int, failed: Sequence[NewAudit]) -> CommitResult:
    """Move HEAD back to the base in one transaction, with a record for each failed operation and each rolled-back
    commit.
    """
    with store.transaction("rollback"):
        base = recovery.end_boundary(store, boundary, "rolled_back").base
        head = _require_head(store)
        ancestors = ancestry.of(head[0])
        line, generation = position_of(store, base)
        if not ancestors.holds(line, generation):
            raise JournalError(f"commit {base}, where the plan began, is not before HEAD (commit {head[0]})")
        now = utc_now()
        audit = AuditAppender(store, now)
        for new in failed:
            audit.append(new, new.status, new.hash_before, new.hash_after)
            if new.settles is not None:
                recovery.settle_intent(store, new.settles)
        undone: list[int] = []
        for commit in commits_among(store, ancestors, above=generation, newest_first=True):
            undone.append(commit.number)
            text = store.one("SELECT record FROM audit WHERE sequence = ?", (commit.audit_sequence,))[0]
            fields = object_in("an audit record", text)
            # The rollback removes the effect of the commit: the scene is again the one before it.
            fields |= {"timestamp": now, "status": "rolled_back", "scene_hash_after": commit.hash_before}
            fields |= {"plan_us": None, "execute_us": None, "verify_us": None}
            fields.pop(ENTRY_HASH, None)  # the commit belongs to its own record
            audit.append_fields(fields)
        audit.flush()
        crash_points.reach("rollback.audit_written")
        id = insert_move(store, "rollback", head[0], base, now)
        _mark_rolled_back(store, undone, id)
        crash_points.reach("rollback.head_moved")
    count = len(failed) + len(undone)
    return CommitResult((*([None] * len(failed)), *undone), (None,) * count, base, audit.head, audit.records)


def redo_targets(store: Store) -> list[int]:
    """Return the commits that successive redos lead to: the sources of the undos that only redos have followed,
    latest first.
    """
    targets: list[int] = []
    redone = 0
    for kind, origin in store.rows("SELECT kind, from_commit FROM head_moves ORDER BY id DESC"):
        if kind == "redo":
            redone += 1
        elif kind != "undo":
            break
        elif redone:
            redone -= 1
        else:
            targets.append(origin)
    return targets


def moves(store: Store, limit: int) -> tuple[HeadMove, ...]:
    sql = "SELECT id, kind, from_commit, to_commit, timestamp FROM head_moves ORDER BY id DESC LIMIT ?"
    return tuple(HeadMove(*row) for row in store.rows(sql, (limit,)))


def _mark_rolled_back(store: Store, commits: Sequence[int], move: int) -> None:
    """Mark commits as rolled back, so that their operations may run again."""
    store.change_many("INSERT INTO rolled_back VALUES (?, ?)", [(number, move) for number in commits])


def _require_head(store: Store) -> Row:
    head = head_row(store)
    if head is None:
        raise JournalError("the workspace has no commit yet")
    return head
