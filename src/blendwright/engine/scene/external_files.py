"""The external files that an opened .blend file refers to: recorded once, made absolute, and readable for Blender
inside allowed roots only.

A scene can name any file, for example a password file as an image. Therefore Blendwright does not open, hash or
share files outside the roots, and records them as such. It also reads a file only if its suffix suits the
datablocks that refer to it.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO, Literal

from blendwright.engine.files.roots import FileRoots
from blendwright.engine.files.scratch import SCENE_FILE, open_scene_file
from blendwright.journal import JournalView
from blendwright.policy.policy import Verdict
from blendwright.util.no_follow import CHUNK, open_file
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding
from blendwright.wire.remote_scene import RemoteScene
from blendwright.wire.worker_port import ReadableFile

PICTURES = frozenset([
    ".bmp", ".cin", ".dds", ".dpx", ".exr", ".hdr", ".iff", ".j2c", ".j2k", ".jp2", ".jpeg", ".jpg", ".png",
    ".psb", ".psd", ".pdd", ".rgb", ".rgba", ".bw", ".sgi", ".tga", ".tif", ".tiff", ".tx", ".webp",
])  # fmt: skip
FILMS = frozenset([
    ".avi", ".divx", ".dv", ".flc", ".flv", ".gif", ".m2t", ".m2ts", ".m2v", ".m4v", ".mjpeg", ".mjpg",
    ".mkv", ".mov", ".mp4", ".mpeg", ".mpg", ".mpg2", ".mts", ".mxf", ".ogg", ".ogv", ".ts", ".vob", ".webm",
    ".wmv", ".xvid",
])  # fmt: skip
SOUNDS = frozenset([
    ".aac", ".ac3", ".aif", ".aiff", ".eac3", ".flac", ".m4a", ".mka", ".mp1", ".mp2", ".mp3", ".oga", ".ogg",
    ".opus", ".vox", ".wav", ".weba", ".wma",
])  # fmt: skip
FONTS = frozenset([".otf", ".pfb", ".ttc", ".ttf", ".woff", ".woff2"])
VOLUMES = frozenset({".vdb"})
CACHES = frozenset([".abc", ".usd", ".usda", ".usdc", ".usdz"])
SHAPES = frozenset([".bphys", ".mdd", ".pc2", ".btx"])
LIGHTS = frozenset({".ies"})
BLEND_FILES = frozenset({".blend"})

BY_KIND = {
    "images": PICTURES | FILMS,
    "movieclips": PICTURES | FILMS,
    "sounds": SOUNDS | FILMS,
    "fonts": FONTS,
    "volumes": VOLUMES,
    "cache_files": CACHES,
    "libraries": BLEND_FILES,
}
# Suffixes for strips, simulations and nodes, which refer to files of several kinds. Code and settings are not
# among them.
ANY = PICTURES | FILMS | SOUNDS | FONTS | VOLUMES | CACHES | SHAPES | LIGHTS


def fits_its_users(path: Path, used_by: tuple[str, ...]) -> bool:
    """Return True when the file's suffix suits at least one datablock that refers to it."""
    return any(path.suffix.lower() in BY_KIND.get(user.partition("/")[0], ANY) for user in used_by or ("",))


State = Literal["present", "missing", "outside_roots", "withheld", "not_a_file", "changed"]

# Readable files of a worker. Each is a rule of its confinement and an argument of its command line.
MAX_READABLE_FILES = 1000
# Hashed bytes of all files of a scene together, which take some seconds.
MAX_HASHED_BYTES = 2 << 30
LIBRARIES = "libraries"
TILES = re.compile("<UDIM>|<UVTILE>")


