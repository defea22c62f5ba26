"""Opening of files by paths without symbolic links, so that Blendwright opens exactly the file that it has checked.

A check first resolves a path and then judges its target. Before the file is opened, another program may replace a
directory by a link. Therefore each directory from the file system's root down is opened through the descriptor of its
parent. A link that was not there when the path was resolved raises an error, wherever it leads.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Generator
from pathlib import Path
from typing import BinaryIO

CHUNK = 1 << 20
# Non-blocking, so that opening a pipe does not wait.
READ_PLAIN = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
# Flags for passing through a directory, which works even without permission to list it.
_PASS = getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)


@contextlib.contextmanager
def open_directory(path: Path, *, make: int | None = None) -> Generator[int]:
    """Open a directory by its absolute path without links.

    With `make`, create missing directories with this mode. Raise OSError on failure.
    """
    _require_straight(path)
    directory = os.open(path.anchor, _PASS)
    try:
        for name in path.parts[1:]:
            inner = _enter(name, directory, make)
            os.close(directory)
            directory = inner
        yield directory
    finally:
        os.close(directory)


def open_file(path: Path) -> BinaryIO:
    """Open a plain file for reading, by its absolute path without links. Raise OSError on failure."""
    with open_directory(path.parent) as parent:
        return open_file_in(parent, path.name)


def read_file(path: Path) -> bytes:
    """Return the content of a plain file, by its absolute path without links. Raise OSError on failure."""
    with open_file(path) as opened:
        return opened.read()


def open_file_in(directory: int, name: str) -> BinaryIO:
    """Open a plain file of an open directory for reading. Raise OSError on failure."""
    opened = os.fdopen(os.open(name, READ_PLAIN, dir_fd=directory), "rb")
    if not stat.S_ISREG(os.fstat(opened.fileno()).st_mode):
        opened.close()
        raise OSError(errno.EINVAL, "it is not a plain file")
    return opened


def copy(source: BinaryIO, target: BinaryIO) -> None:
    """Copy an open file up to its current length, because another program may write to it forever."""
    remaining = os.fstat(source.fileno()).st_size
    while remaining:
        chunk = source.read(min(CHUNK, remaining))
        if not chunk:
            break
        target.write(chunk)
        remaining -= len(chunk)


def write_whole(directory: int, name: str, source: BinaryIO, mode: int = 0o666) -> None:
    """Write a durable copy of an open file into an open directory, completely or not at all.

    The copy replaces an existing entry of its name, even a link.
    """
    part = f".{secrets.token_hex(8)}.part"
    try:
        write_part(directory, part, source, mode)
        os.replace(part, name, src_dir_fd=directory, dst_dir_fd=directory)
        sync_names(directory)
    except BaseException:
        with contextlib.suppress(OSError):  # an unwritable directory does not allow removal either
            os.unlink(part, dir_fd=directory)
        raise


def write_part(directory: int, name: str, source: BinaryIO, mode: int) -> tuple[int, int]:
    """Write a durable copy of an open file into an open directory under a free name.

    Return the device and inode numbers of the copy.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
    with os.fdopen(os.open(name, flags, mode, dir_fd=directory), "wb") as unfinished:
        copy(source, unfinished)
        unfinished.flush()
        os.fsync(unfinished.fileno())
        written = os.fstat(unfinished.fileno())
    return written.st_dev, written.st_ino


def sync_names(directory: int) -> None:
    """Make the names in a directory durable, if the file system supports that and the caller may list the directory."""
    try:
        descriptor = os.open(".", os.O_RDONLY | getattr(os, "O_DIRECTORY", 0), dir_fd=directory)
    except PermissionError:
        return
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
    finally:
        os.close(descriptor)


def _require_straight(path: Path) -> None:
    if not path.is_absolute() or ".." in path.parts:
        raise OSError(errno.EINVAL, "its path is not absolute, or contains '..'")


def _enter(name: str, directory: int, make: int | None) -> int:
    try:
        return os.open(name, _PASS, dir_fd=directory)
    except FileNotFoundError:
        if make is None:
            raise
        with contextlib.suppress(FileExistsError):
            os.mkdir(name, make, dir_fd=directory)
        return os.open(name, _PASS, dir_fd=directory)
    except NotADirectoryError:
        if stat.S_ISLNK(os.stat(name, dir_fd=directory, follow_symlinks=False).st_mode):
            raise OSError(errno.ELOOP, f"{name}, a part of its path, has become a link") from None
        raise
