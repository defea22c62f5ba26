"""How HEAD moves without a commit: checkout, undo, redo, rollback.

Commits stay where they are, so no move loses anything.
"""

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
    """The branch that HEAD is on goes along, unless it is to `switch`; None where that is all, since HEAD is at that commit already."""
    with store.transaction("head"):
        if recovery.open_boundary(store) is not None:
            raise JournalError("HEAD cannot be moved while a plan that is kept whole or not at all is under way")
        head = _require_head(store)
        target = position_of(store, to)
        before = ancestry.of(head[0])
        if kind == "undo" and (to == head[0] or not (before.holds(*target) or _left_behind(store, before, to))):
            raise JournalError(f"commit {to} does not lie before HEAD (commit {head[0]})")
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
    """Whether HEAD went back from a commit to one of these: what was done since took its place."""
    sql = "SELECT to_commit FROM head_moves WHERE kind = 'checkout' AND from_commit = ?"
    return any(before.holds(*position_of(store, to)) for (to,) in store.rows(sql, (number,)))


def roll_back(store: Store, ancestry: Ancestry, boundary: int, failed: Sequence[NewAudit]) -> CommitResult:
    """HEAD back to the base, a record for what failed and for each commit that is taken back: one transaction."""
    with store.transaction("rollback"):
        base = recovery.end_boundary(store, boundary, "rolled_back").base
        head = _require_head(store)
        ancestors = ancestry.of(head[0])
        line, generation = position_of(store, base)
        if not ancestors.holds(line, generation):
            raise JournalError(f"commit {base}, where the plan began, does not lie before HEAD (commit {head[0]})")
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
            # What it did is gone: the scene is again the one from before it.
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
    return CommitResult((*(None for _ in failed), *undone), (None,) * count, base, audit.head, audit.records)


def redo_targets(store: Store) -> list[int]:
    """Where each `redo` in turn would lead: back over the undos that nothing but redos has followed, the last one first."""
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
    """These do not count as done any more: they may run again."""
    store.change_many("INSERT INTO rolled_back VALUES (?, ?)", [(number, move) for number in commits])


def _require_head(store: Store) -> Row:
    head = head_row(store)
    if head is None:
        raise JournalError("the workspace has no commit yet")
    return head
