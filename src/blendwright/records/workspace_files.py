"""What in a workspace's directory is the workspace's own: no call reads or writes it as a file, whatever the policy allows."""

from __future__ import annotations

# What holds arguments, scenes and pictures: for the eyes of its owner.
PRIVATE = (
    "artifacts", "checkpoints", "journal.db", "journal.db-journal", "journal.db-shm", "journal.db-wal", "journal.lock", "logs",
    "scratch",
)  # fmt: skip
# Everything that the program itself keeps there. A directory that holds a project besides has other names in it.
OWN = (*PRIVATE, "blendwright.toml", "example.json", "macros")
