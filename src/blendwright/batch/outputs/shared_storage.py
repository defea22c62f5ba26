"""Outputs on shared storage, by file systems of fsspec: S3 and the like, or a mounted directory as `file://`.

Storage of objects has no rename. So the files of an attempt are written under its own name, which nobody else uses, and read back; the
manifest is written last, and without it nothing counts as published.
"""

from __future__ import annotations

import hashlib
import os
import posixpath
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, TypeVar, cast

import orjson

from blendwright.batch.outputs.store import CASES, MANIFEST, NAME, Manifest, OutputStore, write_manifest
from blendwright.journal.store import sync_directory
from blendwright.util import crash_points
from blendwright.util.directory_removal import remove_directory
from blendwright.values.errors import EnvironmentUnfit, Refusal
from blendwright.values.faults import Fault

Found = TypeVar("Found")
CHUNK = 1 << 20
SECRETS = ("@", "?")
"""A URL with one of these may hold a password, and is kept in the database and shown."""
FILE = "file://"
STORAGE = ("s3", "s3a", "gs", "gcs", "az", "abfs", "abfss")
"""Where the machine's own credentials decide what can be read and written. fsspec knows many more, which lead to any host."""
MEMORY = "memory"
"""Of one process alone."""
PATTERNS = frozenset("*[]{}\\")
"""What fsspec takes for a pattern of names, also where something is removed."""


def is_url(place: str) -> bool:
    return "://" in place


class FsspecOutputs(OutputStore):
    """`cases/000042/…` below a URL. Credentials are those of the machine (environment, profile), never part of the URL."""

    def __init__(self, url: str) -> None:
        self.url = check_url(url)
        self._system, self._root = _file_system(self.url)
        self._is_directory = self.url.startswith(FILE)

    def publish(self, staged: Path, name: str, key: str, scene_hash: str) -> Manifest:
        manifest = self._told(lambda: write_manifest(staged, key, scene_hash))
        if self.manifest(name) is not None:
            raise FileExistsError(f"{self.location(name)} was published before")
        # All of them, and not only those that the manifest lists: a workspace that is kept is not.
        for source in sorted(path for path in staged.rglob("*") if path.is_file() and path != staged / MANIFEST):
            target = self._path(name, source.relative_to(staged).as_posix())
            self._told(lambda source=source, target=target: self._upload(source, target))
        crash_points.reach("batch.outputs_staged")
        marker = (staged / MANIFEST).read_bytes()
        self._told(lambda: self._write(self._path(name, MANIFEST), marker))
        crash_points.reach("batch.outputs_renamed")
        remove_directory(staged)
        return manifest

    def location(self, name: str) -> str:
        return f"{self.url}/{CASES}/{name}"

    def manifest(self, name: str) -> Manifest | None:
        def read() -> Manifest | None:
            try:
                return Manifest(**orjson.loads(self._system.cat_file(self._path(name, MANIFEST))))
            except (FileNotFoundError, NotADirectoryError):
                return None

        return self._told(read)

    def open(self, name: str, file: str) -> BinaryIO:
        return self._told(lambda: cast("BinaryIO", self._system.open(self._path(name, file), "rb")))

    def names(self) -> Iterator[str]:
        """Those with a manifest; an attempt that was cut off has none."""
        for name in self.attempts():
            if self._told(lambda name=name: self._system.exists(self._path(name, MANIFEST))):
                yield name

    def attempts(self) -> Iterator[str]:
        cases = posixpath.join(self._root, CASES)
        self._system.invalidate_cache()
        if self._told(lambda: self._system.isdir(cases)):
            listed = self._told(lambda: self._system.ls(cases, detail=False))
            names = (posixpath.basename(str(path).rstrip("/")) for path in listed)
            yield from (name for name in names if NAME.fullmatch(name))

    def remove(self, name: str) -> None:
        """The manifest goes first: from then on nothing is published there."""

        def remove() -> None:
            self._system.invalidate_cache()
            for path in (self._path(name, MANIFEST), self._path(name)):
                try:
                    self._system.rm(path, recursive=True)
                except FileNotFoundError:
                    continue

        self._told(remove)

    def _upload(self, source: Path, target: str) -> None:
        """Read back what was written: storage that lost or changed a byte is noticed before anybody relies on it."""
        self._system.makedirs(posixpath.dirname(target), exist_ok=True)
        self._system.put_file(str(source), target)
        self._make_durable(target)
        with source.open("rb") as staged, self._system.open(target, "rb") as written:
            if hashlib.file_digest(staged, "sha256").digest() != _digest(written):
                raise OSError(f"{source.name} is not what was written there")

    def _write(self, target: str, content: bytes) -> None:
        """An object appears whole or not at all. In a directory that takes a rename."""
        self._system.makedirs(posixpath.dirname(target), exist_ok=True)
        if not self._is_directory:
            self._system.pipe_file(target, content)
            return
        hidden = Path(posixpath.dirname(target), f".{MANIFEST}")
        hidden.write_bytes(content)
        self._make_durable(str(hidden))
        hidden.replace(target)
        for folder in Path(target).parents[:2]:
            sync_directory(folder)

    def _make_durable(self, target: str) -> None:
        """Storage of objects has answered for what it took; a file system is asked."""
        if self._is_directory:
            with Path(target).open("rb") as written:
                os.fsync(written.fileno())

    def _path(self, name: str, file: str = "") -> str:
        return posixpath.join(self._root, CASES, name, file).rstrip("/")

    def _told(self, work: Callable[[], Found]) -> Found:
        """File systems raise OSError, and what their own libraries have besides."""
        try:
            return work()
        except (FileNotFoundError, FileExistsError):
            raise
        except OSError as error:
            cure = "Check that this machine may read and write there, and that there is room."
            raise EnvironmentUnfit(f"{self.url} cannot be used: {error.strerror or error}", cure=cure) from error