@dataclass(frozen=True, slots=True)
class External:
    """An external file: its path, its state at the time of recording, and the datablocks that refer to it."""

    path: str
    state: State
    size: int | None
    sha256: str | None
    used_by: tuple[str, ...]
    followed: bool = False
    """True when a call has named this library itself. Blendwright opens only such libraries."""
    relative: str = ""
    """The path relative to the folder of a window's file, for files below that folder. Such paths stay relative."""

    @property
    def linked(self) -> bool:
        return any(user.startswith(LIBRARIES + "/") for user in self.used_by)

    @classmethod
    def of_json(cls, entry: Mapping[str, Any]) -> External:
        used_by = tuple(entry["used_by"])
        followed = entry.get("followed", False)
        relative = entry.get("relative", "")
        return cls(entry["path"], entry["state"], entry["size"], entry["sha256"], used_by, followed, relative)

    def to_json(self) -> dict[str, Any]:
        fields = asdict(self) | {"used_by": list(self.used_by)}
        # Leave out these fields when they are empty, because few files have them.
        return {name: value for name, value in fields.items() if value or name not in ("followed", "relative")}


@dataclass(slots=True)
class HashBudget:
    """The number of bytes that may still be hashed. A scene can name any number of large files; beyond the budget
    only the size is recorded.
    """

    left: int

    def digest(self, opened: BinaryIO, size: int) -> str | None:
        if size > self.left:
            return None
        self.left -= size
        digest = hashlib.sha256()
        # Read no more than the recorded size, because another program may be appending to the file.
        while size:
            chunk = opened.read(min(CHUNK, size))
            if not chunk:
                break
            digest.update(chunk)
            size -= len(chunk)
        return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class OpenedFile:
    """A file that is now a worker's scene. `file` is the copy to keep."""

    hash: str
    file: Path
    externals: tuple[External, ...]


