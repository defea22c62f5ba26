"""Removing what a worker left in its scratch: directories that nobody may read, or nested deeper than any path is long."""

from __future__ import annotations

import os
import shutil
import stat
import uuid
from pathlib import Path

# Opened as itself, never through a link; readable or not.
AS_ITSELF = getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
HANDLE = getattr(os, "O_PATH", os.O_RDONLY)


def remove_directory(directory: Path) -> None:
    """Remove a directory with all that is in it; what cannot be removed stays."""
    try:
        parent = os.open(directory.parent, os.O_RDONLY)
    except OSError:
        shutil.rmtree(directory, ignore_errors=True)
        return
    try:
        remove_entry(directory.name, parent)
    except (OSError, NotImplementedError):  # a system that has no such ways, or a file that is busy
        shutil.rmtree(directory, ignore_errors=True)
    finally:
        os.close(parent)


def remove_entry(name: str, parent: int) -> None:
    """Remove whatever has this name in a directory. Raises OSError."""
    try:
        os.unlink(name, dir_fd=parent)
    except FileNotFoundError:
        return
    except (IsADirectoryError, PermissionError):
        top = _opened(name, parent)
        try:
            _empty(top)
        finally:
            os.close(top)
        os.rmdir(name, dir_fd=parent)


def _empty(top: int) -> None:
    """Directories inside directories are moved up before theirs is removed, so that depth costs neither stack nor descriptors."""
    while names := os.listdir(top):
        for name in names:
            if not _is_directory(name, top):
                os.unlink(name, dir_fd=top)
                continue
            inner = _opened(name, top)
            try:
                for inner_name in os.listdir(inner):  # noqa: PTH208 - of a descriptor
                    if not _is_directory(inner_name, inner):
                        os.unlink(inner_name, dir_fd=inner)
                        continue
                    os.close(_opened(inner_name, inner))  # who moves a directory must be allowed to write to it
                    os.rename(inner_name, uuid.uuid4().hex, src_dir_fd=inner, dst_dir_fd=top)
            finally:
                os.close(inner)
            os.rmdir(name, dir_fd=top)


def _opened(name: str, parent: int) -> int:
    """The directory, which its owner may do everything with from now on."""
    handle = os.open(name, HANDLE | AS_ITSELF, dir_fd=parent)
    try:
        if os.fstat(handle).st_mode & stat.S_IRWXU != stat.S_IRWXU:
            Path(f"/proc/self/fd/{handle}").chmod(stat.S_IRWXU)
    finally:
        os.close(handle)
    return os.open(name, os.O_RDONLY | AS_ITSELF, dir_fd=parent)


def _is_directory(name: str, parent: int) -> bool:
    return stat.S_ISDIR(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode)
