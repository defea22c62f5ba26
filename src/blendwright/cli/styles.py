"""Colours and weights of a line: what terminals are told, and whether they are told anything."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

# As in ECMA-48. A later colour takes the place of an earlier one; weights add up.
WEIGHTS = {"bold": "1", "dim": "2"}
COLOURS = {"red": "31", "green": "32", "yellow": "33", "cyan": "36", "default": "39"}
RESET = "\x1b[0m"


def is_terminal(file: Any) -> bool:
    """Whether a person looks at it, or somebody says so for them; the variables mean what they mean to rich."""
    said = os.environ.get("TTY_COMPATIBLE")
    if said in ("0", "1"):
        return said == "1"
    forced = os.environ.get("FORCE_COLOR")  # force-color.org
    if forced is not None:
        return forced != ""
    try:
        return bool(file.isatty())
    except (AttributeError, ValueError):  # no file at all, or one that is closed
        return False


def styled(parts: Iterable[tuple[str, str]], file: Any) -> str:
    """The parts of a text, each in its style laid over those of the parts before it, as the file takes them.

    A style ends with its line, so that it does not hold for what a terminal adds there.
    """
    plain = not is_terminal(file) or os.environ.get("TERM", "").lower() in ("dumb", "unknown")
    colourful = not os.environ.get("NO_COLOR")
    words: list[str] = []
    shown: list[str] = []
    for text, style in parts:
        words += style.split()
        code = "" if plain else _code(words, colourful)
        lines = [f"\x1b[{code}m{line}{RESET}" if line and code else line for line in text.split("\n")]
        shown.append("\n".join(lines))
    return "".join(shown)


def _code(words: list[str], colourful: bool) -> str:
    weights = [code for word, code in WEIGHTS.items() if word in words]
    colours = [COLOURS[word] for word in words if word not in WEIGHTS]
    return ";".join(weights + (colours[-1:] if colourful else []))
