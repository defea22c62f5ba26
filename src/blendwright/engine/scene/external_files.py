"""The external files that an opened .blend file refers to: recorded once, made absolute, readable for Blender inside allowed roots only.

A scene can name any file. So nothing outside the roots is opened, hashed or made readable; it is recorded as such.
A hostile scene calls any file its picture: only files whose names end as befits whoever refers to them are read.
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
# Strips, simulations and nodes name files of several kinds; code and settings are among none of them.
ANY = PICTURES | FILMS | SOUNDS | FONTS | VOLUMES | CACHES | SHAPES | LIGHTS


def fits_its_users(path: Path, used_by: tuple[str, ...]) -> bool:
    """Whether a file can be what one of those who refer to it takes it for."""
    return any(path.suffix.lower() in BY_KIND.get(user.partition("/")[0], ANY) for user in used_by or ("",))


State = Literal["present", "missing", "outside_roots", "withheld", "not_a_file", "changed"]

# Each file is a rule of a worker's confinement, and an argument of its command line.
MOST_READABLE = 1000
# Bytes of all files of a scene together: some seconds' worth.
MOST_HASHED = 2 << 30
LIBRARIES = "libraries"
TILES = re.compile("<UDIM>|<UVTILE>")


@dataclass(frozen=True, slots=True)
class External:
    """One file: where it lies, what it was when it was recorded, and which datablocks refer to it."""

    path: str
    state: State
    size: int | None
    sha256: str | None
    used_by: tuple[str, ...]
    followed: bool = False
    """Whether a call has named this library itself: only then it is opened."""
    relative: str = ""
    """The path to it from the folder of a window's file, where it lies below: such paths stay relative."""

    @property
    def linked(self) -> bool:
        return any(user.startswith(LIBRARIES + "/") for user in self.used_by)

    @classmethod
    def of_json(cls, entry: Mapping[str, Any]) -> External:
        used_by = tuple(entry["used_by"])
        followed, relative = entry.get("followed", False), entry.get("relative", "")
        return cls(entry["path"], entry["state"], entry["size"], entry["sha256"], used_by, followed, relative)

    def to_json(self) -> dict[str, Any]:
        known = asdict(self) | {"used_by": list(self.used_by)}
        # Few have them.
        return {name: value for name, value in known.items() if value or name not in ("followed", "relative")}


@dataclass(slots=True)
class HashBudget:
    """How many bytes are still hashed: a scene can name files without end, in number and in size. Of the rest only the size is recorded."""

    left: int

    def digest(self, opened: BinaryIO, size: int) -> str | None:
        if size > self.left:
            return None
        self.left -= size
        digest = hashlib.sha256()
        # Not further than it is long: somebody may be writing on.
        while size and (chunk := opened.read(min(CHUNK, size))):
            digest.update(chunk)
            size -= len(chunk)
        return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class OpenedFile:
    """A file that is now a worker's scene; `file` is the copy to keep of it."""

    hash: str
    file: Path
    externals: tuple[External, ...]


