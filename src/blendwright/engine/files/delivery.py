"""Delivery of the files that a worker wrote: all of them or none, and over an existing file only if the caller
requested that.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from pathlib import Path

from blendwright.engine.files.scratch import list_files, open_scratch_file, remove_scratch_file
from blendwright.util import crash_points
from blendwright.util.no_follow import open_directory, open_file, sync_names, write_part, write_whole
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding
from blendwright.values.outcome import Outcome

# Formats whose files refer to others next to them. Both are staged together.
COMPANIONS: dict[str, tuple[str, ...]] = {".obj": (".mtl",), ".gltf": (".bin",)}
# Formats that write more files into a folder next to theirs: the folder's name, and the suffix of these files.
FOLDERS: dict[str, tuple[str, str]] = dict.fromkeys((".usd", ".usda", ".usdc"), ("volumes", ".vdb"))
# Error numbers of file systems without hard links.
NO_LINKS = frozenset({errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK})


def written_files(directory: Path, target: Path) -> list[Path]:
    """Return the files that a worker wrote for `target`: the file itself and the known companions of its format.

    No other file leaves the scratch directory. Raises Refusal when the file itself is missing.
    """
    scratch = directory.parent.parent
    folders = (directory.parent.name, directory.name)
    names = list_files(scratch, *folders)
    if target.name not in names:
        message = f"Blender wrote no file for {target}"
        raise Refusal([Finding(Fault.EXECUTION_FAILED, message, "", "Try again, or choose another format.")])
    companions = {target.with_suffix(suffix).name for suffix in COMPANIONS.get(target.suffix.lower(), ())}
    files = [Path(name) for name in names if name == target.name or name in companions]
    if target.suffix.lower() in FOLDERS:
        folder, suffix = FOLDERS[target.suffix.lower()]
        files += [Path(folder, name) for name in list_files(scratch, *folders, folder) if name.endswith(suffix)]
    return files


@dataclass(frozen=True, slots=True)
class Move:
    """A file in a scratch directory and its destination, a path without links."""

    scratch: Path
    parts: tuple[str, ...]
    destination: Path
    replaces: bool = False
    """True when the file may replace an existing one."""
    private: bool = False
    """True for files of the workspace, which only its owner may read."""


def deliver(moves: Sequence[Move]) -> None:
    """Copy all files to their destinations. Raises Refusal, and leaves none of them there, when one fails."""
    placings: list[_Placing] = []
    with contextlib.ExitStack() as opened:
        try:
            for move in moves:
                with _or_refuse(move.destination):
                    if move.private:
                        mode = 0o700
                    else:
                        mode = 0o777
                    directory = opened.enter_context(open_directory(move.destination.parent, make=mode))
                    crash_points.reach("files.before_move")
                    placings.append(_Placing(move, directory))
                    placings[-1].prepare()
            for placing in placings:
                with _or_refuse(placing.move.destination):
                    placing.place()
                    crash_points.reach("files.moved")
            for placing in placings:
                with _or_refuse(placing.move.destination):
                    sync_names(placing.directory)
        except BaseException:
            for placing in reversed(placings):
                placing.take_back()
            raise
        for placing in placings:
            placing.finish()


class _Placing:
    """A file during its delivery: written to a temporary name in its directory, then renamed."""

    def __init__(self, move: Move, directory: int) -> None:
        self.move = move
        self.directory = directory
        name = secrets.token_hex(8)
        self._name = move.destination.name
        self._part = f".{name}.part"
        self._former = f".{name}.former"
        self._part_identity: tuple[int, int] | None = None
        self._is_placed = False
        self._has_former = False

    def prepare(self) -> None:
        if self.move.private:
            mode = 0o600
        else:
            mode = 0o666
        with open_scratch_file(self.move.scratch, *self.move.parts) as opened:
            self._part_identity = write_part(self.directory, self._part, opened, mode)

    def place(self) -> None:
        if self.move.replaces:
            self._set_former_aside()
            os.replace(self._part, self._name, src_dir_fd=self.directory, dst_dir_fd=self.directory)
        else:
            self._take_free_name()
        self._is_placed = True

    def _set_former_aside(self) -> None:
        """Give the existing file a second, temporary name, so that it can be restored. Without hard links, rename
        it.
        """
        try:
            info = os.stat(self._name, dir_fd=self.directory, follow_symlinks=False)
            if stat.S_ISDIR(info.st_mode):
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
            os.link(
                self._name, self._former, src_dir_fd=self.directory, dst_dir_fd=self.directory, follow_symlinks=False
            )
        except FileNotFoundError:
            return
        except OSError as error:
            if error.errno not in NO_LINKS:
                raise
            os.rename(self._name, self._former, src_dir_fd=self.directory, dst_dir_fd=self.directory)
        self._has_former = True

    def _take_free_name(self) -> None:
        """Give the file its name. Raises FileExistsError when another file has that name."""
        try:
            os.link(self._part, self._name, src_dir_fd=self.directory, dst_dir_fd=self.directory, follow_symlinks=False)
        except OSError as error:
            if error.errno not in NO_LINKS:
                raise
            os.close(os.open(self._name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600, dir_fd=self.directory))
            os.replace(self._part, self._name, src_dir_fd=self.directory, dst_dir_fd=self.directory)
        else:
            os.unlink(self._part, dir_fd=self.directory)

    def take_back(self) -> None:
        """Restore the previous state. A file that another program has put there since is not touched."""
        with contextlib.suppress(OSError):  # without write access, nothing was written and nothing can be removed
            if self._has_former:
                os.replace(self._former, self._name, src_dir_fd=self.directory, dst_dir_fd=self.directory)
            elif self._is_placed:
                info = os.stat(self._name, dir_fd=self.directory, follow_symlinks=False)
                if (info.st_dev, info.st_ino) == self._part_identity:
                    os.unlink(self._name, dir_fd=self.directory)
        with contextlib.suppress(OSError):
            os.unlink(self._part, dir_fd=self.directory)

    def finish(self) -> None:
        if self._has_former:
            with contextlib.suppress(OSError):
                os.unlink(self._former, dir_fd=self.directory)
        with contextlib.suppress(OSError):
            remove_scratch_file(self.move.scratch, *self.move.parts)


@contextlib.contextmanager
def _or_refuse(destination: Path) -> Generator[None]:
    """Turn errors of the file system into a Refusal that names the destination."""
    try:
        yield
    except FileExistsError as error:
        message = f"{destination} already exists: another program created it during the call"
        cure = "Choose another path, or set overwrite to true."
        raise Refusal([Finding(Fault.SCENE_CONFLICT, message, "", cure)]) from error
    except OSError as error:
        message = f"{destination} cannot be written: {error.strerror}"
        raise Refusal([Finding(Fault.EXECUTION_FAILED, message, "", "Choose another path.")]) from error


def deliver_picture(outcome: Outcome, target: Path) -> Outcome:
    """Copy the picture of a render to `target`, a path without links. Return the outcome with that path, or with a
    finding.
    """
    if not outcome.ok:
        return outcome
    try:
        with open_file(Path(outcome.artifacts[0])) as picture, open_directory(target.parent, make=0o777) as directory:
            write_whole(directory, target.name, picture)
    except OSError as error:
        message = f"{target} cannot be written: {error.strerror}"
        finding = Finding(Fault.EXECUTION_FAILED, message, "", "Choose another path.")
        return outcome.with_(fault=finding.fault, message=finding.message, findings=(finding,), artifacts=())
    return outcome.with_(artifacts=(str(target),))
