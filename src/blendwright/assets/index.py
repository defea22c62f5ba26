"""What is in the folders of assets. Files are looked into once: the index in the user's cache knows each by its time and its size.

Links are not followed, and what starts with a dot, or has a name that is no text, is not looked at. A file that cannot be looked into is
listed by its name."""

from __future__ import annotations

import hashlib
import io
import os
import stat
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import orjson

from blendwright.assets.entries import AssetEntry
from blendwright.blendfile.assets import BlendAsset, read_assets
from blendwright.tools.asset.origin import Origin, companions, read_origin
from blendwright.tools.material.texture_names import guess_all
from blendwright.tools.registry_cache import user_directory

FORMAT = 1
MODELS = frozenset({".glb", ".gltf", ".obj", ".fbx", ".usd", ".usda", ".usdc", ".stl", ".ply"})
PICTURES = frozenset({".png", ".jpg", ".jpeg", ".exr", ".hdr", ".tif", ".tiff", ".webp", ".tga", ".bmp"})
SHOWN = (".png", ".jpg", ".jpeg", ".webp")
CATALOGS = "blender_assets.cats.txt"
MOST_FILES, DEEPEST = 50_000, 16
PREVIEW_SIDE = 128
MOST_PICTURE_BYTES, MOST_PICTURE_PIXELS = 64 << 20, 8192 * 8192
# Two maps of a material make a folder of textures; one alone is a picture.
FEWEST_MAPS = 2


@dataclass(frozen=True, slots=True)
class AssetLibraries:
    """The folders with assets by their names, and where what is known of them is kept, None for nowhere."""

    directories: Mapping[str, Path]
    cache: Path | None

    @classmethod
    def of(cls, directories: Mapping[str, Path]) -> AssetLibraries:
        home = user_directory()
        return cls(directories, None if home is None else home / "assets")

    def holds(self, path: Path) -> bool:
        """Whether a path without links lies in one of them."""
        return any(path.is_relative_to(directory) for directory in self.directories.values())

    def place(self, asset: str) -> Path | None:
        """The path of an asset as `asset.search` names it; None for what is no such name. It may lead anywhere: whoever uses it asks."""
        library, _, rest = asset.partition("/")
        if rest and library in self.directories:
            return self.directories[library] / rest
        return None

    def entries(self) -> list[AssetEntry]:
        """Every asset there is now."""
        return [
            entry
            for name, directory in sorted(self.directories.items())
            for entry in _Library(name, directory, self.cache).entries()
        ]

    def preview(self, entry: AssetEntry) -> bytes | None:
        """The picture of an asset, as PNG."""
        if not entry.preview or self.cache is None:
            return None
        try:
            return (self.cache / "previews" / Path(entry.preview).name).read_bytes()
        except OSError:
            return None


class _Library:
    def __init__(self, name: str, directory: Path, cache: Path | None) -> None:
        self._name = name
        self._directory = directory
        self._cache = cache
        self._known: dict[str, Any] = {}
        self._seen: dict[str, Any] = {}

    def entries(self) -> list[AssetEntry]:
        file = None
        if self._cache is not None:
            stem = hashlib.sha256(repr((self._name, str(self._directory))).encode()).hexdigest()[:32]
            file = self._cache / f"{stem}.json"
            self._known = _read(file)
        catalogs = dict(self._catalogs())
        found: list[AssetEntry] = []
        for asset, stamp in self._assets():
            key = asset.relative_to(self._directory).as_posix() or "."
            known: Any = self._known.get(key)
            if known is None or known["stamp"] != stamp:
                known = {"stamp": stamp, "entries": [entry.to_json() for entry in self._look_into(asset, key)]}
            self._seen[key] = known
            found += (AssetEntry.from_json(each) for each in known["entries"])
        if file is not None and self._seen != self._known:
            _write(file, {"format": FORMAT, "files": self._seen})
        return [replace(each, catalog=catalogs.get(each.catalog, "")) for each in found]

    def _assets(self) -> Iterator[tuple[Path, list[int]]]:
        """Files and folders that are assets, each with what changes when it does: its own time and size, and those of what tells of it."""
        count = 0
        for folder, names, files in os.walk(self._directory, followlinks=False):
            place = Path(folder)
            names[:] = sorted(filter(_is_listed, names))
            if len(place.relative_to(self._directory).parts) >= DEEPEST:
                names.clear()
            plain = sorted(filter(_is_listed, files))
            count += len(plain)
            if count > MOST_FILES:
                return
            pictures = [name for name in plain if Path(name).suffix.lower() in PICTURES]
            if len(pictures) >= FEWEST_MAPS and len(guess_all(pictures, {})[0]) >= FEWEST_MAPS:
                yield place, _stamp(place, *(place / name for name in pictures))
            for name in plain:
                if Path(name).suffix.lower() in MODELS | {".blend"} and _is_plain(place / name):
                    yield place / name, _stamp(place / name)

    def _look_into(self, asset: Path, key: str) -> Iterator[AssetEntry]:
        origin = read_origin(asset, _is_plain)
        named = f"{self._name}/{key}"
        if asset.is_dir():
            pictures = [each.name for each in sorted(asset.iterdir()) if each.suffix.lower() in PICTURES]
            guesses = guess_all(pictures, {})[0]
            color = guesses.get("base_color") or next(iter(guesses.values()))
            picture = _shown_beside(asset) or asset / color[0].file
            yield _entry(named, "textures", asset.name, origin, self._kept(_thumbnail(picture)))
            return
        if asset.suffix.lower() != ".blend":
            yield _entry(named, "model", asset.stem, origin, self._kept(_thumbnail(_shown_beside(asset))))
            return
        try:
            inside = read_assets(asset)
        except (ValueError, OSError) as error:
            yield _entry(
                named, "blend", asset.stem, origin.otherwise(Origin(description=f"Not looked into: {error}.")), ""
            )
            return
        for each in inside:
            own = Origin("", each.description, each.author, each.license, "", each.copyright, each.tags)
            if each.preview is not None:
                picture = _png(each)
            else:
                picture = _thumbnail(_shown_beside(asset))
            told = _entry(named, each.kind, each.name, own.otherwise(replace(origin, name="")), self._kept(picture))
            yield replace(told, name=each.name, catalog=each.catalog)

    def _catalogs(self) -> Iterator[tuple[str, str]]:
        """Ids of catalogues and their paths, from the file that Blender keeps in the folder of a library."""
        file = self._directory / CATALOGS
        try:
            if _is_plain(file):
                lines = file.read_text("utf-8", "replace").splitlines()
            else:
                lines = []
        except OSError:
            return
        for line in lines:
            parts = line.split(":")
            if len(parts) >= 2 and not line.startswith(("#", "VERSION")):
                yield parts[0].strip(), parts[1].strip()

    def _kept(self, picture: bytes | None) -> str:
        """The name under which a picture is kept in the cache."""
        if picture is None or self._cache is None:
            return ""
        name = f"{hashlib.sha256(picture).hexdigest()[:40]}.png"
        target = self._cache / "previews" / name
        try:
            if not target.exists():
                target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                whole = target.with_suffix(f".{os.getpid()}")
                whole.write_bytes(picture)
                whole.replace(target)
        except OSError:
            return ""
        return name


