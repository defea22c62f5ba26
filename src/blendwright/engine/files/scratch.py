"""Safe file operations between the core and the scratch directory of a worker, which may contain malicious links
and pipes.

These functions follow no links: they open every directory from the scratch downwards without following links.
Incoming files are new files. Outgoing files are copies, so that neither their mode nor an open descriptor of the
worker matters.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from blendwright.util.cancel import CancelToken
from blendwright.util.directory_removal import remove_entry
from blendwright.util.no_follow import copy, open_file, open_file_in, write_whole
from blendwright.values.errors import EnvironmentUnfit, RebuildFailed, WorkerFault
from blendwright.wire.remote_scene import HANG_SECONDS, RemoteScene

# The name of the file that a worker opens and saves most often.
SCENE_FILE = "scene.blend"
LARGER_CURE = "Make the file smaller, or raise scratch_mb under [constraints] in blendwright.toml."


def open_scene_file(
    worker: RemoteScene, path: Path, label: str, *, deadline: float = HANG_SECONDS, cancel: CancelToken | None = None
) -> str:
    """Copy a .blend file into the worker's scratch, open it there, and return its hash. Raises RebuildFailed,
    which names `label`.
    """
    process = worker.require_process()
    scratch = process.scratch
    try:
        with open_file(path.resolve()) as opened:
            too_large = size_problem(opened, process.scratch_mb)
            if too_large:
                raise RebuildFailed(f"{label} {too_large}", cure=LARGER_CURE)
            copy_opened_in(opened, scratch, SCENE_FILE)
        return worker.open(SCENE_FILE, deadline=deadline, cancel=cancel)
    except WorkerFault as error:
        # Blender's message contains the path of the copy; replace it by the caller's label.
        reason = error.message.replace(str(scratch / SCENE_FILE), label)
        raise RebuildFailed(
            f"{label} cannot be opened: {reason}", cure="Check that it is a .blend file that this Blender can read."
        ) from error
    except OSError as error:
        cure = "Check the file and the free space on the disk."
        raise RebuildFailed(f"{label} cannot be copied for Blender: {error.strerror}", cure=cure) from error


def size_problem(opened: BinaryIO, max_mb: int) -> str | None:
    """Return the part of a message that says why the file is too large for Blender, or None if it is small enough."""
    size = os.fstat(opened.fileno()).st_size
    if size > max_mb << 20:
        return f"has {size >> 20} MB, but at most {max_mb} MB are allowed"
    return None


def copy_scene(source: Path, target: Path) -> None:
    """Copy a .blend file from or to a scratch directory. Raises EnvironmentUnfit when that fails."""
    try:
        copy_in(source, target.parent, target.name)
    except OSError as error:
        message = f"{source} cannot be copied to {target.parent}: {error.strerror}"
        raise EnvironmentUnfit(message, cure="Make room on the disk, or check who may write there.") from error


def copy_saved_scene(source: Path, target: Path, max_mb: int) -> None:
    """Copy a .blend file that an unlimited program saved. Raises EnvironmentUnfit when that fails or the file is
    too large.
    """
    try:
        with open_file(source) as opened:
            too_large = size_problem(opened, max_mb)
            if too_large:
                raise EnvironmentUnfit(f"the saved scene {too_large}", cure=LARGER_CURE)
            copy_opened_in(opened, target.parent, target.name)
    except OSError as error:
        message = f"{source} cannot be copied to {target.parent}: {error.strerror}"
        raise EnvironmentUnfit(message, cure="Make room on the disk, or check who may write there.") from error


def make_directory(scratch: Path, *folders: str) -> Path:
    """Create an empty directory in the scratch, replacing any existing entry, and return its path."""
    with _inside(scratch, folders[:-1], make=True) as parent:
        remove_entry(folders[-1], parent)
        os.mkdir(folders[-1], 0o700, dir_fd=parent)
    return scratch.joinpath(*folders)


def copy_in(source: Path, scratch: Path, *parts: str) -> None:
    """Copy a file into the scratch as a new file. The source must be a path without links; it may be in a scratch
    directory too.
    """
    with open_file(source) as opened:
        copy_opened_in(opened, scratch, *parts)


def copy_opened_in(opened: BinaryIO, scratch: Path, *parts: str, make: bool = False) -> None:
    """Copy an open file into the scratch as a new file. With `make`, also create the directories that lead to it."""
    with _inside(scratch, parts[:-1], make=make) as parent:
        remove_entry(parts[-1], parent)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        with os.fdopen(os.open(parts[-1], flags, 0o600, dir_fd=parent), "wb") as new_file:
            copy(opened, new_file)


def list_files(scratch: Path, *folders: str) -> list[str]:
    """Return the sorted names of plain files in a directory of the scratch, or an empty list without that
    directory.
    """
    try:
        with _inside(scratch, folders) as directory:
            names: list[str] = []
            for name in os.listdir(directory):  # noqa: PTH208 - of a descriptor
                if stat.S_ISREG(os.stat(name, dir_fd=directory, follow_symlinks=False).st_mode):
                    names.append(name)
            return sorted(names)
    except OSError:
        return []


def move_out(directory: int, name: str, scratch: Path, *parts: str, mode: int) -> None:
    """Copy a plain file of the scratch to an open directory, completely or not at all, and remove it from the
    scratch.
    """
    with open_scratch_file(scratch, *parts) as opened:
        write_whole(directory, name, opened, mode)
    remove_scratch_file(scratch, *parts)


def open_scratch_file(scratch: Path, *parts: str) -> BinaryIO:
    """Open a plain file of the scratch for reading. Raises OSError."""
    with _inside(scratch, parts[:-1]) as parent:
        return open_file_in(parent, parts[-1])


def remove_scratch_file(scratch: Path, *parts: str) -> None:
    with _inside(scratch, parts[:-1]) as parent:
        os.unlink(parts[-1], dir_fd=parent)


@contextmanager
def _inside(scratch: Path, folders: Sequence[str], *, make: bool = False) -> Generator[int]:
    """Open a directory of the scratch by its names, without following links."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
    directory = os.open(scratch, flags)
    try:
        for name in folders:
            if make and not _is_directory(name, directory):
                remove_entry(name, directory)
                os.mkdir(name, 0o700, dir_fd=directory)
            inner = os.open(name, flags, dir_fd=directory)
            os.close(directory)
            directory = inner
        yield directory
    finally:
        os.close(directory)


def _is_directory(name: str, parent: int) -> bool:
    try:
        return stat.S_ISDIR(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode)
    except FileNotFoundError:
        return False
