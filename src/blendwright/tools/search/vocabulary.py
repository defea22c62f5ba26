"""The words of `vocabulary.json`, read once."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any


@dataclass(frozen=True, slots=True)
class MissingTopic:
    """Something that people ask for and no tool does. `what` and `python` end the sentences "No tool …" and "Python can, by …"."""

    name: str
    words: tuple[str, ...]
    what: str
    python: str


@cache
def _document() -> dict[str, Any]:
    return json.loads(files(__package__ or "").joinpath("vocabulary.json").read_text("utf-8"))


@cache
def small_words() -> frozenset[str]:
    """Words that say nothing about which tool is meant."""
    return frozenset(_document()["small_words"].split())


@cache
def things() -> frozenset[str]:
    """Words for what may stand in a scene: what is to be done with it says more."""
    return frozenset(_document()["things"].split())


@cache
def topics() -> tuple[MissingTopic, ...]:
    return tuple(
        MissingTopic(name, tuple(topic["words"]), topic["what"], topic["python"])
        for name, topic in _document()["missing"].items()
    )


def words_for(name: str) -> tuple[str, ...]:
    """The phrases by which a tool or macro is asked for; none for one that is not shipped."""
    return tuple(_document()["tools"].get(name, ()))


def named() -> frozenset[str]:
    """The tools and macros that have words."""
    return frozenset(_document()["tools"])