class Externals:
    """What may be read: files whose nearest root is allowed without asking anybody, and linked files in folders of assets."""

    def __init__(self, roots: FileRoots | None = None) -> None:
        self._roots = roots or FileRoots({})

    def open_file(self, worker: RemoteScene, file: Path, label: str, directory: Path) -> OpenedFile:
        """Open a file whose relative paths start from `directory`, and make them absolute. Raises RebuildFailed."""
        scene_hash = open_scene_file(worker, file, label)
        listed = worker.external_files()
        absolute = {entry["path"]: _absolute(entry["path"], directory) for entry in listed}
        relative = {path: new for path, new in absolute.items() if path != new}
        if relative:
            scene_hash = worker.relocate_files(SCENE_FILE, relative)
        users: dict[str, set[str]] = {}
        for entry in listed:
            users.setdefault(absolute[entry["path"]], set()).add(f"{entry['kind']}/{entry['name']}")
        return OpenedFile(scene_hash, worker.require_process().scratch / SCENE_FILE, self._record_all(users))

    def named_in(self, worker: RemoteScene, directory: Path) -> tuple[External, ...]:
        """What the scene in a worker names, whose relative paths lead from `directory` to what lies below, and stay as they are."""
        users: dict[str, set[str]] = {}
        below: set[str] = set()
        for entry in worker.external_files():
            path = _absolute(entry["path"], directory)
            users.setdefault(path, set()).add(f"{entry['kind']}/{entry['name']}")
            if entry["path"].startswith("//") and Path(path).is_relative_to(directory):
                below.add(path)
        return tuple(
            # As it is recorded: for the tiles of an image, each of them.
            replace(each, relative=os.path.relpath(each.path, directory)) if path in below else each
            for path, found in self._recorded(users)
            for each in found
        )

    def named_since(
        self, worker: RemoteScene, known: Iterable[External], reads: Collection[str]
    ) -> tuple[External, ...]:
        """What the scene in a worker names besides the files that are known; those that a call `reads` are recorded as they are now."""
        seen = {external.path for external in known} - set(reads)
        users: dict[str, set[str]] = {}
        for entry in worker.external_files():
            # Steps leave paths that hold anywhere; those of other machines lead nowhere here, and a window's own are known already.
            is_new = entry["path"].startswith("/") and not entry["path"].startswith("//") and entry["path"] not in seen
            if is_new:
                users.setdefault(entry["path"], set()).add(f"{entry['kind']}/{entry['name']}")
        # A library that somebody named is theirs to follow; one that a file brought is not.
        return tuple(replace(each, followed=each.linked and each.path in reads) for each in self._record_all(users))

    def _record_all(self, users: Mapping[str, Collection[str]]) -> tuple[External, ...]:
        return tuple(each for _, found in self._recorded(users) for each in found)

    def _recorded(self, users: Mapping[str, Collection[str]]) -> Iterator[tuple[str, tuple[External, ...]]]:
        budget = HashBudget(MOST_HASHED)
        for path in sorted(users):
            yield path, tuple(self._record(path, tuple(sorted(users[path])), budget))

    def readable(self, journal: JournalView, arriving: Iterable[External] = ()) -> tuple[ReadableFile, ...]:
        """What workers of this workspace may read besides their scratch, as it is in this moment. `arriving`: not committed yet."""
        commits = journal.naming_files(all_lines=True)
        recorded = (external for commit in commits for external in externals_of_receipt(commit.receipt))
        return self.readable_files((*arriving, *recorded))

    def readable_files(self, externals: Iterable[External]) -> tuple[ReadableFile, ...]:
        """Those of the files that workers may read, as they are in this moment. Of linked files those that a call has named: a scene that
        was taken in names what it likes, and its libraries may name more."""
        readable: dict[Path, ReadableFile] = {}
        for external in externals:
            if external.state == "present" and (external.followed or not external.linked):
                readable |= {each.path: each for each in self._identify(external)}
        return tuple(readable[path] for path in sorted(readable))[:MOST_READABLE]

    def stamps(self, journal: JournalView) -> list[list[str | int]]:
        """The same files, each with what changes when its content does: no hash of a scene has that in it."""
        found = [(each.path, each.path.stat()) for each in self.readable(journal) if each.path.exists()]
        return [[str(path), info.st_size, info.st_mtime_ns] for path, info in found]

    def now(self, recorded: External) -> External:
        """The same file as it is today."""
        # Another size says enough; what was not hashed then need not be now.
        budget = HashBudget(0 if recorded.sha256 is None else recorded.size or 0)
        found = next(self._record(recorded.path, recorded.used_by, budget))
        today = replace(found, followed=recorded.followed, relative=recorded.relative)
        if recorded.size is None or today.size is None:
            return today
        if (today.size, today.sha256) == (recorded.size, recorded.sha256):
            return today
        return replace(today, state="changed")

    def _record(self, name: str, used_by: tuple[str, ...], budget: HashBudget) -> Iterator[External]:
        """The file of a path; where it stands for the tiles of an image, each of them."""
        try:
            if TILES.search(name):
                tiles = sorted(Path(name).parent.glob(TILES.sub("*", Path(name).name)))
            else:
                tiles = ()
            for path in tiles or (Path(name),):
                yield self._record_file(path, used_by, budget)
        except (OSError, ValueError, RuntimeError):
            # Too long, a null byte, a loop of links, no permission: no file that anybody could read.
            yield External(name, "missing", None, None, used_by)

    def _record_file(self, path: Path, used_by: tuple[str, ...], budget: HashBudget) -> External:
        # A link inside the roots may lead out of them.
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
        """The file by which a worker's confinement knows it again; none where nobody may read it, or can."""
        with contextlib.suppress(OSError, RuntimeError, ValueError):
            # A link may lead elsewhere than when it was recorded.
            path = Path(external.path).resolve()
            if self._withheld_state(path, external.used_by) is None:
                with open_file(path) as opened:
                    info = os.fstat(opened.fileno())
                yield ReadableFile(path, info.st_dev, info.st_ino, external.relative)

    def _withheld_state(self, path: Path, used_by: tuple[str, ...]) -> Literal["outside_roots", "withheld"] | None:
        """Why nobody opens a file, as far as its place and name say. A scene names what it likes, a password for a picture."""
        root = self._roots.rule(path)
        if root is not None and root[1] is Verdict.ALLOW:
            top = Path(root[0])
        else:
            top = None
        if top is None and used_by and all(user.startswith(f"{LIBRARIES}/") for user in used_by):
            top = self._roots.asset_folder(path)  # an asset that is linked; it is opened only where a call has named it
        if top is None:
            return "outside_roots"
        hidden = any(part.startswith(".") for part in path.relative_to(top).parts)
        if hidden or self._roots.is_own(path) or not fits_its_users(path, used_by):
            return "withheld"
        return None


