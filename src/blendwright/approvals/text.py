"""The text of an approval question: a call with everything that matters for the decision.

No part of the text can hide or imitate another part. The name of the tool comes first, then every path on its own
line, outputs before inputs, then the other arguments.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import orjson

from blendwright.policy.redaction import redacted
from blendwright.tool_api.arguments import file_arguments, paths_in
from blendwright.tool_api.tool import AnyTool
from blendwright.util.invisible_text import escape_invisible

# Characters of bulk data without strings, such as the vertices of a mesh, before it is shortened. Names, paths and
# strings are never shortened.
MAX_NUMBERS_CHARACTERS = 2000
ACTIONS = {
    "write": "writes",
    "frames": "writes the frames",
    "asset": "reads the asset",
    "pictures": "reads the pictures in",
}
REST = "with "


def question(tool: AnyTool, args: Mapping[str, Any], redact: Sequence[str], shown: str = "") -> str:
    """Return the text that shows a call to a person. An argument equal to `shown` is not repeated, because `shown`
    appears next to the text.

    Different arguments give different texts, unless `redact` hides the difference. Line breaks in values are
    escaped, so that no value can imitate a line.
    """
    visible: dict[str, Any] = redacted(args, redact)
    lines = list(_path_lines(tool, args, visible))

    # Single values come before lists and mappings.
    path_names = {name for name, role in file_arguments(tool.args_model).items() if role in _PATH_ROLES}
    single_values: list[str] = []
    collections: list[str] = []
    for name, value in visible.items():
        if name in path_names and value == args[name]:
            continue
        text = f"{_json(name)}:{_value(value, shown)}"
        if isinstance(value, Mapping | list | tuple):
            collections.append(text)
        else:
            single_values.append(text)
    values = ",".join([*single_values, *collections])

    if not lines:
        return escape_invisible(f"{tool.name} {{{values}}}")
    return escape_invisible("\n".join([tool.name, *lines, f"{REST}{{{values}}}"]))


def heading(question: str) -> str:
    """Return the lines of a question with the tool and the paths. They must be visible when a person answers."""
    lines = question.split("\n")
    if len(lines) > 1 and lines[-1].startswith(REST):
        del lines[-1]
    return "\n".join(lines)


_PATH_ROLES = frozenset({"read", "write", "frames", "asset", "pictures", "declared"})


def _path_lines(tool: AnyTool, args: Mapping[str, Any], visible: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line for every path that is not redacted, outputs first."""
    outputs: list[str] = []
    inputs: list[str] = []
    for argument in paths_in(tool.args_model, args):
        if visible[argument.name] != args[argument.name]:
            continue
        line = f"{ACTIONS.get(argument.role, 'reads')} {_json(argument.path)}"
        if argument.role in ("write", "frames"):
            outputs.append(line)
        else:
            inputs.append(line)
    yield from outputs
    yield from inputs


def _value(value: Any, shown: str) -> str:
    """Return a value as JSON. Shorten long bulk numbers to their beginning and their hash."""
    # Code with escaped characters is repeated as JSON, so that an escape and the same characters in the code look
    # different.
    if shown and value == shown:
        return f'"…" (shown in full, {len(value)} characters)'
    text = _json(value)
    if len(text) <= MAX_NUMBERS_CHARACTERS or _has_text(value):
        return text
    if isinstance(value, Mapping | list | tuple):
        count = len(cast("Sequence[Any]", value))
    else:
        count = 1
    digest = hashlib.sha256(text.encode()).hexdigest()
    return f"{text[:MAX_NUMBERS_CHARACTERS]}… ({count} parts, SHA-256 {digest})"


def _has_text(value: Any) -> bool:
    """Return True if a value contains a string anywhere. Names of fields do not count."""
    if isinstance(value, Mapping):
        return any(_has_text(part) for part in cast("Mapping[str, Any]", value).values())
    if isinstance(value, list | tuple):
        return any(_has_text(part) for part in cast("Sequence[Any]", value))
    return isinstance(value, str)


def _json(value: Any) -> str:
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)  # also for names that are not valid Unicode
    return orjson.dumps(value, default=str).decode()
