"""Finding tools by words: one scoring for everybody who looks for one. Knows declarations only, and no meaning of words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from blendwright.contracts.tool import AnyTool


def search(tools: Mapping[str, AnyTool], query: str) -> Iterator[AnyTool]:
    """Those that have the words: in the name first, then in what is said of them and of their arguments."""
    words = words_of(query)
    scored = [(-score(tool, words), tool.name) for tool in tools.values()]
    for rank, name in sorted(scored):
        if rank:
            yield tools[name]


def words_of(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", text.lower())


def score(tool: AnyTool, words: Sequence[str]) -> int:
    name, said, arguments = _texts(type(tool))
    total = 0
    for word in words:
        stem = word[:-1] if len(word) > 3 and word.endswith("s") else word
        total += 9 * (stem in name) + 3 * (stem in said) + (stem in arguments)
    return total


@cache
def _texts(tool: type[AnyTool]) -> tuple[str, str, str]:
    fields: dict[str, Any] = tool.args_schema().get("properties", {})
    arguments = " ".join([*fields, *(str(field.get("description", "")) for field in fields.values())])
    return tool.name.lower(), (tool.__doc__ or "").lower(), arguments.lower()
