"""Files between the core and the scratch of a worker, which may have left links, pipes and other people's names there.

Responsible for: following nothing of that. Every directory from the scratch down is opened as itself, what is brought in is a new file,
and what is taken out is copied, so that neither its mode nor a descriptor that is still open comes along.
"""

from __future__ import annotations

import os
import secrets
import shutil
import stat
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

from blendwright.values.cancel import CancelToken
from blendwright.values.directory_removal import remove_entry
from blendwright.values.errors import EnvironmentUnfit, RebuildFailed, WorkerFault
from blendwright.wire.remote_scene import HANG_SECONDS, RemoteScene

# What a worker opens and saves most often.
SCENE_FILE = "scene.blend"
CHUNK = 1 << 20
# What turns out to be a pipe must not be waited for.
READ_PLAIN = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


def open_scene_file(
    worker: RemoteScene, path: Path, label: str, *, deadline: float = HANG_SECONDS, cancel: CancelToken | None = None
) -> str:
    """Copy a .blend file into the worker's scratch and open it there; returns its hash. Raises RebuildFailed, which names `label`."""
    scratch = worker.require_process().scratch
    try:
        copy_in(path.resolve(), scratch, SCENE_FILE)
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


def copy_scene(source: Path, target: Path) -> None:
    """Copy a .blend file from or to a scratch. Raises EnvironmentUnfit where the disk does not allow it."""
    try:
        copy_in(source, target.parent, target.name)
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
    with os.fdopen(os.open(source, READ_PLAIN), "rb") as opened, _inside(scratch, parts[:-1]) as parent:
        if not stat.S_ISREG(os.fstat(opened.fileno()).st_mode):
            raise OSError(0, "it is not a plain file")
        remove_entry(parts[-1], parent)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        with os.fdopen(os.open(parts[-1], flags, 0o600, dir_fd=parent), "wb") as copy:
            shutil.copyfileobj(opened, copy, CHUNK)


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


def move_out(target: Path, scratch: Path, *parts: str) -> None:
    """Copy a plain file of the scratch to its place, where it is whole or not at all, and remove it from the scratch."""
    unfinished = target.with_name(f".{secrets.token_hex(8)}.part")
    with (
        _inside(scratch, parts[:-1]) as parent,
        os.fdopen(os.open(parts[-1], READ_PLAIN, dir_fd=parent), "rb") as opened,
    ):
        status = os.fstat(opened.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise OSError(0, "it is not a plain file")
        try:
            with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), "wb") as copy:
                remaining = status.st_size
                # Not further than it was long: whoever still has it open could write on for ever.
                while remaining and (chunk := opened.read(min(CHUNK, remaining))):
                    copy.write(chunk)
                    remaining -= len(chunk)
            unfinished.replace(target)
        except BaseException:
            unfinished.unlink(missing_ok=True)
            raise
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
