"""Finding tools by words: one scoring for everybody who looks for one. Knows declarations only, and no meaning of words."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from blendwright.tool_api.tool import AnyTool


def words_of(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", text.lower())


def score(tool: AnyTool, words: Sequence[str]) -> int:
    return _score(*_texts(type(tool)), words)


def score_of(name: str, said: str, fields: Mapping[str, Any], words: Sequence[str]) -> int:
    """The same for anything else that has a name, a description, and arguments by name with their schemas."""
    return _score(name.lower(), said.lower(), _arguments(fields), words)


def _score(name: str, said: str, arguments: str, words: Sequence[str]) -> int:
    total = 0
    for word in words:
        stem = word[:-1] if len(word) > 3 and word.endswith("s") else word
        total += 9 * (stem in name) + 3 * (stem in said) + (stem in arguments)
    return total


@cache
def _texts(tool: type[AnyTool]) -> tuple[str, str, str]:
    return tool.name.lower(), (tool.__doc__ or "").lower(), _arguments(tool.args_schema().get("properties", {}))


def _arguments(fields: Mapping[str, Any]) -> str:
    return " ".join([*fields, *(str(field.get("description", "")) for field in fields.values())]).lower()
