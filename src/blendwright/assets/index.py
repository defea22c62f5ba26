"""An index of the assets in asset folders. The user's cache keeps each file's entries together with the file's time and size, so an
unchanged file is read only once.

The index does not follow symbolic links. It skips names that start with a dot or contain unprintable characters. An unreadable file
appears under its file name."""

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
# Suffixes of picture files that can become a preview.
PREVIEW_SUFFIXES = (".png", ".jpg", ".jpeg", ".webp")
CATALOGS = "blender_assets.cats.txt"
# Limits of one library: files, and levels of folders below it.
MAX_FILES, MAX_FOLDER_DEPTH = 50_000, 16
# The longest side of a preview, in pixels.
PREVIEW_SIDE = 128
# Larger picture files get no preview.
MAX_PICTURE_BYTES, MAX_PICTURE_PIXELS = 64 << 20, 8192 * 8192
# A folder with at least this many maps of one material is an asset of kind `textures`.
MIN_TEXTURE_MAPS = 2


@dataclass(frozen=True, slots=True)
class AssetLibraries:
    """The asset folders by library name, and the folder of the cache (None when there is no cache)."""

    directories: Mapping[str, Path]
    cache: Path | None

    @classmethod
    def of(cls, directories: Mapping[str, Path]) -> AssetLibraries:
        home = user_directory()
        cache = None
        if home is not None:
            cache = home / "assets"
        return cls(directories, cache)

    def holds(self, path: Path) -> bool:
        """Return whether a path lies in one of the folders. The caller resolves symbolic links first."""
        return any(path.is_relative_to(directory) for directory in self.directories.values())

    def place(self, asset: str) -> Path | None:
        """Return the path of an asset as `asset.search` names it, or None for an unknown library or an empty path.

        The path may lead outside the library (`..`); the caller checks it with `holds`."""
        library, _, relative_path = asset.partition("/")
        if relative_path and library in self.directories:
            return self.directories[library] / relative_path
        return None

    def entries(self) -> list[AssetEntry]:
        """Return every asset of every library, in the order of the library names."""
        entries: list[AssetEntry] = []
        for name, directory in sorted(self.directories.items()):
            entries += _Library(name, directory, self.cache).entries()
        return entries

    def preview(self, entry: AssetEntry) -> bytes | None:
        """Return the preview of an asset as PNG, or None without one."""
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
        self._cached_files: dict[str, Any] = {}
        self._current_files: dict[str, Any] = {}

    def entries(self) -> list[AssetEntry]:
        """Return the assets of this library and update its cache file."""
        file = None
        if self._cache is not None:
            stem = hashlib.sha256(repr((self._name, str(self._directory))).encode()).hexdigest()[:32]
            file = self._cache / f"{stem}.json"
            self._cached_files = _read(file)

        catalogs = dict(self._catalogs())
        entries: list[AssetEntry] = []
        for asset, stamp in self._assets():
            key = asset.relative_to(self._directory).as_posix() or "."
            record: Any = self._cached_files.get(key)
            if record is None or record["stamp"] != stamp:
                record = {"stamp": stamp, "entries": [entry.to_json() for entry in self._inspect(asset, key)]}
            self._current_files[key] = record
            entries += map(AssetEntry.from_json, record["entries"])

        if file is not None and self._current_files != self._cached_files:
            _write(file, {"format": FORMAT, "files": self._current_files})
        return [replace(entry, catalog=catalogs.get(entry.catalog, "")) for entry in entries]

    def _assets(self) -> Iterator[tuple[Path, list[int]]]:
        """Yield the path and the stamp of each asset. The stamp holds the times and sizes of the asset and of the files that describe it,
        so it changes when one of them changes."""
        file_count = 0
        for folder_name, subfolder_names, file_names in os.walk(self._directory, followlinks=False):
            folder = Path(folder_name)
            subfolder_names[:] = sorted(filter(_is_listed, subfolder_names))
            if len(folder.relative_to(self._directory).parts) >= MAX_FOLDER_DEPTH:
                subfolder_names.clear()
            listed_names = sorted(filter(_is_listed, file_names))
            file_count += len(listed_names)
            if file_count > MAX_FILES:
                return

            pictures = [name for name in listed_names if Path(name).suffix.lower() in PICTURES]
            if len(pictures) >= MIN_TEXTURE_MAPS and len(guess_all(pictures, {})[0]) >= MIN_TEXTURE_MAPS:
                yield folder, _stamp(folder, *(folder / name for name in pictures))
            for name in listed_names:
                if Path(name).suffix.lower() in MODELS | {".blend"} and _is_plain(folder / name):
                    yield folder / name, _stamp(folder / name)

    def _inspect(self, asset: Path, key: str) -> Iterator[AssetEntry]:
        """Read one asset and yield its entries: one for each marked datablock of a .blend file, otherwise a single one."""
        origin = read_origin(asset, _is_plain)
        asset_name = f"{self._name}/{key}"
        if asset.is_dir():
            pictures = [file.name for file in sorted(asset.iterdir()) if file.suffix.lower() in PICTURES]
            guesses = guess_all(pictures, {})[0]
            color = guesses.get("base_color") or next(iter(guesses.values()))
            picture = _preview_file(asset) or asset / color[0].file
            yield _entry(asset_name, "textures", asset.name, origin, self._store_preview(_thumbnail(picture)))
            return

        if asset.suffix.lower() != ".blend":
            preview = self._store_preview(_thumbnail(_preview_file(asset)))
            yield _entry(asset_name, "model", asset.stem, origin, preview)
            return
        try:
            datablocks = read_assets(asset)
        except (ValueError, OSError) as error:
            unreadable = Origin(description=f"This file cannot be read: {error}.")
            yield _entry(asset_name, "blend", asset.stem, origin.otherwise(unreadable), "")
            return

        for block in datablocks:
            block_origin = Origin("", block.description, block.author, block.license, "", block.copyright, block.tags)
            if block.preview is not None:
                picture = _png(block)
            else:
                picture = _thumbnail(_preview_file(asset))
            combined_origin = block_origin.otherwise(replace(origin, name=""))
            entry = _entry(asset_name, block.kind, block.name, combined_origin, self._store_preview(picture))
            yield replace(entry, name=block.name, catalog=block.catalog)

    def _catalogs(self) -> Iterator[tuple[str, str]]:
        """Yield ids and paths of catalogues from the file that Blender keeps in the folder of a library."""
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

    def _store_preview(self, picture: bytes | None) -> str:
        """Store a PNG in the cache and return its file name, or an empty string when that fails or there is no picture."""
        if picture is None or self._cache is None:
            return ""
        name = f"{hashlib.sha256(picture).hexdigest()[:40]}.png"
        target = self._cache / "previews" / name
        try:
            if not target.exists():
                target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                temporary = target.with_suffix(f".{os.getpid()}")
                temporary.write_bytes(picture)
                temporary.replace(target)
        except OSError:
            return ""
        return name


