"""The names of the journal's crash points: before and after every durable write, and inside the longer ones."""

from __future__ import annotations

# Every transaction has the three places of `store.py`: begun, before_commit, after_commit.
TRANSACTIONS = (
    "create",
    "acquire",
    "commit",
    "intent",
    "resolve",
    "boundary",
    "rollback",
    "checkpoint_row",
    "head",
    "tag",
    "quarantine",
    "gc",
    "session",
    "approval",
    "answer",
    "branch",
    "merge",
)
INSIDE = (
    "commit.half_of_commits",
    "commit.commits_written",
    "commit.audit_written",
    "commit.checkpoints_written",
    "commit.head_moved",
    "rollback.audit_written",
    "rollback.head_moved",
    "head.branch_left",
)
FILES = (
    "lock.held",
    "head_notes.before_sync",
    "checkpoint.before_copy",
    "checkpoint.half_copied",
    "checkpoint.before_file_sync",
    "checkpoint.before_rename",
    "checkpoint.before_directory_sync",
    "checkpoint.durable",
    "clean.before_unlink",
    "gc.before_unlink",
    "gc.after_unlink",
    "close.before_lock_release",
)
POINTS: tuple[str, ...] = (
    *(f"{name}.{place}" for name in TRANSACTIONS for place in ("begun", "before_commit", "after_commit")),
    *INSIDE,
    *FILES,
)