def _digest(file: Any) -> bytes:
    """Files of fsspec are not quite those that `file_digest` takes."""
    digest = hashlib.sha256()
    while chunk := file.read(CHUNK):
        digest.update(chunk)
    return digest.digest()


def check_url(url: str) -> str:
    """A place for outputs as it is kept. Raises Refusal for one that may hold a secret, or that is no plain place on storage."""
    if any(mark in url for mark in SECRETS):
        message = "the address for outputs has parts that may be secret"
        cure = "Name it without user, password and query, as s3://bucket/folder; credentials come from each machine's own environment."
        raise Refusal.of(Fault.ARGS_INVALID, message, cure)
    scheme, _, path = url.partition("://")
    is_plain = (
        scheme in ("file", MEMORY, *STORAGE)
        and "://" not in path
        and "::" not in path
        and not {".", ".."} & set(path.split("/"))
        and not PATTERNS & set(path)
        and path.isprintable()
    )
    if not is_plain or (scheme == "file" and not path.startswith("/")):
        known = f"These are known: file, {', '.join(STORAGE)}."
        cure = f"Name it as s3://bucket/folder or file:///mnt/share, without patterns and detours. {known}"
        raise Refusal.of(Fault.ARGS_INVALID, f"'{url[:200]}' is no place for outputs", cure)
    return url.rstrip("/")


def _file_system(url: str) -> tuple[Any, str]:
    try:
        import fsspec
    except ImportError as error:
        cure = "Install it: pip install 'blendwright[fleet]'"
        raise EnvironmentUnfit("the packages for outputs on shared storage are not installed", cure=cure) from error
    try:
        # Others write there too: what a listing showed before must not be believed.
        url_to_fs: Any = cast("Any", fsspec).core.url_to_fs
        system, root = url_to_fs(url, use_listings_cache=False)
    except (ValueError, ImportError) as error:
        cure = (
            f"Name a place that fsspec knows, as s3://bucket/folder (pip install s3fs) or file:///mnt/share. ({error})"
        )
        raise EnvironmentUnfit(f"{url} is no place for outputs here", cure=cure) from error
    return system, str(root)
