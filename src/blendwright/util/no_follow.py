"""Opens files by paths of which no part is a link, so that what is opened is what was judged.

Whoever judges a path resolves it first, and judges where it leads. Between that and the opening somebody may put a link in the place of a
directory. Here every directory from the root of the file system down is opened as itself, by the descriptor of the one above it:
a link that was not there when the path was resolved is an error, wherever it leads.
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
# What turns out to be a pipe must not be waited for.
READ_PLAIN = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
# A directory to go through; whoever may not list it may still go through it.
_PASS = getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)


@contextlib.contextmanager
def open_directory(path: Path, *, make: int | None = None) -> Generator[int]:
    """A directory by its absolute path without links; where `make` is given, missing parts are made with this mode. Raises OSError."""
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
    """A plain file for reading, by its absolute path without links. Raises OSError."""
    with open_directory(path.parent) as parent:
        return open_file_in(parent, path.name)


def read_file(path: Path) -> bytes:
    """What a plain file holds, by its absolute path without links. Raises OSError."""
    with open_file(path) as opened:
        return opened.read()


def open_file_in(directory: int, name: str) -> BinaryIO:
    """A plain file of an open directory for reading. Raises OSError."""
    opened = os.fdopen(os.open(name, READ_PLAIN, dir_fd=directory), "rb")
    if not stat.S_ISREG(os.fstat(opened.fileno()).st_mode):
        opened.close()
        raise OSError(errno.EINVAL, "it is not a plain file")
    return opened


def copy(source: BinaryIO, target: BinaryIO) -> None:
    """Copy an open file, not further than it is long now: whoever still has it open could write on for ever."""
    remaining = os.fstat(source.fileno()).st_size
    while remaining and (chunk := source.read(min(CHUNK, remaining))):
        target.write(chunk)
        remaining -= len(chunk)


def write_whole(directory: int, name: str, source: BinaryIO, mode: int = 0o666) -> None:
    """Write a copy of an open file to an open directory, where it is whole or not at all, and durable when this has returned. What has
    its name is replaced, a link too."""
    part = f".{secrets.token_hex(8)}.part"
    try:
        write_part(directory, part, source, mode)
        os.replace(part, name, src_dir_fd=directory, dst_dir_fd=directory)
        sync_names(directory)
    except BaseException:
        with contextlib.suppress(OSError):  # where nothing can be written, nothing can be removed either
            os.unlink(part, dir_fd=directory)
        raise


def write_part(directory: int, name: str, source: BinaryIO, mode: int) -> tuple[int, int]:
    """Write a copy of an open file to an open directory under a name that is free, with its content durable; returns what file it is
    (device and number)."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
    with os.fdopen(os.open(name, flags, mode, dir_fd=directory), "wb") as unfinished:
        copy(source, unfinished)
        unfinished.flush()
        os.fsync(unfinished.fileno())
        made = os.fstat(unfinished.fileno())
    return made.st_dev, made.st_ino


def sync_names(directory: int) -> None:
    """Make the names in a directory durable, where the file system can, and whoever asks may list it."""
    try:
        listed = os.open(".", os.O_RDONLY | getattr(os, "O_DIRECTORY", 0), dir_fd=directory)
    except PermissionError:
        return
    try:
        os.fsync(listed)
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
    finally:
        os.close(listed)


def _require_straight(path: Path) -> None:
    if not path.is_absolute() or ".." in path.parts:
        raise OSError(errno.EINVAL, "its path is not absolute and without detours")


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