def _entry(asset: str, kind: str, name: str, origin: Origin, preview: str) -> AssetEntry:
    return AssetEntry(
        asset, kind, origin.name or name, origin.description, origin.author, origin.license, origin.source,
        origin.copyright, "", origin.tags, preview,
    )  # fmt: skip


def _is_listed(name: str) -> bool:
    """Whether a name is shown: it is not hidden, and can be written into a document."""
    return not name.startswith(".") and name.isprintable()


def _is_plain(file: Path) -> bool:
    try:
        return stat.S_ISREG(file.lstat().st_mode)
    except OSError:
        return False


def _stamp(asset: Path, *inside: Path) -> list[int]:
    stamp: list[int] = []
    for file in (asset, *inside, *companions(asset), *_pictures_beside(asset)):
        try:
            found = file.lstat()
            stamp += (found.st_mtime_ns, found.st_size)
        except OSError:
            stamp += (0, 0)
    return stamp


def _pictures_beside(asset: Path) -> list[Path]:
    """Where a picture of an asset would be: the same name with another ending, or `preview` in its folder."""
    if asset.is_dir():
        return [asset / f"preview{ending}" for ending in SHOWN]
    return [asset.with_suffix(ending) for ending in SHOWN]


def _shown_beside(asset: Path) -> Path | None:
    return next((file for file in _pictures_beside(asset) if _is_plain(file)), None)


def _thumbnail(file: Path | None) -> bytes | None:
    """A picture file as a small PNG; None for what cannot be read here."""
    if file is None or not _is_plain(file) or file.suffix.lower() not in SHOWN:
        return None
    from PIL import Image  # loaded only where an asset is looked into

    try:
        if file.stat().st_size > MOST_PICTURE_BYTES:
            return None
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", Image.DecompressionBombWarning
            )  # looked at below: a JPEG is read in a small size
            # By what it is, not by its name: for some forms Pillow starts another program, and the core is not confined.
            opened = Image.open(file, formats=("PNG", "JPEG", "WEBP"))
        with opened:
            opened.draft("RGB", (PREVIEW_SIDE * 2, PREVIEW_SIDE * 2))
            if opened.width * opened.height > MOST_PICTURE_PIXELS:
                return None
            opened.thumbnail((PREVIEW_SIDE, PREVIEW_SIDE))
            written = io.BytesIO()
            opened.convert("RGBA").save(written, "PNG")
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return None
    return written.getvalue()


def _png(asset: BlendAsset) -> bytes | None:
    from PIL import Image

    if asset.preview is None:
        return None
    width, height, pixels = asset.preview
    picture = Image.frombytes("RGBA", (width, height), pixels)
    picture.thumbnail((PREVIEW_SIDE, PREVIEW_SIDE))
    written = io.BytesIO()
    picture.save(written, "PNG")
    return written.getvalue()


def _read(file: Path) -> dict[str, Any]:
    """What was found before; nothing where that is gone or of another format. It saves time and decides nothing."""
    try:
        told = orjson.loads(file.read_bytes())
        if told["format"] == FORMAT:
            return told["files"]
        return {}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def _write(file: Path, document: Any) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        whole = file.with_suffix(f".{os.getpid()}")
        whole.write_bytes(orjson.dumps(document))
        whole.replace(file)
    except OSError:
        return