def current_externals(journal: JournalView, at: int | None = None) -> tuple[External, ...]:
    """The files that the scene of HEAD, or of the commit `at`, names, as they were recorded last: when it was taken in, and by calls."""
    found: dict[str, External] = {}
    for commit in journal.naming_files(at=at):
        for external in externals_of_receipt(commit.receipt):
            found.setdefault(external.path, external)
        if commit.kind != "operation":
            break
    return tuple(found[path] for path in sorted(found))


def externals_of_receipt(receipt: Mapping[str, Any]) -> tuple[External, ...]:
    return tuple(External.of_json(entry) for entry in receipt.get("externals", ()))


def findings_about(externals: Sequence[External]) -> tuple[Finding, ...]:
    """What a person should know: files that are not there, that may not be read, or that are not followed."""
    return tuple(finding for external in externals for finding in _findings(external))


def _findings(external: External) -> Iterator[Finding]:
    path, users = external.path, ", ".join(external.used_by)
    match external.state:
        case "missing":
            yield Finding(Fault.TARGET_NOT_FOUND, f"{path} is missing ({users})", "", "Put it there, or pack it.")
        case "outside_roots":
            cure = "Work in a directory that holds it, or pack it into the .blend file."
            message = f"{path} is outside the allowed roots and is not read ({users})"
            yield Finding(Fault.POLICY_BLOCKED, message, "", cure)
        case "withheld":
            message = (
                f"{path} is hidden, the workspace's own or not of the kind it is used as, and is not read ({users})"
            )
            yield Finding(Fault.POLICY_BLOCKED, message, "", "Give it a name that says what it is, or pack it.")
        case "not_a_file":
            yield Finding(
                Fault.TARGET_NOT_FOUND, f"{path} is not a file and is not read ({users})", "", "Check the path."
            )
        case "changed":
            message = f"{path} has another content than when it was recorded ({users})"
            if external.followed:
                again = "link it again with file.link or asset.add"
            else:
                again = "adopt the scene again"
            yield Finding(Fault.SCENE_CONFLICT, message, "", f"Put the old content back, or {again}.")
        case "present":
            if external.linked and not external.followed:
                message = f"{path} is linked, and linked files are not opened ({users})"
                yield Finding(Fault.POLICY_BLOCKED, message, "", "Make everything local in the .blend file first.")


def _absolute(path: str, directory: Path) -> str:
    """Blender begins a path that is relative to its file with two slashes; files from Windows have theirs the other way round."""
    if path.startswith("//"):
        path = path[2:].replace("\\", "/")
    # Not resolved: a link that is changed later shall lead where it says then.
    return os.path.normpath(directory / path)
