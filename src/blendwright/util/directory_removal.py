"""Removal of a worker's scratch directory, even if its directories are unreadable or nested deeper than any path
allows.
"""

from __future__ import annotations

import os
import shutil
import stat
import uuid
from pathlib import Path

# Flags that open a directory itself, never through a link, even if it is unreadable.
AS_ITSELF = getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
HANDLE = getattr(os, "O_PATH", os.O_RDONLY)


def remove_directory(directory: Path) -> None:
    """Remove a directory with its content. Anything that cannot be removed stays."""
    try:
        parent = os.open(directory.parent, os.O_RDONLY)
    except OSError:
        shutil.rmtree(directory, ignore_errors=True)
        return
    try:
        remove_entry(directory.name, parent)
    except (OSError, NotImplementedError):  # a system without these functions, or a busy file
        shutil.rmtree(directory, ignore_errors=True)
    finally:
        os.close(parent)


def remove_entry(name: str, parent: int) -> None:
    """Remove the entry with this name from a directory. Raise OSError on failure."""
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
    """Remove the content of a directory.

    It first moves nested directories up, so that depth needs neither stack nor descriptors.
    """
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
                    os.close(_opened(inner_name, inner))  # moving a directory needs permission to write to it
                    os.rename(inner_name, uuid.uuid4().hex, src_dir_fd=inner, dst_dir_fd=top)
            finally:
                os.close(inner)
            os.rmdir(name, dir_fd=top)


def _opened(name: str, parent: int) -> int:
    """Open a directory, after giving its owner full permissions."""
    handle = os.open(name, HANDLE | AS_ITSELF, dir_fd=parent)
    try:
        if os.fstat(handle).st_mode & stat.S_IRWXU != stat.S_IRWXU:
            Path(f"/proc/self/fd/{handle}").chmod(stat.S_IRWXU)
    finally:
        os.close(handle)
    return os.open(name, os.O_RDONLY | AS_ITSELF, dir_fd=parent)


def _is_directory(name: str, parent: int) -> bool:
    return stat.S_ISDIR(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode)
