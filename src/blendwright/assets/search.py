"""Ranking of assets by words. Equal words and equal assets give an equal list."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from blendwright.assets.entries import AssetEntry

# Each field with its points for a word that equals one of the field's words, and for a word that is part of one.
WEIGHTS = (
    ("name", 12, 6),
    ("tags", 10, 4),
    ("catalog", 5, 3),
    ("asset", 4, 2),
    ("description", 3, 1),
    ("author", 3, 1),
)


def words_of(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def search(
    entries: Iterable[AssetEntry],
    words: str,
    *,
    kind: str | None = None,
    tags: Sequence[str] = (),
    license: str | None = None,
) -> list[AssetEntry]:
    """Return the assets that contain every word, best match first. Without words, return all assets that pass the filters."""
    wanted_words, required_tags = words_of(words), {tag.casefold() for tag in tags}
    matches: list[tuple[int, AssetEntry]] = []
    for entry in entries:
        if kind is not None and entry.kind != kind:
            continue
        if required_tags and not required_tags <= set(map(str.casefold, entry.tags)):
            continue
        if license is not None and license.casefold() not in entry.license.casefold():
            continue
        scores = [_score(entry, word) for word in wanted_words]
        if all(scores):
            matches.append((sum(scores), entry))
    matches.sort(key=lambda match: (-match[0], match[1].asset, match[1].kind, match[1].name))
    return [entry for _, entry in matches]


def _score(entry: AssetEntry, word: str) -> int:
    """Return the points of a word, 0 if no field contains it. A trailing `s` of a longer word is optional."""
    if len(word) > 3 and word.endswith("s"):
        stem = word[:-1]
    else:
        stem = word
    total = 0
    for field, exact_points, partial_points in WEIGHTS:
        if field == "tags":
            text = " ".join(entry.tags)
        else:
            text = str(getattr(entry, field))
        field_words = words_of(text.replace("_", " "))
        if word in field_words or stem in field_words:
            total += exact_points
        elif any(stem in field_word for field_word in field_words):
            total += partial_points
    return total
