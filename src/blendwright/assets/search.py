"""Which assets fit some words best. The same words give the same list."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from blendwright.assets.entries import AssetEntry

# What a word is worth where it is found, as a whole and as a part.
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
    """Those in which every word is found somewhere, the best first; all of them without words."""
    wanted, needed = words_of(words), {tag.casefold() for tag in tags}
    found: list[tuple[int, AssetEntry]] = []
    for entry in entries:
        if kind is not None and entry.kind != kind:
            continue
        if not needed <= {tag.casefold() for tag in entry.tags}:
            continue
        if license is not None and license.casefold() not in entry.license.casefold():
            continue
        scores = [_score(entry, word) for word in wanted]
        if all(scores):
            found.append((sum(scores), entry))
    found.sort(key=lambda each: (-each[0], each[1].asset, each[1].kind, each[1].name))
    return [entry for _, entry in found]


def _score(entry: AssetEntry, word: str) -> int:
    if len(word) > 3 and word.endswith("s"):
        stem = word[:-1]
    else:
        stem = word
    total = 0
    for field, whole, part in WEIGHTS:
        if field == "tags":
            text = " ".join(entry.tags)
        else:
            text = str(getattr(entry, field))
        there = words_of(text.replace("_", " "))
        if word in there or stem in there:
            total += whole
        elif any(stem in each for each in there):
            total += part
    return total
