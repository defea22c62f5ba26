"""Where the outputs of cases go: made in a private place, then published whole under a name that nobody has used, with a manifest.

A published directory never changes. Its name is that of one attempt, so that whoever was thought dead and comes back can replace nothing;
which attempt counts, the table of results says.
"""

from __future__ import annotations

import hashlib
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from blendwright.batch.outputs.owned_directories import remove_own
from blendwright.journal.store import sync_directory
from blendwright.util import crash_points
from blendwright.util.no_follow import open_directory, open_file
from blendwright.values.errors import EnvironmentUnfit

MANIFEST = "manifest.json"
CASES = "cases"
WORKSPACE = "workspace"
# The number of a case, and of the attempt from the second one on.
NAME = re.compile(r"(\d{6,})(?:-(\d+))?")


def attempt_name(number: int, fence: int) -> str:
    """What the outputs of one attempt are called: the first one has the plain name of its case."""
    if fence == 1:
        return f"{number:06d}"
    return f"{number:06d}-{fence}"


@dataclass(frozen=True, slots=True)
class Manifest:
    """What was published: the key of the case, the hash of its scene, and its files by name, with `sha256` and `bytes`."""

    key: str
    scene_hash: str
    files: Mapping[str, Mapping[str, Any]]

    def to_json(self) -> dict[str, Any]:
        return {
            "key": self.key,
            "scene_hash": self.scene_hash,
            "files": {name: dict(of) for name, of in self.files.items()},
        }


class OutputStore(ABC):
    """A place for the outputs of a batch. Safe to be used by many processes at once."""

    @abstractmethod
    def publish(self, staged: Path, name: str, key: str, scene_hash: str) -> Manifest:
        """Publish a local directory, which is the store's from now on: hashed, with its manifest, whole and durable when this returns.

        Raises FileExistsError where the name was used, EnvironmentUnfit where the place cannot be written to."""

    @abstractmethod
    def location(self, name: str) -> str:
        """Where a person finds what was published under a name: a path, or a URL."""

    @abstractmethod
    def manifest(self, name: str) -> Manifest | None:
        """What was published under a name; None where nothing was."""

    @abstractmethod
    def open(self, name: str, file: str) -> BinaryIO:
        """One published file for reading. Raises FileNotFoundError."""

    @abstractmethod
    def names(self) -> Iterator[str]:
        """Everything that was published."""

    def attempts(self) -> Iterator[str]:
        """Everything that was begun, published or not, where that can be seen."""
        return self.names()

    @abstractmethod
    def remove(self, name: str) -> None:
        """Remove what was published by an attempt that does not count; nothing where there is nothing."""


class DirectoryOutputs(OutputStore):
    """`cases/000042/` in a local directory. What is staged lies on the same file system, so that a rename publishes it."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._cases = root / CASES

    def publish(self, staged: Path, name: str, key: str, scene_hash: str) -> Manifest:
        target = self._cases / name
        try:
            manifest = write_manifest(staged, key, scene_hash)
            self._cases.mkdir(parents=True, exist_ok=True)
            crash_points.reach("batch.outputs_staged")
            if target.exists():
                raise FileExistsError(f"{target} was published before")
            staged.rename(target)
            crash_points.reach("batch.outputs_renamed")
            sync_directory(self._cases)
        except FileExistsError:
            raise
        except OSError as error:
            cure = "Make room there, or check who may write there, then run the same command again."
            raise EnvironmentUnfit(f"{target} cannot be written: {error.strerror}", cure=cure) from error
        return manifest

    def location(self, name: str) -> str:
        return str(self._cases / name)

    def manifest(self, name: str) -> Manifest | None:
        """None also for what is no manifest, or no plain file: somebody else has put it there."""
        try:
            with open_file(self._root.resolve() / CASES / name / MANIFEST) as file:
                return Manifest(**orjson.loads(file.read()))
        except (OSError, ValueError, TypeError):
            return None

    def open(self, name: str, file: str) -> BinaryIO:
        return (self._cases / name / file).open("rb")

    def names(self) -> Iterator[str]:
        if self._cases.is_dir():
            with os.scandir(self._cases) as entries:
                yield from (entry.name for entry in entries if NAME.fullmatch(entry.name))

    def remove(self, name: str) -> None:
        """First out of sight, in one step: nobody may find a part of it."""
        hidden = f".{name}.removed"
        try:
            with open_directory(self._root.resolve() / CASES) as cases:
                os.rename(name, hidden, src_dir_fd=cases, dst_dir_fd=cases)
        except FileNotFoundError:
            return
        remove_own(self._root, Path(CASES), hidden)


def write_manifest(staged: Path, key: str, scene_hash: str) -> Manifest:
    """Hash and sync every file of a staged directory, and put the manifest beside them, all durable when this returns. A workspace that
    is kept there is synced and not listed: whoever opens it changes it."""
    files: dict[str, dict[str, Any]] = {}
    for directory, folders, names in os.walk(staged):
        folders.sort()
        for name in sorted(names):
            path = Path(directory, name)
            relative = path.relative_to(staged)
            with path.open("rb") as file:
                os.fsync(file.fileno())
                if relative.parts[0] != WORKSPACE:
                    sha256 = hashlib.file_digest(file, "sha256").hexdigest()
                    files[relative.as_posix()] = {"sha256": sha256, "bytes": os.fstat(file.fileno()).st_size}
    files.pop(MANIFEST, None)
    manifest = Manifest(key, scene_hash, files)
    with (staged / MANIFEST).open("wb") as written:
        written.write(orjson.dumps(manifest.to_json(), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
        written.flush()
        os.fsync(written.fileno())
    for directory, _, _ in os.walk(staged):
        sync_directory(Path(directory))
    return manifest


def differing_files(store: OutputStore, name: str, manifest: Manifest) -> tuple[str, ...]:
    """Read everything back: the files that are not what the manifest says, or not there at all."""
    wrong: list[str] = []
    for file, said in manifest.files.items():
        try:
            with store.open(name, file) as opened:
                digest = hashlib.sha256()
                while chunk := opened.read(1 << 20):
                    digest.update(chunk)
        except FileNotFoundError:
            wrong.append(file)
            continue
        if digest.hexdigest() != said["sha256"]:
            wrong.append(file)
    return tuple(wrong)
