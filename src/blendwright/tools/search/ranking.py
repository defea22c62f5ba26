"""Ranking of entries for a query by phrases, names and summaries. It is independent of tools.

Words that no entry has count as names of things in a scene and are ignored. Known words for things count little next to
other words: "make the table legs shiny" is about shiny. A rare word counts more than a frequent one, and a complete phrase
more than its words alone.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

# Value of a word by its source.
IN_NAME, IN_SUMMARY, AS_ARGUMENT = 0.8, 0.25, 0.15
# Value of a word of a phrase if the query lacks the phrase's other words.
PART_OF_PHRASE = 0.3
# Additional value of each further word of a complete phrase.
WHOLE_PHRASE = 0.5
# Factor for words for things if the query also has words for actions.
THING = 0.35
VOWELS = "aeiouy"


@dataclass(frozen=True, slots=True)
class Entry:
    name: str
    phrases: tuple[str, ...]
    summary: str
    arguments: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Scored:
    name: str
    score: float


def words_of(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", text.lower().replace("'s ", " "))


@lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """Return a word without its grammatical ending, so that `unwrapping`, `unwrapped` and `unwraps` become `unwrap`."""
    for ending, replacement in (("ies", "y"), ("ing", ""), ("ed", ""), ("es", "e"), ("s", "")):
        base = word.removesuffix(ending)
        if base == word or len(base) < 3 or word.endswith("ss") or not any(letter in VOWELS for letter in base):
            continue
        if ending in ("ing", "ed") and base[-1] == base[-2] and base[-1] not in "lsz":
            base = base[:-1]
        base += replacement
        if len(base) > 3:
            return base.removesuffix("e")
        return base
    if len(word) > 3:
        return word.removesuffix("e")
    return word


def stems(text: str) -> list[str]:
    return [stem(word) for word in words_of(text)]


class Ranking:
    """An index of entries that ranks them for queries."""

    def __init__(self, entries: Iterable[Entry], small_words: frozenset[str], things: frozenset[str]) -> None:
        self._small = frozenset(map(stem, small_words)) | small_words
        self._things = frozenset(map(stem, things))
        self._indexed = [_Indexed(entry, self._small) for entry in entries]
        counts: Counter[str] = Counter()
        for entry in self._indexed:
            counts.update(entry.known)
        total = len(self._indexed)
        self._weights = {word: math.log(1.0 + total / count) for word, count in counts.items()}

    def ranked(self, query: str) -> list[Scored]:
        """Return the entries that match a part of the query, the best first, then by name."""
        words = self._meaningful(query)
        has_action = any(word not in self._things for word in words)
        weights: dict[str, float] = {}
        for word in words:
            weights[word] = self._weights[word]
            if has_action and word in self._things:
                weights[word] *= THING

        query_stems = frozenset(stems(query))
        matches: list[Scored] = []
        for entry in self._indexed:
            score = _score(entry, weights, query_stems)
            if score > 0.0:
                matches.append(Scored(entry.name, score))
        return sorted(matches, key=lambda match: (-match.score, match.name))

    def _meaningful(self, query: str) -> list[str]:
        words = dict.fromkeys(stems(query))
        meaningful = [word for word in words if word in self._weights and word not in self._small]
        # If a query consists only of small words, use them.
        return meaningful or [word for word in words if word in self._weights]


def _score(entry: _Indexed, weights: Mapping[str, float], query_stems: frozenset[str]) -> float:
    values = {word: entry.values.get(word, 0.0) for word in weights}
    for phrase in entry.phrases:
        if phrase <= query_stems:
            # Small words have no weight, but they are needed to complete a phrase such as "on top".
            worth = 1.0 + WHOLE_PHRASE * (len(phrase) - 1)
            for word in phrase:
                if word in values:
                    values[word] = max(values[word], worth)
    return sum(weights[word] * value for word, value in values.items())


class _Indexed:
    """An entry with the value of each of its words."""

    def __init__(self, entry: Entry, small: frozenset[str]) -> None:
        self.name = entry.name
        self.phrases = [frozenset(stems(phrase)) for phrase in entry.phrases]
        self.values: dict[str, float] = {}
        for word, value in self._valued(entry):
            if word not in small:
                self.values[word] = max(self.values.get(word, 0.0), value)
        self.known = set(self.values)
        for phrase in self.phrases:
            self.known |= phrase

    def _valued(self, entry: Entry) -> Iterator[tuple[str, float]]:
        """Yield each word of an entry with its value; a word can occur several times."""
        for phrase in self.phrases:
            value = 1.0
            if len(phrase) > 1:
                value = PART_OF_PHRASE
            for word in phrase:
                yield word, value
        # Only names of tools have a dot; the names of missing topics do not count.
        if "." in entry.name:
            for word in stems(entry.name.replace("_", " ")):
                yield word, IN_NAME
        for word in stems(entry.summary):
            yield word, IN_SUMMARY
        for argument in entry.arguments:
            for word in stems(argument.replace("_", " ")):
                yield word, AS_ARGUMENT
