"""Only its owner may read a workspace: the journal holds every argument, also those that are shown nowhere. And no call reads or writes
what in its directory is the workspace's own, whatever the policy allows."""

from __future__ import annotations

import os
import stat
from pathlib import Path

DATABASE = "journal.db"
DIRECTORY_MODE = 0o700
FILE_MODE = 0o600
OTHERS = 0o077

# What holds arguments, scenes and pictures: for the eyes of its owner.
PRIVATE = (
    "artifacts", "audit.head", "checkpoints", "frames", DATABASE, f"{DATABASE}-journal", f"{DATABASE}-shm", f"{DATABASE}-wal",
    "journal.lock", "logs", "pictures", "runs", "scratch",
)  # fmt: skip
# Everything that the program itself keeps there. A directory that holds a project besides has other names in it.
OWN = (*PRIVATE, "blendwright.toml", "example.json", "macros")


def make_private_workspace(workspace: Path) -> None:
    """The directory, closed to others. One that is there is closed where it holds nothing but a workspace; a project in it stays as
    its owner has it, and what the workspace keeps in it is closed. Raises OSError where there can be no such directory."""
    if not workspace.is_dir():
        workspace.parent.mkdir(parents=True, exist_ok=True)
        workspace.mkdir(mode=DIRECTORY_MODE, exist_ok=True)
    for path in (workspace / name for name in PRIVATE):
        _close(path)
    if all(entry.name in OWN for entry in workspace.iterdir()):
        _close(workspace)


def make_private_file(path: Path) -> None:
    """An empty file that only its owner may open, unless it is there. SQLite gives its logs the rights of the database."""
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, FILE_MODE))


def _close(path: Path) -> None:
    """What belongs to another user, or is a link, is not ours to change."""
    try:
        status = path.lstat()
        ours = not hasattr(os, "geteuid") or status.st_uid == os.geteuid()
        if ours and status.st_mode & OTHERS and not stat.S_ISLNK(status.st_mode):
            path.chmod(stat.S_IMODE(status.st_mode) & ~OTHERS)
    except OSError:
        pass  # not there, or a file system without rights: as private as it can be
