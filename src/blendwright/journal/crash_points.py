"""Named places around every durable write, at which a test can have the process killed.

In use nothing happens here. `BLENDWRIGHT_CRASH_AT=name:n` kills the process by SIGKILL when it gets to that place for the nth time:
what the disk holds then is what recovery has to live with.
"""

from __future__ import annotations

import os
import signal

VARIABLE = "BLENDWRIGHT_CRASH_AT"

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
)
INSIDE = (
    "commit.half_of_commits",
    "commit.commits_written",
    "commit.audit_written",
    "commit.checkpoints_written",
    "commit.head_moved",
    "rollback.audit_written",
    "rollback.head_moved",
)
FILES = (
    "lock.held",
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


_wanted: tuple[str, int] | None = None
_hits = 0


def arm() -> None:
    """Read the environment; a process does it at its start, and again only when it was forked off for a test."""
    global _wanted, _hits
    name, _, nth = os.environ.get(VARIABLE, "").rpartition(":")
    _wanted, _hits = ((name, int(nth)) if name else None), 0


def reach(name: str) -> None:
    """The process is at this place."""
    global _hits
    if _wanted is None or _wanted[0] != name:
        return
    _hits += 1
    if _hits == _wanted[1]:
        os.kill(os.getpid(), signal.SIGKILL)


arm()
