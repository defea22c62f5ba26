"""Brings what a worker wrote to where a call said: all of it or nothing, and in the place of another file only where that was asked for."""

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

# Formats whose file names others beside it: they are staged together.
COMPANIONS: dict[str, tuple[str, ...]] = {".obj": (".mtl",), ".gltf": (".bin",)}
# Formats that write more files into a folder beside theirs: its name, and how these end.
FOLDERS: dict[str, tuple[str, str]] = dict.fromkeys((".usd", ".usda", ".usdc"), ("volumes", ".vdb"))
# What file systems without hard links answer.
NO_LINKS = frozenset({errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK})


def written_files(directory: Path, target: Path) -> list[Path]:
    """What a worker wrote for `target`: the file itself, and those beside it that its format is known to have. Nothing else leaves."""
    scratch, folders = directory.parent.parent, (directory.parent.name, directory.name)
    names = list_files(scratch, *folders)
    if target.name not in names:
        message = f"Blender left no file for {target}"
        raise Refusal([Finding(Fault.EXECUTION_FAILED, message, "", "Try again, or another format.")])
    beside = {target.with_suffix(suffix).name for suffix in COMPANIONS.get(target.suffix.lower(), ())}
    files = [Path(name) for name in names if name == target.name or name in beside]
    if target.suffix.lower() in FOLDERS:
        folder, suffix = FOLDERS[target.suffix.lower()]
        files += [Path(folder, name) for name in list_files(scratch, *folders, folder) if name.endswith(suffix)]
    return files


@dataclass(frozen=True, slots=True)
class Move:
    """A file of a scratch, by the names that lead to it, and where it goes: a path without links."""

    scratch: Path
    parts: tuple[str, ...]
    destination: Path
    replaces: bool = False
    """Whether what has its name there makes way."""
    private: bool = False
    """What is kept in the workspace is for its owner alone."""


def deliver(moves: Sequence[Move]) -> None:
    """Bring all files to their places. Raises Refusal where one cannot be there, and then none is."""
    placings: list[_Placing] = []
    with contextlib.ExitStack() as opened:
        try:
            for move in moves:
                with _told(move.destination):
                    if move.private:
                        mode = 0o700
                    else:
                        mode = 0o777
                    directory = opened.enter_context(open_directory(move.destination.parent, make=mode))
                    crash_points.reach("files.before_move")
                    placings.append(_Placing(move, directory))
                    placings[-1].prepare()
            for placing in placings:
                with _told(placing.move.destination):
                    placing.place()
                    crash_points.reach("files.moved")
            for placing in placings:
                with _told(placing.move.destination):
                    sync_names(placing.directory)
        except BaseException:
            for placing in reversed(placings):
                placing.take_back()
            raise
        for placing in placings:
            placing.finish()


class _Placing:
    """One file on its way: written beside its place under a name of its own, then given the name."""

    def __init__(self, move: Move, directory: int) -> None:
        self.move = move
        self.directory = directory
        name = secrets.token_hex(8)
        self._name = move.destination.name
        self._part, self._former = f".{name}.part", f".{name}.former"
        self._made: tuple[int, int] | None = None
        self._is_placed = self._has_former = False

    def prepare(self) -> None:
        with open_scratch_file(self.move.scratch, *self.move.parts) as opened:
            self._made = write_part(self.directory, self._part, opened, 0o600 if self.move.private else 0o666)

    def place(self) -> None:
        if self.move.replaces:
            self._set_former_aside()
            os.replace(self._part, self._name, src_dir_fd=self.directory, dst_dir_fd=self.directory)
        else:
            self._take_free_name()
        self._is_placed = True

    def _set_former_aside(self) -> None:
        """The file that is there keeps its name until the new one has it; where there are no links, for all but a moment."""
        try:
            found = os.stat(self._name, dir_fd=self.directory, follow_symlinks=False)
            if stat.S_ISDIR(found.st_mode):
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
        """Raises FileExistsError where the name is not free, whoever took it and when."""
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
        """As it was before. What somebody else has put in its place since is left alone."""
        with contextlib.suppress(OSError):  # where nothing can be written, nothing can be removed either
            if self._has_former:
                os.replace(self._former, self._name, src_dir_fd=self.directory, dst_dir_fd=self.directory)
            elif self._is_placed:
                found = os.stat(self._name, dir_fd=self.directory, follow_symlinks=False)
                if (found.st_dev, found.st_ino) == self._made:
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
def _told(destination: Path) -> Generator[None]:
    """What the system refuses, as the reason why this file cannot be there."""
    try:
        yield
    except FileExistsError as error:
        message = f"{destination} exists: it was made while the call ran"
        cure = "Choose another path, or set overwrite to true."
        raise Refusal([Finding(Fault.SCENE_CONFLICT, message, "", cure)]) from error
    except OSError as error:
        message = f"{destination} cannot be written: {error.strerror}"
        raise Refusal([Finding(Fault.EXECUTION_FAILED, message, "", "Choose another path.")]) from error


def deliver_picture(outcome: Outcome, target: Path) -> Outcome:
    """The outcome of a render with its picture at `target`, a path without links, or with the finding that kept it from getting there."""
    if not outcome.ok:
        return outcome
    try:
        with open_file(Path(outcome.artifacts[0])) as picture, open_directory(target.parent, make=0o777) as directory:
            write_whole(directory, target.name, picture)
    except OSError as error:
        message = f"{target} cannot be written: {error.strerror}"
        finding = Finding(Fault.EXECUTION_FAILED, message, "", "Name another place.")
        return outcome.with_(fault=finding.fault, message=finding.message, findings=(finding,), artifacts=())
    return outcome.with_(artifacts=(str(target),))
