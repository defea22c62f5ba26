"""File permissions of a workspace. Only its owner may read it, because the journal holds every argument, also hidden
ones.

No call reads or writes the files that the workspace itself owns, whatever the policy allows.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

DATABASE = "journal.db"
DIRECTORY_MODE = 0o700
FILE_MODE = 0o600
# The permission bits of group and other users.
GROUP_AND_OTHER_BITS = 0o077

# Names of files and directories with arguments, scenes and pictures, which only the owner may read.
PRIVATE = (
    "artifacts", "audit.head", "checkpoints", "frames", DATABASE, f"{DATABASE}-journal", f"{DATABASE}-shm", f"{DATABASE}-wal",
    "journal.lock", "logs", "pictures", "runs", "scratch",
)  # fmt: skip
# All names that the program itself uses in a workspace. A directory with other names also holds a project.
OWN = (*PRIVATE, "blendwright.toml", "example.json", "macros")


def make_private_workspace(workspace: Path) -> None:
    """Create the workspace directory for its owner only, and remove the rights of other users from its private files.

    An existing directory loses the rights of other users only if it holds nothing but a workspace; a project keeps
    its rights. Raise OSError when the directory cannot be created.
    """
    if not workspace.is_dir():
        workspace.parent.mkdir(parents=True, exist_ok=True)
        workspace.mkdir(mode=DIRECTORY_MODE, exist_ok=True)
    for path in (workspace / name for name in PRIVATE):
        _close(path)
    if all(entry.name in OWN for entry in workspace.iterdir()):
        _close(workspace)


def make_private_file(path: Path) -> None:
    """Create an empty file that only its owner may open, unless it exists.

    SQLite gives its log files the permissions of the database.
    """
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, FILE_MODE))


def _close(path: Path) -> None:
    """Remove the rights of other users from a path.

    Leave a link, and a path that belongs to another user, unchanged.
    """
    try:
        status = path.lstat()
        is_owner = not hasattr(os, "geteuid") or status.st_uid == os.geteuid()
        if is_owner and status.st_mode & GROUP_AND_OTHER_BITS and not stat.S_ISLNK(status.st_mode):
            path.chmod(stat.S_IMODE(status.st_mode) & ~GROUP_AND_OTHER_BITS)
    except OSError:
        pass  # the path does not exist, or the file system has no permissions
