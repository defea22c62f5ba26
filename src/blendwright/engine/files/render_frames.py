"""Frames of an animation, kept in the workspace while they are rendered: a render that ended, however it ended, goes on where it was.

What a frame looks like follows from the scene's hash, from what the call says of the picture, from the Blender and from the files that the
scene names: these are the key of a sequence. While a worker renders, its whole frames are copied to the directory of the key; the next call
with the same key finds them in its scratch, and renders what is missing. Files arrive whole or not at all, here and where the call said.
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
AT = "/frames_path"
NAME = re.compile(r"(\d{7})\.png")
HASHES = re.compile(r"#+")
# Sequences that are kept: a film is rendered in pieces, not ten films at once.
MOST_SEQUENCES = 3
INTERVAL = 0.25


class KeptFrames:
    """The frames of one key."""

    def __init__(self, store: Path, key: str) -> None:
        """`store` is an absolute path without links."""
        self._store = store
        self._directory = store / key
        self._known: set[str] = set()

    @property
    def begun(self) -> bool:
        """Whether an earlier call has come to this sequence."""
        return self._directory.is_dir()

    def stage(self, scratch: Path) -> Path:
        """Give the worker what there is of the sequence; returns the directory that it finds its frames in, and writes them to.

        Other sequences than the last few are removed."""
        try:
            directory = make_directory(scratch, *INSIDE)
            with open_directory(self._directory, make=0o700):
                os.utime(self._directory)
            self._known = {name for name in os.listdir(self._directory) if NAME.fullmatch(name)}  # noqa: PTH208
            for name in self._known:
                copy_in(self._directory / name, scratch, *INSIDE, name)
            self._forget_others()
        except OSError as error:
            message = f"frames cannot be kept in {self._store}: {error.strerror}"
            raise EnvironmentUnfit(message, cure="Make room on the disk, or check who may write there.") from error
        return directory

    def _forget_others(self) -> None:
        others = [entry for entry in self._store.iterdir() if entry != self._directory and entry.is_dir()]
        others.sort(key=lambda entry: entry.stat().st_mtime, reverse=True)
        for entry in others[MOST_SEQUENCES - 1 :]:
            remove_directory(entry)

    @contextlib.contextmanager
    def keeping(self, scratch: Path) -> Generator[None]:
        """Copy frames as they are finished, for the length of a `with` block."""
        ended = threading.Event()

        def watch() -> None:
            while not ended.wait(INTERVAL):
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
            if name in self._known or not NAME.fullmatch(name):
                continue
            # A frame that cannot be kept is rendered again; its picture is delivered all the same.
            with contextlib.suppress(OSError):
                with open_scratch_file(scratch, *INSIDE, name) as opened, open_directory(self._directory) as directory:
                    write_whole(directory, name, opened, 0o600)
                self._known.add(name)

    def target_problems(self, template: Path, overwrite: bool) -> Iterator[Finding]:
        """A finding when other files than these frames would be in their way."""
        if overwrite or not template.parent.is_dir():
            return
        first, last = HASHES.split(template.name, maxsplit=1)
        pattern = re.compile(rf"{re.escape(first)}(\d+){re.escape(last)}")
        for entry in sorted(os.listdir(template.parent)):  # noqa: PTH208
            found = pattern.fullmatch(entry)
            if found and not _equal(template.parent / entry, self._directory / f"{int(found[1]):07}.png"):
                message = f"{template.parent / entry} exists, and is no frame of this animation"
                yield Finding(Fault.SCENE_CONFLICT, message, AT, "Choose another path, or set overwrite to true.")
                return


def deliver_frames(scratch: Path, template: Path, numbers: range, overwrite: bool) -> list[str]:
    """Bring frames to where the arguments said, each whole or not at all; returns the paths of the first and the last.

    A frame that is there already stays. Raises Refusal where another file is."""
    paths: list[Path] = []
    there = set(list_files(scratch, *INSIDE))
    for number in numbers:
        name = f"{number:07}.png"
        if name not in there:
            continue
        destination = frame_path(template, number)
        paths.append(destination)
        if not _equal(destination, scratch.joinpath(*INSIDE, name)):
            deliver([Move(scratch, (*INSIDE, name), destination, replaces=overwrite)])
    return [str(path) for path in dict.fromkeys((*paths[:1], *paths[-1:]))]


def frame_path(template: Path, number: int) -> Path:
    """`shot_####.png` of frame 7 is `shot_0007.png`."""
    return template.with_name(HASHES.sub(lambda found: f"{number:0{len(found[0])}}", template.name, count=1))


def frame_numbers(result: object) -> range:
    """The frames that a worker says it has rendered. What it says is not believed further than that."""
    if not isinstance(result, dict):
        return range(0)
    first, last, step = (result.get(name) for name in ("frame_start", "frame_end", "frame_step"))  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
    if not isinstance(first, int) or not isinstance(last, int) or not isinstance(step, int) or step < 1:
        message = "the worker does not say which frames it rendered"
        raise Refusal([Finding(Fault.EXECUTION_FAILED, message, "", "Try again.")])
    return range(max(first, 0), min(last, 10_000_000) + 1, step)


def _equal(one: Path, other: Path) -> bool:
    try:
        with open_file(one.resolve()) as first, open_file(other.resolve()) as second:
            if os.fstat(first.fileno()).st_size != os.fstat(second.fileno()).st_size:
                return False
        return read_file(one.resolve()) == read_file(other.resolve())
    except OSError:
        return False