class Externals:
    """The rules for reading external files: files whose nearest root allows them without a question, and linked
    files in asset folders.
    """

    def __init__(self, roots: FileRoots | None = None) -> None:
        self._roots = roots or FileRoots({})

    def open_file(self, worker: RemoteScene, file: Path, label: str, directory: Path) -> OpenedFile:
        """Open a .blend file in the worker and make its relative paths absolute, starting from `directory`. Raises
        RebuildFailed.
        """
        scene_hash = open_scene_file(worker, file, label)
        entries = worker.external_files()
        absolute = {entry["path"]: _absolute(entry["path"], directory) for entry in entries}
        relocated = {path: absolute_path for path, absolute_path in absolute.items() if path != absolute_path}
        if relocated:
            scene_hash = worker.relocate_files(SCENE_FILE, relocated)
        users: dict[str, set[str]] = {}
        for entry in entries:
            users.setdefault(absolute[entry["path"]], set()).add(f"{entry['kind']}/{entry['name']}")
        return OpenedFile(scene_hash, worker.require_process().scratch / SCENE_FILE, self._record_all(users))

    def named_in(self, worker: RemoteScene, directory: Path) -> tuple[External, ...]:
        """Return the external files that the worker's scene names. Paths below `directory` stay relative."""
        users: dict[str, set[str]] = {}
        below: set[str] = set()
        for entry in worker.external_files():
            path = _absolute(entry["path"], directory)
            users.setdefault(path, set()).add(f"{entry['kind']}/{entry['name']}")
            if entry["path"].startswith("//") and Path(path).is_relative_to(directory):
                below.add(path)

        externals: list[External] = []
        for path, recorded in self._recorded(users):
            # An image with tiles has one record for each tile.
            for external in recorded:
                if path in below:
                    external = replace(external, relative=os.path.relpath(external.path, directory))
                externals.append(external)
        return tuple(externals)

    def named_since(
        self, worker: RemoteScene, known: Iterable[External], reads: Collection[str]
    ) -> tuple[External, ...]:
        """Return the external files that the worker's scene names in addition to the known ones.

        Files that a call `reads` are recorded again in their present state.
        """
        known_paths = {external.path for external in known} - set(reads)
        users: dict[str, set[str]] = {}
        for entry in worker.external_files():
            path = entry["path"]
            # Steps write absolute paths. Paths of other systems do not exist here, and a window's relative paths are known already.
            is_absolute = path.startswith("/") and not path.startswith("//")
            if is_absolute and path not in known_paths:
                users.setdefault(path, set()).add(f"{entry['kind']}/{entry['name']}")

        # Follow a library that a call named, but not one that only a file refers to.
        return tuple(
            replace(external, followed=external.linked and external.path in reads)
            for external in self._record_all(users)
        )

    def _record_all(self, users: Mapping[str, Collection[str]]) -> tuple[External, ...]:
        externals: list[External] = []
        for _, recorded in self._recorded(users):
            externals += recorded
        return tuple(externals)

    def _recorded(self, users: Mapping[str, Collection[str]]) -> Iterator[tuple[str, tuple[External, ...]]]:
        budget = HashBudget(MAX_HASHED_BYTES)
        for path in sorted(users):
            yield path, tuple(self._record(path, tuple(sorted(users[path])), budget))

    def readable(self, journal: JournalView, arriving: Iterable[External] = ()) -> tuple[ReadableFile, ...]:
        """Return the files that workers of this workspace may read in addition to their scratch directory, in
        their present state.

        `arriving` are files of the uncommitted step.
        """
        commits = journal.naming_files(all_lines=True)
        recorded = (external for commit in commits for external in externals_of_receipt(commit.receipt))
        return self.readable_files((*arriving, *recorded))

    def readable_files(self, externals: Iterable[External]) -> tuple[ReadableFile, ...]:
        """Return the files that workers may read, in their present state.

        A linked file counts only if a call has named it, because an adopted scene and its libraries may name any
        file.
        """
        readable: dict[Path, ReadableFile] = {}
        for external in externals:
            if external.state == "present" and (external.followed or not external.linked):
                for readable_file in self._identify(external):
                    readable[readable_file.path] = readable_file
        return tuple(readable[path] for path in sorted(readable))[:MAX_READABLE_FILES]

    def stamps(self, journal: JournalView) -> list[list[str | int]]:
        """Return the path, size and modification time of each readable file. They change with its content, which
        no scene hash covers.
        """
        stamps: list[list[str | int]] = []
        for readable_file in self.readable(journal):
            if readable_file.path.exists():
                info = readable_file.path.stat()
                stamps.append([str(readable_file.path), info.st_size, info.st_mtime_ns])
        return stamps

    def now(self, recorded: External) -> External:
        """Return the record of the same file in its present state, with the state "changed" if its content
        differs.
        """
        # Hash the file only if it was hashed before; a different size needs no hash.
        if recorded.sha256 is None:
            budget = HashBudget(0)
        else:
            budget = HashBudget(recorded.size or 0)
        current = next(self._record(recorded.path, recorded.used_by, budget))
        current = replace(current, followed=recorded.followed, relative=recorded.relative)

        if recorded.size is None or current.size is None:
            return current
        if (current.size, current.sha256) == (recorded.size, recorded.sha256):
            return current
        return replace(current, state="changed")

    def _record(self, name: str, used_by: tuple[str, ...], budget: HashBudget) -> Iterator[External]:
        """Yield the record of the file at a path, or one record for each tile of a tiled image."""
        try:
            if TILES.search(name):
                tiles = sorted(Path(name).parent.glob(TILES.sub("*", Path(name).name)))
            else:
                tiles = ()
            for path in tiles or (Path(name),):
                yield self._record_file(path, used_by, budget)
        except (OSError, ValueError, RuntimeError):
            # The path is too long, has a null byte or a loop of links, or lacks permissions, so it names no
            # readable file.
            yield External(name, "missing", None, None, used_by)

    def _record_file(self, path: Path, used_by: tuple[str, ...], budget: HashBudget) -> External:
        # A symbolic link inside the roots may lead out of them.
        real = path.resolve()
        state = self._withheld_state(real, used_by)
        if state is not None:
            return External(str(path), state, None, None, used_by)
        if not real.exists():
            return External(str(path), "missing", None, None, used_by)
        if not real.is_file():
            return External(str(path), "not_a_file", None, None, used_by)
        with open_file(real) as opened:
            size = os.fstat(opened.fileno()).st_size
            return External(str(path), "present", size, budget.digest(opened, size), used_by)

    def _identify(self, external: External) -> Iterator[ReadableFile]:
        """Yield the identity of the file by which a worker's confinement recognizes it, or nothing if the file is
        not readable.
        """
        with contextlib.suppress(OSError, RuntimeError, ValueError):
            # A symbolic link may point to another file than at recording.
            path = Path(external.path).resolve()
            if self._withheld_state(path, external.used_by) is None:
                with open_file(path) as opened:
                    info = os.fstat(opened.fileno())
                yield ReadableFile(path, info.st_dev, info.st_ino, external.relative)

    def _withheld_state(self, path: Path, used_by: tuple[str, ...]) -> Literal["outside_roots", "withheld"] | None:
        """Return why Blendwright does not open a file, judging by its path and name, or None when it may."""
        root = self._roots.rule(path)
        if root is not None and root[1] is Verdict.ALLOW:
            top = Path(root[0])
        else:
            top = None
        if top is None and used_by and all(user.startswith(f"{LIBRARIES}/") for user in used_by):
            top = self._roots.asset_folder(path)  # a linked asset, which is opened only if a call has named it
        if top is None:
            return "outside_roots"
        hidden = any(part.startswith(".") for part in path.relative_to(top).parts)
        if hidden or self._roots.is_own(path) or not fits_its_users(path, used_by):
            return "withheld"
        return None


