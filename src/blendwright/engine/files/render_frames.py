"""Frames of an animation, stored in the workspace during a render, so that an interrupted render resumes with the
missing frames.

The key of a sequence consists of everything that determines its pictures: the scene's hash, the picture settings,
the Blender, and the external files. During a render, finished frames are copied to the directory of the key. The
next call with the same key gets them in its scratch directory and renders only the missing ones. Every copied file
is complete or does not exist.
"""

from __future__ import annotations

import contextlib
import os
import re
import threading
from collections.abc import Generator, Iterator
from pathlib import Path

from blendwright.engine.files.delivery import Move, deliver
from blendwright.engine.files.scratch import copy_in, list_files, make_directory, open_scratch_file
from blendwright.util.directory_removal import remove_directory
from blendwright.util.no_follow import open_directory, open_file, read_file, write_whole
from blendwright.values.errors import EnvironmentUnfit, Refusal
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding

FOLDER = "frames"
INSIDE = ("files", FOLDER)
POINTER = "/frames_path"
NAME = re.compile(r"(\d{7})\.png")
HASHES = re.compile(r"#+")
# Stored sequences. A film is rendered in a few pieces, not ten films at once.
MAX_SEQUENCES = 3
COPY_INTERVAL_SECONDS = 0.25


class KeptFrames:
    """The stored frames of one key."""

    def __init__(self, store: Path, key: str) -> None:
        """Initialize the frames of `key` below `store`, an absolute path without links."""
        self._store = store
        self._directory = store / key
        self._stored_names: set[str] = set()

    @property
    def begun(self) -> bool:
        """True when an earlier call has begun this sequence."""
        return self._directory.is_dir()

    def stage(self, scratch: Path) -> Path:
        """Copy the stored frames into the worker's scratch and return the directory for all frames there.

        Removes the oldest sequences. Raises EnvironmentUnfit when frames cannot be stored.
        """
        try:
            directory = make_directory(scratch, *INSIDE)
            with open_directory(self._directory, make=0o700):
                os.utime(self._directory)
            self._stored_names = {name for name in os.listdir(self._directory) if NAME.fullmatch(name)}  # noqa: PTH208
            for name in self._stored_names:
                copy_in(self._directory / name, scratch, *INSIDE, name)
            self._remove_old_sequences()
        except OSError as error:
            message = f"frames cannot be stored in {self._store}: {error.strerror}"
            raise EnvironmentUnfit(message, cure="Free space on the disk, or check the write permissions.") from error
        return directory

    def _remove_old_sequences(self) -> None:
        directories = [entry for entry in self._store.iterdir() if entry != self._directory and entry.is_dir()]
        directories.sort(key=lambda entry: entry.stat().st_mtime, reverse=True)
        for entry in directories[MAX_SEQUENCES - 1 :]:
            remove_directory(entry)

    @contextlib.contextmanager
    def keeping(self, scratch: Path) -> Generator[None]:
        """Copy finished frames to the store while the block runs."""
        ended = threading.Event()

        def watch() -> None:
            while not ended.wait(COPY_INTERVAL_SECONDS):
                self._keep(scratch)

        thread = threading.Thread(target=watch, name="blendwright-frames", daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()
            self._keep(scratch)

    def _keep(self, scratch: Path) -> None:
        for name in list_files(scratch, *INSIDE):
            if name in self._stored_names or not NAME.fullmatch(name):
                continue
            # A frame that cannot be stored is rendered again next time, but still delivered.
            with contextlib.suppress(OSError):
                with open_scratch_file(scratch, *INSIDE, name) as opened, open_directory(self._directory) as directory:
                    write_whole(directory, name, opened, 0o600)
                self._stored_names.add(name)

    def target_problems(self, template: Path, overwrite: bool) -> Iterator[Finding]:
        """Yield a finding if a file that is not one of these frames has a frame's name at the destination."""
        if overwrite or not template.parent.is_dir():
            return
        first, last = HASHES.split(template.name, maxsplit=1)
        pattern = re.compile(rf"{re.escape(first)}(\d+){re.escape(last)}")
        for entry in sorted(os.listdir(template.parent)):  # noqa: PTH208
            match = pattern.fullmatch(entry)
            if match and not _equal(template.parent / entry, self._directory / f"{int(match[1]):07}.png"):
                message = f"{template.parent / entry} already exists and is not a frame of this animation"
                yield Finding(Fault.SCENE_CONFLICT, message, POINTER, "Choose another path, or set overwrite to true.")
                return


def deliver_frames(scratch: Path, template: Path, numbers: range, overwrite: bool) -> list[str]:
    """Copy frames to the paths of the template, each completely or not at all. Return the first and the last path.

    An equal existing frame stays. Raises Refusal when another file exists there.
    """
    paths: list[Path] = []
    available_names = set(list_files(scratch, *INSIDE))
    for number in numbers:
        name = f"{number:07}.png"
        if name not in available_names:
            continue
        destination = frame_path(template, number)
        paths.append(destination)
        if not _equal(destination, scratch.joinpath(*INSIDE, name)):
            deliver([Move(scratch, (*INSIDE, name), destination, replaces=overwrite)])
    return [str(path) for path in dict.fromkeys((*paths[:1], *paths[-1:]))]


def frame_path(template: Path, number: int) -> Path:
    """Return the path of a frame: `shot_####.png` of frame 7 is `shot_0007.png`."""
    return template.with_name(HASHES.sub(lambda match: f"{number:0{len(match[0])}}", template.name, count=1))


def frame_numbers(result: object) -> range:
    """Return the range of frames that the worker reports, limited to valid numbers. Raises Refusal for an invalid
    report.
    """
    if not isinstance(result, dict):
        return range(0)
    first, last, step = (result.get(name) for name in ("frame_start", "frame_end", "frame_step"))  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
    if not isinstance(first, int) or not isinstance(last, int) or not isinstance(step, int) or step < 1:
        message = "the worker did not report which frames it rendered"
        raise Refusal([Finding(Fault.EXECUTION_FAILED, message, "", "Try again.")])
    return range(max(first, 0), min(last, 10_000_000) + 1, step)


def _equal(first_path: Path, second_path: Path) -> bool:
    try:
        with open_file(first_path.resolve()) as first_file, open_file(second_path.resolve()) as second_file:
            if os.fstat(first_file.fileno()).st_size != os.fstat(second_file.fileno()).st_size:
                return False
        return read_file(first_path.resolve()) == read_file(second_path.resolve())
    except OSError:
        return False
