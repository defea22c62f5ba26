"""Ranking entries for a query, by phrases, names and summaries. Knows nothing of tools.

Words that no entry has are taken for names of things in a scene, and count neither way; known words for things count little
beside others: "make the table legs shiny" is about shiny. Of the others a rare one says more than a frequent one, and a phrase more
than its words by themselves.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

# What a word counts for by where it stands.
IN_NAME, IN_SUMMARY, AS_ARGUMENT = 0.8, 0.25, 0.15
# A word of a phrase whose other words the query does not have.
PART_OF_PHRASE = 0.3
# How much more each further word of a whole phrase says.
WHOLE_PHRASE = 0.5
# What a thing counts for beside a word that says what is to be done.
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
    """A word without what its grammar adds, so that `unwrapping`, `unwrapped` and `unwraps` are `unwrap`."""
    for ending, instead in (("ies", "y"), ("ing", ""), ("ed", ""), ("es", "e"), ("s", "")):
        rest = word.removesuffix(ending)
        if rest == word or len(rest) < 3 or word.endswith("ss") or not any(letter in VOWELS for letter in rest):
            continue
        if ending in ("ing", "ed") and rest[-1] == rest[-2] and rest[-1] not in "lsz":
            rest = rest[:-1]
        if len(rest + instead) > 3:
            return (rest + instead).removesuffix("e")
        return rest + instead
    if len(word) > 3:
        return word.removesuffix("e")
    return word


def stems(text: str) -> list[str]:
    return [stem(word) for word in words_of(text)]


class Ranking:
    def __init__(self, entries: Iterable[Entry], small_words: frozenset[str], things: frozenset[str]) -> None:
        self._small = frozenset(map(stem, small_words)) | small_words
        self._things = frozenset(map(stem, things))
        self._indexed = [_Indexed(entry, self._small) for entry in entries]
        counts = Counter(word for entry in self._indexed for word in entry.known)
        total = len(self._indexed)
        self._weights = {word: math.log(1.0 + total / count) for word, count in counts.items()}

    def ranked(self, query: str) -> list[Scored]:
        """The entries that have anything of the query, the best first; equal ones in the order of their names."""
        asked = self._meaningful(query)
        whole = frozenset(stems(query))
        doing = any(word not in self._things for word in asked)
        weights = {word: self._weights[word] * (THING if doing and word in self._things else 1.0) for word in asked}
        scored = [Scored(one.name, _score(one, weights, whole)) for one in self._indexed]
        return sorted((one for one in scored if one.score > 0.0), key=lambda one: (-one.score, one.name))

    def _meaningful(self, query: str) -> list[str]:
        words = dict.fromkeys(stems(query))
        meaningful = [word for word in words if word in self._weights and word not in self._small]
        # A query of nothing but small words is about them.
        return meaningful or [word for word in words if word in self._weights]


def _score(entry: _Indexed, weights: Mapping[str, float], whole: frozenset[str]) -> float:
    values = {word: entry.values.get(word, 0.0) for word in weights}
    for phrase in entry.phrases:
        if phrase <= whole:
            # Small words do not count, but make a phrase what it is: "on top".
            worth = 1.0 + WHOLE_PHRASE * (len(phrase) - 1)
            for word in phrase:
                if word in values:
                    values[word] = max(values[word], worth)
    return sum(weights[word] * value for word, value in values.items())


class _Indexed:
    """An entry with what each of its words counts for."""

    def __init__(self, entry: Entry, small: frozenset[str]) -> None:
        self.name = entry.name
        self.phrases = [frozenset(stems(phrase)) for phrase in entry.phrases]
        self.values: dict[str, float] = {}
        for word, value in self._valued(entry):
            if word not in small:
                self.values[word] = max(self.values.get(word, 0.0), value)
        self.known = self.values.keys() | {word for phrase in self.phrases for word in phrase}

    def _valued(self, entry: Entry) -> Iterator[tuple[str, float]]:
        for phrase in self.phrases:
            yield from ((word, PART_OF_PHRASE if len(phrase) > 1 else 1.0) for word in phrase)
        # Words of a name that is no tool's have no dot.
        if "." in entry.name:
            yield from ((word, IN_NAME) for word in stems(entry.name.replace("_", " ")))
        yield from ((word, IN_SUMMARY) for word in stems(entry.summary))
        for argument in entry.arguments:
            yield from ((word, AS_ARGUMENT) for word in stems(argument.replace("_", " ")))
