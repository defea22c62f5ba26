"""A call in one line, as a person is shown it: nothing of weight can be pushed out of sight by something long."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import orjson

from blendwright.policy.redaction import redacted
from blendwright.tool_api.arguments import file_arguments
from blendwright.tool_api.tool import AnyTool
from blendwright.util.invisible_text import escape_invisible

# A name of Blender fits; what is longer is code or prose, and code is shown whole beside the line.
LONGEST_TEXT = 300
# Of a value that has parts.
LONGEST_PARTS = 120


def line(tool: AnyTool, args: Mapping[str, Any], redact: Sequence[str]) -> str:
    """The call without what nobody may see; every sign of it can be seen. Single values come first and are there in any case, paths
    whole; lists and the like come after, shortened, with how much there is."""
    paths = file_arguments(tool.args_model)
    shown: dict[str, Any] = redacted(args, redact)
    single = {name: value for name, value in shown.items() if not isinstance(value, Mapping | list | tuple)}
    parted = {name: value for name, value in shown.items() if name not in single}
    parts = [f"{_json(name)}:{_json(value) if name in paths else _text(value)}" for name, value in single.items()]
    parts += [f"{_json(name)}:{_parts(value)}" for name, value in parted.items()]
    return escape_invisible(f"{tool.name} {{{','.join(parts)}}}")


def _text(value: Any) -> str:
    if isinstance(value, str) and len(value) > LONGEST_TEXT:
        return f"{_json(value[:LONGEST_TEXT])}… ({len(value)} characters)"
    return _json(value)


def _parts(value: Any) -> str:
    """The beginning of a list or an object, and how many parts it has."""
    whole = _json(value)
    if len(whole) <= LONGEST_PARTS:
        return whole
    count = len(cast("Sequence[Any]", value))
    return f"{whole[:LONGEST_PARTS]}… ({count} {'fields' if isinstance(value, Mapping) else 'items'})"


def _json(value: Any) -> str:
    return orjson.dumps(value, default=str).decode()
