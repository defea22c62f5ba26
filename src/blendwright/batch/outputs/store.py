"""The stores of outputs. An attempt makes its outputs in a private directory and then publishes them atomically, with a manifest.

A published directory never changes. Its name belongs to one attempt, so a worker process that was thought dead cannot overwrite anything
when it comes back. The table of results says which attempt counts.
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
# The number of a case, followed by the number of the attempt except for the first one.
NAME = re.compile(r"(\d{6,})(?:-(\d+))?")


def attempt_name(number: int, fence: int) -> str:
    """Return the directory name of an attempt's outputs. The first attempt has the plain name of its case."""
    if fence == 1:
        return f"{number:06d}"
    return f"{number:06d}-{fence}"


@dataclass(frozen=True, slots=True)
class Manifest:
    """The description of published outputs: the case's key, the scene's hash, and the files by name with `sha256` and `bytes`."""

    key: str
    scene_hash: str
    files: Mapping[str, Mapping[str, Any]]

    def to_json(self) -> dict[str, Any]:
        return {
            "key": self.key,
            "scene_hash": self.scene_hash,
            "files": {name: dict(file) for name, file in self.files.items()},
        }


class OutputStore(ABC):
    """A store for the outputs of a batch. Many processes may use it at the same time."""

    @abstractmethod
    def publish(self, staged: Path, name: str, key: str, scene_hash: str) -> Manifest:
        """Publish a local directory and take it over. When this returns, the outputs are complete, hashed and durable.

        Raise FileExistsError if the name was used before, and EnvironmentUnfit if the store cannot be written."""

    @abstractmethod
    def location(self, name: str) -> str:
        """Return the path or URL under which a user finds published outputs."""

    @abstractmethod
    def manifest(self, name: str) -> Manifest | None:
        """Return the manifest that was published under a name, or None."""

    @abstractmethod
    def open(self, name: str, file: str) -> BinaryIO:
        """Open a published file for reading. Raise FileNotFoundError if it does not exist."""

    @abstractmethod
    def names(self) -> Iterator[str]:
        """Yield the names of all published outputs."""

    def attempts(self) -> Iterator[str]:
        """Yield the names of all attempts, published or not. A store that cannot list unpublished ones yields the published ones."""
        return self.names()

    @abstractmethod
    def remove(self, name: str) -> None:
        """Remove the outputs of an attempt that does not count. Do nothing if there are none."""


class DirectoryOutputs(OutputStore):
    """The directories `cases/000042/` on this machine. Staging is on the same file system, so a rename publishes an attempt."""

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
            fix = "Free some space or check the permissions, then run the same command again."
            raise EnvironmentUnfit(f"{target} cannot be written: {error.strerror}", cure=fix) from error
        return manifest

    def location(self, name: str) -> str:
        return str(self._cases / name)

    def manifest(self, name: str) -> Manifest | None:
        """Return a manifest, or None if it is missing, invalid or not a regular file."""
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
                for entry in entries:
                    if NAME.fullmatch(entry.name):
                        yield entry.name

    def remove(self, name: str) -> None:
        """Remove an attempt. First hide it with a rename, so that no reader finds a part of it."""
        hidden = f".{name}.removed"
        try:
            with open_directory(self._root.resolve() / CASES) as cases:
                os.rename(name, hidden, src_dir_fd=cases, dst_dir_fd=cases)
        except FileNotFoundError:
            return
        remove_own(self._root, Path(CASES), hidden)


def write_manifest(staged: Path, key: str, scene_hash: str) -> Manifest:
    """Hash and sync every file of a staged directory, write its manifest, and return it. Everything is durable when this returns.

    The manifest does not list the files of a kept workspace, because opening the workspace changes them."""
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
    with (staged / MANIFEST).open("wb") as output:
        output.write(orjson.dumps(manifest.to_json(), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
        output.flush()
        os.fsync(output.fileno())
    for directory, _, _ in os.walk(staged):
        sync_directory(Path(directory))
    return manifest


def differing_files(store: OutputStore, name: str, manifest: Manifest) -> tuple[str, ...]:
    """Read all published files again, and return the names of missing files and of files that differ from the manifest."""
    differing: list[str] = []
    for file, expected in manifest.files.items():
        try:
            with store.open(name, file) as opened:
                digest = hashlib.sha256()
                while chunk := opened.read(1 << 20):
                    digest.update(chunk)
        except FileNotFoundError:
            differing.append(file)
            continue
        if digest.hexdigest() != expected["sha256"]:
            differing.append(file)
    return tuple(differing)
