"""Outputs on shared storage, through the file systems of fsspec: S3 and similar storage, or a mounted directory as `file://`.

Object storage has no rename. Therefore Blendwright writes the files of an attempt under a name that no other attempt uses, and reads them
back. It writes the manifest last; outputs without a manifest are not published.
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

Result = TypeVar("Result")
CHUNK = 1 << 20
SECRETS = ("@", "?")
"""Characters of URLs that may contain a password. The database stores the URL, and Blendwright shows it."""
FILE = "file://"
STORAGE = ("s3", "s3a", "gs", "gcs", "az", "abfs", "abfss")
"""Schemes for which the machine's own credentials decide about access. fsspec knows many more, which lead to any host."""
MEMORY = "memory"
"""The scheme of storage inside one process."""
PATTERNS = frozenset("*[]{}\\")
"""Characters that fsspec reads as patterns of names, even when it removes files."""


def is_url(place: str) -> bool:
    return "://" in place


class FsspecOutputs(OutputStore):
    """The directories `cases/000042/…` below a URL. Credentials come from the machine (environment, profile), never from the URL."""

    def __init__(self, url: str) -> None:
        self.url = check_url(url)
        self._system, self._root = _file_system(self.url)
        self._is_directory = self.url.startswith(FILE)

    def publish(self, staged: Path, name: str, key: str, scene_hash: str) -> Manifest:
        manifest = self._translated(lambda: write_manifest(staged, key, scene_hash))
        if self.manifest(name) is not None:
            raise FileExistsError(f"{self.location(name)} was published before")
        # Upload all files, not only those in the manifest, because a kept workspace is not listed there.
        for source in sorted(path for path in staged.rglob("*") if path.is_file() and path != staged / MANIFEST):
            target = self._path(name, source.relative_to(staged).as_posix())
            self._translated(lambda source=source, target=target: self._upload(source, target))
        crash_points.reach("batch.outputs_staged")
        marker = (staged / MANIFEST).read_bytes()
        self._translated(lambda: self._write(self._path(name, MANIFEST), marker))
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

        return self._translated(read)

    def open(self, name: str, file: str) -> BinaryIO:
        return self._translated(lambda: cast("BinaryIO", self._system.open(self._path(name, file), "rb")))

    def names(self) -> Iterator[str]:
        """Yield the attempts that have a manifest. An interrupted attempt has none."""
        for name in self.attempts():
            if self._translated(lambda name=name: self._system.exists(self._path(name, MANIFEST))):
                yield name

    def attempts(self) -> Iterator[str]:
        cases = posixpath.join(self._root, CASES)
        self._system.invalidate_cache()
        if self._translated(lambda: self._system.isdir(cases)):
            paths = self._translated(lambda: self._system.ls(cases, detail=False))
            for path in paths:
                name = posixpath.basename(str(path).rstrip("/"))
                if NAME.fullmatch(name):
                    yield name

    def remove(self, name: str) -> None:
        """Remove an attempt. The manifest goes first, so that an incomplete removal is not published."""

        def remove() -> None:
            self._system.invalidate_cache()
            for path in (self._path(name, MANIFEST), self._path(name)):
                try:
                    self._system.rm(path, recursive=True)
                except FileNotFoundError:
                    continue

        self._translated(remove)

    def _upload(self, source: Path, target: str) -> None:
        """Copy a file to the storage and read it back, so that lost or changed bytes are noticed immediately."""
        self._system.makedirs(posixpath.dirname(target), exist_ok=True)
        self._system.put_file(str(source), target)
        self._make_durable(target)
        with source.open("rb") as staged, self._system.open(target, "rb") as written:
            if hashlib.file_digest(staged, "sha256").digest() != _digest(written):
                raise OSError(f"the storage returned other content for {source.name}")

    def _write(self, target: str, content: bytes) -> None:
        """Write a file atomically. Object storage does that itself; in a directory it needs a rename."""
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
        """Sync a file of a directory to disk. Object storage has already confirmed it."""
        if self._is_directory:
            with Path(target).open("rb") as written:
                os.fsync(written.fileno())

    def _path(self, name: str, file: str = "") -> str:
        return posixpath.join(self._root, CASES, name, file).rstrip("/")

    def _translated(self, work: Callable[[], Result]) -> Result:
        """Return the result of a call, and raise EnvironmentUnfit instead of OSError. Missing and existing files keep their errors."""
        try:
            return work()
        except (FileNotFoundError, FileExistsError):
            raise
        except OSError as error:
            fix = "Check the permissions of this machine there, and the free space."
            raise EnvironmentUnfit(f"{self.url} cannot be used: {error.strerror or error}", cure=fix) from error


def _digest(file: Any) -> bytes:
    """Return the SHA-256 of a file. `hashlib.file_digest` does not accept every file object of fsspec."""
    digest = hashlib.sha256()
    while chunk := file.read(CHUNK):
        digest.update(chunk)
    return digest.digest()


def check_url(url: str) -> str:
    """Return the URL of an output location without a trailing slash. Raise Refusal if it may contain a secret or is not supported."""
    if any(mark in url for mark in SECRETS):
        message = "the URL for outputs contains parts that may be secret"
        fix = "Write it without user, password and query, as s3://bucket/folder; credentials come from each machine's environment."
        raise Refusal.of(Fault.ARGS_INVALID, message, fix)
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
        schemes = f"Supported schemes: file, {', '.join(STORAGE)}."
        fix = f"Write it as s3://bucket/folder or file:///mnt/share, without patterns and relative parts. {schemes}"
        raise Refusal.of(Fault.ARGS_INVALID, f"'{url[:200]}' is not a location for outputs", fix)
    return url.rstrip("/")


def _file_system(url: str) -> tuple[Any, str]:
    try:
        import fsspec
    except ImportError as error:
        fix = "Install them: pip install 'blendwright[fleet]'"
        raise EnvironmentUnfit("the packages for outputs on shared storage are not installed", cure=fix) from error
    try:
        # Other machines write there too, so a cached listing would be out of date.
        url_to_fs: Any = cast("Any", fsspec).core.url_to_fs
        system, root = url_to_fs(url, use_listings_cache=False)
    except (ValueError, ImportError) as error:
        fix = (
            f"Use a URL that fsspec supports, as s3://bucket/folder (pip install s3fs) or file:///mnt/share. ({error})"
        )
        raise EnvironmentUnfit(f"{url} cannot be used for outputs here", cure=fix) from error
    return system, str(root)
