"""Origin and licence of an asset: from a JSON file next to it, from a glTF file's own metadata, or from a licence text.

Reads files only. The caller has made sure that they may be read. Their content is untrusted data; texts are shortened
so that receipts stay small.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

# A JSON file with the asset's name describes the asset; this file describes the whole folder.
FOLDER_FILE = "asset.json"
LICENSES = ("LICENSE.txt", "LICENSE", "LICENCE.txt", "license.txt", "License.txt", "licence.txt", "COPYING")
TEXTS = ("name", "description", "author", "license", "source", "copyright")
# Limits: size of a JSON file, length of a text, number of tags, length of a tag.
MAX_JSON_BYTES, MAX_TEXT_CHARACTERS, MAX_TAGS, MAX_TAG_CHARACTERS = 100_000, 500, 32, 64
# Magic numbers of a binary glTF file and its JSON chunk, and the largest JSON chunk in bytes.
GLB, JSON_CHUNK, MAX_GLB_JSON_BYTES = b"glTF", 0x4E4F534A, 16 << 20


@dataclass(frozen=True, slots=True)
class Origin:
    """The stated origin of an asset; unknown texts are empty. `source` is an address or a title."""

    name: str = ""
    description: str = ""
    author: str = ""
    license: str = ""
    source: str = ""
    copyright: str = ""
    tags: tuple[str, ...] = ()

    def otherwise(self, other: Origin) -> Origin:
        """Return this origin, with its empty texts filled from `other`."""
        texts = {name: getattr(self, name) or getattr(other, name) for name in TEXTS}
        return replace(self, **texts, tags=self.tags or other.tags)


def companions(asset: Path) -> list[Path]:
    """Return the paths of files that may describe an asset, most specific first; for a folder, files in that folder."""
    if asset.is_dir():
        folder = asset
        specific: list[Path] = []
    else:
        folder = asset.parent
        specific = [asset.with_suffix(".json"), asset.with_name(asset.name + ".json")]
    return [*specific, folder / FOLDER_FILE, *(folder / name for name in LICENSES)]


def read_origin(asset: Path, readable: Any = Path.is_file) -> Origin:
    """Return the origin of an asset from its companion files and its embedded metadata; more specific files take
    precedence.

    `readable` decides for each companion file whether it is read.
    """
    origin = Origin()
    for file in companions(asset):
        if not readable(file):
            continue
        if file.suffix == ".json":
            origin = origin.otherwise(_from_json(file))
        else:
            origin = origin.otherwise(Origin(license=_first_line(file)))
    if asset.suffix.lower() == ".glb":
        return origin.otherwise(_from_glb(asset))
    return origin


def from_words(document: Mapping[str, Any]) -> Origin:
    """Return the origin in an untrusted JSON document. Ignore values that are not strings, and shorten long texts."""

    def text(*names: str) -> str:
        for name in names:
            value = document.get(name)
            if isinstance(value, str):
                return " ".join(value.split())[:MAX_TEXT_CHARACTERS]
        return ""

    tags: list[Any] = []
    if isinstance(document.get("tags"), list):
        tags = cast("list[Any]", document["tags"])[:MAX_TAGS]
    names = [tag for tag in tags if isinstance(tag, str) and tag.strip()]
    return Origin(
        name=text("name", "title"),
        description=text("description"),
        author=text("author", "artist"),
        license=text("license", "licence"),
        source=text("source", "url"),
        copyright=text("copyright"),
        tags=tuple(" ".join(name.split())[:MAX_TAG_CHARACTERS] for name in names),
    )


def _from_json(file: Path) -> Origin:
    try:
        if file.stat().st_size > MAX_JSON_BYTES:
            return Origin()
        document = json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError):
        return Origin()
    if isinstance(document, dict):
        return from_words(cast("dict[str, Any]", document))
    return Origin()


def _first_line(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            text = opened.read(4096).decode("utf-8", "replace")
    except OSError:
        return ""
    return next((" ".join(line.split())[:MAX_TEXT_CHARACTERS] for line in text.splitlines() if line.strip()), "")


def _from_glb(file: Path) -> Origin:
    """Return the origin in the `asset` object of a binary glTF file: its copyright and extras."""
    try:
        with file.open("rb") as opened:
            magic, _, _, length, kind = struct.unpack("<4sIIII", opened.read(20))
            if magic != GLB or kind != JSON_CHUNK or length > MAX_GLB_JSON_BYTES:
                return Origin()
            document = json.loads(opened.read(length))
        about: Any = document.get("asset", {})
        extras: Any = about.get("extras")
        words: dict[str, Any] = {}
        if isinstance(extras, dict):
            words = {**cast("dict[str, Any]", extras)}
        words["copyright"] = about.get("copyright")
    except (OSError, ValueError, RecursionError, struct.error, AttributeError):
        return Origin()
    return from_words(words)
