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
    """A value between fences that it cannot contain. `label` is ours, never the scene's."""
    text = json.dumps(sanitised(value), ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    for sign, escape in ESCAPES.items():
        text = text.replace(sign, escape)
    return f"<data {label}>\n{text}\n</data {label}>"


def sanitised(value: Any) -> Any:
    """The same value, its texts without unseen characters and bounded, its numbers no longer than anyone needs."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, float):
        return round(value, 4) if value == value and abs(value) != float("inf") else None
    if isinstance(value, Mapping):
        known = cast("Mapping[Any, Any]", value)
        return {visible(str(key)): sanitised(inner) for key, inner in known.items()}
    if isinstance(value, list | tuple):
        return [sanitised(part) for part in cast("list[Any]", value)]
    return value


def visible(text: str, longest: int = LONGEST_TEXT) -> str:
    """Without control and other unseen characters, and cut where it is too long."""
    seen = "".join(sign for sign in text if unicodedata.category(sign) not in INVISIBLE)
    return seen if len(seen) <= longest else seen[: longest - 1] + "…"
