"""Where an asset comes from and what one may do with it: from a file beside it, from a glTF file's own words, from a licence text.

Reads files only; whoever calls has made sure that they may be read. What is written there is data, cut to a length that receipts can
bear."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

# Beside a file: its own name with this ending, or this file for the whole folder.
FOLDER_FILE = "asset.json"
LICENSES = ("LICENSE.txt", "LICENSE", "LICENCE.txt", "license.txt", "License.txt", "licence.txt", "COPYING")
TEXTS = ("name", "description", "author", "license", "source", "copyright")
MOST_BYTES, MOST_TEXT, MOST_TAGS = 100_000, 500, 32
GLB, JSON_CHUNK, MOST_GLB_JSON = b"glTF", 0x4E4F534A, 16 << 20


@dataclass(frozen=True, slots=True)
class Origin:
    """Empty where nobody said. `source` is where it was got from, an address or a title."""

    name: str = ""
    description: str = ""
    author: str = ""
    license: str = ""
    source: str = ""
    copyright: str = ""
    tags: tuple[str, ...] = ()

    def otherwise(self, other: Origin) -> Origin:
        """This one, and of the other what this one leaves out."""
        told = {name: getattr(self, name) or getattr(other, name) for name in TEXTS}
        return replace(self, **told, tags=self.tags or other.tags)


def companions(asset: Path) -> list[Path]:
    """The files that may say something about an asset; a folder is told about by what is in it."""
    if asset.is_dir():
        folder = asset
    else:
        folder = asset.parent
    if asset.is_dir():
        own = []
    else:
        own = [asset.with_suffix(".json"), asset.with_name(asset.name + ".json")]
    return [*own, folder / FOLDER_FILE, *(folder / name for name in LICENSES)]


def read_origin(asset: Path, readable: Any = Path.is_file) -> Origin:
    """All that is said about an asset, the nearest word first. `readable` decides about each file beside it."""
    found = Origin()
    for file in companions(asset):
        if not readable(file):
            continue
        found = found.otherwise(_from_json(file) if file.suffix == ".json" else Origin(license=_first_line(file)))
    if asset.suffix.lower() == ".glb":
        return found.otherwise(_from_glb(asset))
    return found


def from_words(told: Mapping[str, Any]) -> Origin:
    """Of a document that somebody wrote: texts that are texts, and of each as much as is worth keeping."""

    def text(*names: str) -> str:
        return next(
            (" ".join(value.split())[:MOST_TEXT] for name in names if isinstance(value := told.get(name), str)), ""
        )

    if isinstance(told.get("tags"), list):
        tags = cast("list[Any]", told["tags"])
    else:
        tags = []
    return Origin(
        name=text("name", "title"),
        description=text("description"),
        author=text("author", "artist"),
        license=text("license", "licence"),
        source=text("source", "url"),
        copyright=text("copyright"),
        tags=tuple(" ".join(tag.split())[:64] for tag in tags[:MOST_TAGS] if isinstance(tag, str) and tag.strip()),
    )


def _from_json(file: Path) -> Origin:
    try:
        if file.stat().st_size <= MOST_BYTES:
            data = file.read_bytes()
        else:
            data = b""
        told = json.loads(data)
    except (OSError, ValueError, RecursionError):
        return Origin()
    if isinstance(told, dict):
        return from_words(cast("dict[str, Any]", told))
    return Origin()


def _first_line(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            text = opened.read(4096).decode("utf-8", "replace")
    except OSError:
        return ""
    return next((" ".join(line.split())[:MOST_TEXT] for line in text.splitlines() if line.strip()), "")


def _from_glb(file: Path) -> Origin:
    """The `asset` of a binary glTF: its copyright, and what shops write into its extras."""
    try:
        with file.open("rb") as opened:
            magic, _, _, length, kind = struct.unpack("<4sIIII", opened.read(20))
            if magic != GLB or kind != JSON_CHUNK or length > MOST_GLB_JSON:
                return Origin()
            told = json.loads(opened.read(length))
        about: Any = told.get("asset", {})
        extras: Any = about.get("extras")
        words: dict[str, Any]
        if isinstance(extras, dict):
            words = {**cast("dict[str, Any]", extras)}
        else:
            words = {}
        words["copyright"] = about.get("copyright")
    except (OSError, ValueError, RecursionError, struct.error, AttributeError):
        return Origin()
    return from_words(words)