def current_externals(journal: JournalView, at: int | None = None) -> tuple[External, ...]:
    """Return the external files of the scene of HEAD, or of the commit `at`, as the latest commits recorded them."""
    externals: dict[str, External] = {}
    for commit in journal.naming_files(at=at):
        for external in externals_of_receipt(commit.receipt):
            externals.setdefault(external.path, external)
        if commit.kind != "operation":
            break
    return tuple(externals[path] for path in sorted(externals))


def externals_of_receipt(receipt: Mapping[str, Any]) -> tuple[External, ...]:
    return tuple(External.of_json(entry) for entry in receipt.get("externals", ()))


def findings_about(externals: Sequence[External]) -> tuple[Finding, ...]:
    """Return findings for a person: files that are missing, that Blendwright may not read, or that it does not
    follow.
    """
    findings: list[Finding] = []
    for external in externals:
        findings += _findings(external)
    return tuple(findings)


def _findings(external: External) -> Iterator[Finding]:
    path = external.path
    users = ", ".join(external.used_by)
    match external.state:
        case "missing":
            cure = "Put the file there, or pack it into the .blend file."
            yield Finding(Fault.TARGET_NOT_FOUND, f"{path} is missing ({users})", "", cure)
        case "outside_roots":
            cure = "Work in a directory that contains the file, or pack it into the .blend file."
            message = f"{path} is outside the allowed roots, so Blendwright does not read it ({users})"
            yield Finding(Fault.POLICY_BLOCKED, message, "", cure)
        case "withheld":
            message = (
                f"{path} is hidden, belongs to the workspace, or has the wrong suffix for its use, "
                f"so Blendwright does not read it ({users})"
            )
            cure = "Rename the file with the right suffix, or pack it into the .blend file."
            yield Finding(Fault.POLICY_BLOCKED, message, "", cure)
        case "not_a_file":
            message = f"{path} is not a file, so Blendwright does not read it ({users})"
            yield Finding(Fault.TARGET_NOT_FOUND, message, "", "Check the path.")
        case "changed":
            message = f"the content of {path} has changed since it was recorded ({users})"
            if external.followed:
                cure = "Restore the old content, or link the file again with file.link or asset.add."
            else:
                cure = "Restore the old content, or adopt the scene again."
            yield Finding(Fault.SCENE_CONFLICT, message, "", cure)
        case "present":
            if external.linked and not external.followed:
                message = f"{path} is a linked file, and Blendwright does not open linked files ({users})"
                yield Finding(Fault.POLICY_BLOCKED, message, "", "Make all data local in the .blend file first.")


def _absolute(path: str, directory: Path) -> str:
    """Return the absolute path of a path in a .blend file. A path relative to the file begins with `//`, with
    backslashes if from Windows.
    """
    if path.startswith("//"):
        path = path[2:].replace("\\", "/")
    # Do not resolve links: a link that changes later must lead to its new target.
    return os.path.normpath(directory / path)
