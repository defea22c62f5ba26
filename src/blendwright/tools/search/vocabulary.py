"""Access to the words in `vocabulary.json`, which is read once per process."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any


@dataclass(frozen=True, slots=True)
class MissingTopic:
    """A task that users ask for and no tool does. `what` completes "No tool …", and `python` completes "Python can, by …"."""

    name: str
    words: tuple[str, ...]
    what: str
    python: str


@cache
def _document() -> dict[str, Any]:
    return json.loads(files(__package__ or "").joinpath("vocabulary.json").read_text("utf-8"))


@cache
def small_words() -> frozenset[str]:
    """Return the words that do not help to select a tool."""
    return frozenset(_document()["small_words"].split())


@cache
def things() -> frozenset[str]:
    """Return the words for things in a scene, which count less than words for actions."""
    return frozenset(_document()["things"].split())


@cache
def topics() -> tuple[MissingTopic, ...]:
    missing: list[MissingTopic] = []
    for name, topic in _document()["missing"].items():
        missing.append(MissingTopic(name, tuple(topic["words"]), topic["what"], topic["python"]))
    return tuple(missing)


def words_for(name: str) -> tuple[str, ...]:
    """Return the search phrases of a tool or macro; empty for one that is not part of the product."""
    return tuple(_document()["tools"].get(name, ()))


def named() -> frozenset[str]:
    """Return the names of the tools and macros that have search phrases."""
    return frozenset(_document()["tools"])