def _entry(asset: str, kind: str, name: str, origin: Origin, preview: str) -> AssetEntry:
    return AssetEntry(
        asset, kind, origin.name or name, origin.description, origin.author, origin.license, origin.source,
        origin.copyright, "", origin.tags, preview,
    )  # fmt: skip


def _is_listed(name: str) -> bool:
    """Return whether the index lists a file name: it is not hidden, and a JSON document can contain it."""
    return not name.startswith(".") and name.isprintable()


def _is_plain(file: Path) -> bool:
    try:
        return stat.S_ISREG(file.lstat().st_mode)
    except OSError:
        return False


def _stamp(asset: Path, *parts: Path) -> list[int]:
    """Return time and size of an asset, its parts, its description files and its pictures; zeros for missing files."""
    stamp: list[int] = []
    for file in (asset, *parts, *companions(asset), *_preview_candidates(asset)):
        try:
            status = file.lstat()
            stamp += (status.st_mtime_ns, status.st_size)
        except OSError:
            stamp += (0, 0)
    return stamp


def _preview_candidates(asset: Path) -> list[Path]:
    """Return the paths where an asset's picture may be: its name with a picture suffix, or `preview` in its folder."""
    if asset.is_dir():
        return [asset / f"preview{suffix}" for suffix in PREVIEW_SUFFIXES]
    return [asset.with_suffix(suffix) for suffix in PREVIEW_SUFFIXES]


def _preview_file(asset: Path) -> Path | None:
    return next(filter(_is_plain, _preview_candidates(asset)), None)


def _thumbnail(file: Path | None) -> bytes | None:
    """Return a picture file as a small PNG, or None when it is missing, too large or unreadable."""
    if file is None or not _is_plain(file) or file.suffix.lower() not in PREVIEW_SUFFIXES:
        return None
    from PIL import Image  # imported here, because most starts never inspect an asset

    try:
        if file.stat().st_size > MAX_PICTURE_BYTES:
            return None
        with warnings.catch_warnings():
            # The code below checks the size; for a JPEG, `draft` makes Pillow decode a smaller version.
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            # Pillow starts another program for some formats, and this process is not confined. Therefore the content decides, and
            # not the file name.
            opened = Image.open(file, formats=("PNG", "JPEG", "WEBP"))
        with opened:
            opened.draft("RGB", (PREVIEW_SIDE * 2, PREVIEW_SIDE * 2))
            if opened.width * opened.height > MAX_PICTURE_PIXELS:
                return None
            opened.thumbnail((PREVIEW_SIDE, PREVIEW_SIDE))
            output = io.BytesIO()
            opened.convert("RGBA").save(output, "PNG")
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return None
    return output.getvalue()


def _png(asset: BlendAsset) -> bytes | None:
    from PIL import Image

    if asset.preview is None:
        return None
    width, height, pixels = asset.preview
    picture = Image.frombytes("RGBA", (width, height), pixels)
    picture.thumbnail((PREVIEW_SIDE, PREVIEW_SIDE))
    output = io.BytesIO()
    picture.save(output, "PNG")
    return output.getvalue()


def _read(file: Path) -> dict[str, Any]:
    """Return the files of a cache file, or nothing when it is missing, broken or of another format. Correctness never depends on it."""
    try:
        document = orjson.loads(file.read_bytes())
        if document["format"] == FORMAT:
            return document["files"]
        return {}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def _write(file: Path, document: Any) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        temporary = file.with_suffix(f".{os.getpid()}")
        temporary.write_bytes(orjson.dumps(document))
        temporary.replace(file)
    except OSError:
        return
