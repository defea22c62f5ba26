"""Data in a prompt: whatever a scene is full of, it stays data.

A block is one JSON document between two fences. Inside it, angle brackets are written as escapes, so that no name can close the block
or open another; everything that is not ASCII is escaped too, so that nothing can look like something else.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping
from typing import Any, cast

LONGEST_TEXT = 255
# Control, format (such as those that turn the direction of writing), surrogate and private characters, and separators of lines.
INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
ESCAPES = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "`": "\\u0060"}


def data_block(label: str, value: Any) -> str:
    """A value between fences that it cannot contain, without what a model need not read. `label` is ours, never the scene's."""
    return fenced(label, json.dumps(sanitised(value), ensure_ascii=True, separators=(",", ":"), allow_nan=False))


def fenced(label: str, text: str) -> str:
    """JSON between fences. What could end the block is escaped, so that it reads back as the very same value."""
    for sign, escape in ESCAPES.items():
        text = text.replace(sign, escape)
    return f"<data {label}>\n{text}\n</data {label}>"


def sanitised(value: Any) -> Any:
    """The same value, its texts without invisible characters and bounded, its numbers no longer than anyone needs."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, float):
        return round(value, 4) if value == value and abs(value) != float("inf") else None
    if isinstance(value, Mapping):
        items = cast("Mapping[Any, Any]", value).items()
        return {visible(str(key)): sanitised(inner) for key, inner in items}
    if isinstance(value, list | tuple):
        return [sanitised(part) for part in cast("list[Any]", value)]
    return value


def visible(text: str, longest: int = LONGEST_TEXT) -> str:
    """Without control and other invisible characters, and cut where it is too long."""
    shown = "".join(sign for sign in text if unicodedata.category(sign) not in INVISIBLE)
    return shown if len(shown) <= longest else shown[: longest - 1] + "…"
