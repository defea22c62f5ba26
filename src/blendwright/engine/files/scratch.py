"""Files between the core and the scratch of a worker, which may have left links, pipes and other people's names there.

Responsible for: following nothing of that. Every directory from the scratch down is opened as itself, what is brought in is a new file,
and what is taken out is copied, so that neither its mode nor a descriptor that is still open comes along.
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

# What a worker opens and saves most often.
SCENE_FILE = "scene.blend"
LARGER_CURE = "Make it smaller, or raise scratch_mb under [constraints] of blendwright.toml."


def open_scene_file(
    worker: RemoteScene, path: Path, label: str, *, deadline: float = HANG_SECONDS, cancel: CancelToken | None = None
) -> str:
    """Copy a .blend file into the worker's scratch and open it there; returns its hash. Raises RebuildFailed, which names `label`."""
    process = worker.require_process()
    scratch = process.scratch
    try:
        with open_file(path.resolve()) as opened:
            if too_large := size_problem(opened, process.scratch_mb):
                raise RebuildFailed(f"{label} {too_large}", cure=LARGER_CURE)
            copy_opened_in(opened, scratch, SCENE_FILE)
        return worker.open(SCENE_FILE, deadline=deadline, cancel=cancel)
    except WorkerFault as error:
        # Blender names the copy that it was given; the caller knows the file.
        reason = error.message.replace(str(scratch / SCENE_FILE), label)
        raise RebuildFailed(
            f"{label} cannot be opened: {reason}", cure="Check that it is a .blend file that this Blender can read."
        ) from error
    except OSError as error:
        cure = "Check the file, and the room on the disk."
        raise RebuildFailed(f"{label} cannot be copied for Blender: {error.strerror}", cure=cure) from error


def size_problem(opened: BinaryIO, most_mb: int) -> str | None:
    """What speaks against giving a file to Blender because of its size, before any of it is copied."""
    size = os.fstat(opened.fileno()).st_size
    if size > most_mb << 20:
        return f"has {size >> 20} MB, and {most_mb} MB are allowed"
    return None


def copy_scene(source: Path, target: Path) -> None:
    """Copy a .blend file from or to a scratch. Raises EnvironmentUnfit where the disk does not allow it."""
    try:
        copy_in(source, target.parent, target.name)
    except OSError as error:
        message = f"{source} cannot be copied to {target.parent}: {error.strerror}"
        raise EnvironmentUnfit(message, cure="Make room on the disk, or check who may write there.") from error


def copy_saved_scene(source: Path, target: Path, most_mb: int) -> None:
    """The same for what somebody saved whom nobody bounds. Raises EnvironmentUnfit also where it is too large."""
    try:
        with open_file(source) as opened:
            if too_large := size_problem(opened, most_mb):
                raise EnvironmentUnfit(f"what was saved {too_large}", cure=LARGER_CURE)
            copy_opened_in(opened, target.parent, target.name)
    except OSError as error:
        message = f"{source} cannot be copied to {target.parent}: {error.strerror}"
        raise EnvironmentUnfit(message, cure="Make room on the disk, or check who may write there.") from error


def make_directory(scratch: Path, *folders: str) -> Path:
    """An empty directory in the scratch, whatever stood there."""
    with _inside(scratch, folders[:-1], make=True) as parent:
        remove_entry(folders[-1], parent)
        os.mkdir(folders[-1], 0o700, dir_fd=parent)
    return scratch.joinpath(*folders)


def copy_in(source: Path, scratch: Path, *parts: str) -> None:
    """Copy a file into the scratch, as a new one. The source is a path that leads through no link: it may be in a scratch too."""
    with open_file(source) as opened:
        copy_opened_in(opened, scratch, *parts)


def copy_opened_in(opened: BinaryIO, scratch: Path, *parts: str, make: bool = False) -> None:
    """Copy an open file into the scratch, as a new one. `make`: also the directories that lead to it."""
    with _inside(scratch, parts[:-1], make=make) as parent:
        remove_entry(parts[-1], parent)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        with os.fdopen(os.open(parts[-1], flags, 0o600, dir_fd=parent), "wb") as made:
            copy(opened, made)


def list_files(scratch: Path, *folders: str) -> list[str]:
    """The names of plain files in a directory of the scratch; none where there is no such directory."""
    try:
        with _inside(scratch, folders) as directory:
            return sorted(
                name
                for name in os.listdir(directory)  # noqa: PTH208 - of a descriptor
                if stat.S_ISREG(os.stat(name, dir_fd=directory, follow_symlinks=False).st_mode)
            )
    except OSError:
        return []


def move_out(directory: int, name: str, scratch: Path, *parts: str, mode: int) -> None:
    """Copy a plain file of the scratch to an open directory, where it is whole or not at all, and remove it from the scratch."""
    with open_scratch_file(scratch, *parts) as opened:
        write_whole(directory, name, opened, mode)
    remove_scratch_file(scratch, *parts)


def open_scratch_file(scratch: Path, *parts: str) -> BinaryIO:
    """A plain file of the scratch for reading. Raises OSError."""
    with _inside(scratch, parts[:-1]) as parent:
        return open_file_in(parent, parts[-1])


def remove_scratch_file(scratch: Path, *parts: str) -> None:
    with _inside(scratch, parts[:-1]) as parent:
        os.unlink(parts[-1], dir_fd=parent)


@contextmanager
def _inside(scratch: Path, folders: Sequence[str], *, make: bool = False) -> Generator[int]:
    """A directory of the scratch, by the names that lead to it and not by links."""
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
