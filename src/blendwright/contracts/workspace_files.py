"""What in a workspace's directory is the workspace's own: no call reads or writes it as a file, whatever the policy allows."""

from __future__ import annotations

# Everything that the program itself keeps there. A directory that holds a project besides has other names in it.
OWN = (
    "artifacts", "blendwright.toml", "checkpoints", "example.json", "journal.db", "journal.db-journal", "journal.db-shm",
    "journal.db-wal", "journal.lock", "logs", "macros", "scratch",
)  # fmt: skip
