"""The text of a question: a call with everything that decides about it, and nothing that could hide or imitate another part.

The name of the tool comes first, then every path on a line of its own, outputs before inputs, then the other arguments.
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

# Names, paths and texts are never shortened. Bulk data without any text, such as the vertices of a mesh, is from this length on.
LONGEST_NUMBERS = 2000
ACTIONS = {
    "write": "writes",
    "frames": "writes the frames",
    "asset": "reads the asset",
    "pictures": "reads the pictures in",
}
REST = "with "


def question(tool: AnyTool, args: Mapping[str, Any], redact: Sequence[str], shown: str = "") -> str:
    """Return the call as a person is shown it. `shown` is displayed whole next to it, so an argument equal to it is not repeated.

    Different arguments give different texts, except where `redact` hides the difference. Line breaks in values are escaped, so that
    no value can pretend to be a line of its own.
    """
    visible: dict[str, Any] = redacted(args, redact)
    lines = list(_path_lines(tool, args, visible))
    path_names = {name for name, role in file_arguments(tool.args_model).items() if role in _PATH_ROLES}
    rest = {name: value for name, value in visible.items() if name not in path_names or value != args[name]}
    single = {name: value for name, value in rest.items() if not isinstance(value, Mapping | list | tuple)}
    ordered = single | {name: value for name, value in rest.items() if name not in single}
    values = ",".join(f"{_json(name)}:{_value(value, shown)}" for name, value in ordered.items())
    if not lines:
        return escape_invisible(f"{tool.name} {{{values}}}")
    return escape_invisible("\n".join([tool.name, *lines, f"{REST}{{{values}}}"]))


def heading(question: str) -> str:
    """Return the lines of a question that name the tool and the paths: what must be in sight when a person answers."""
    lines = question.split("\n")
    return "\n".join(lines[:-1] if len(lines) > 1 and lines[-1].startswith(REST) else lines)


_PATH_ROLES = frozenset({"read", "write", "frames", "asset", "pictures", "declared"})


def _path_lines(tool: AnyTool, args: Mapping[str, Any], visible: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line for every path that is not redacted, outputs first."""
    paths = [each for each in paths_in(tool.args_model, args) if visible[each.name] == args[each.name]]
    outputs = [each for each in paths if each.role in ("write", "frames")]
    for each in (*outputs, *(each for each in paths if each not in outputs)):
        yield f"{ACTIONS.get(each.role, 'reads')} {_json(each.path)}"


def _value(value: Any, shown: str) -> str:
    """Return a value as JSON. Numbers in bulk are represented by their beginning and their hash."""
    # Code with escaped characters is repeated as JSON, which also tells an escape from the same letters in the code.
    if shown and value == shown:
        return f'"…" (shown whole, {len(value)} characters)'
    whole = _json(value)
    if len(whole) <= LONGEST_NUMBERS or _has_text(value):
        return whole
    if isinstance(value, Mapping | list | tuple):
        count = len(cast("Sequence[Any]", value))
    else:
        count = 1
    return f"{whole[:LONGEST_NUMBERS]}… ({count} parts, SHA-256 {hashlib.sha256(whole.encode()).hexdigest()})"


def _has_text(value: Any) -> bool:
    """Return whether a value contains a string anywhere; names of fields do not count."""
    if isinstance(value, Mapping):
        return any(_has_text(part) for part in cast("Mapping[str, Any]", value).values())
    if isinstance(value, list | tuple):
        return any(_has_text(part) for part in cast("Sequence[Any]", value))
    return isinstance(value, str)


def _json(value: Any) -> str:
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)  # also for names that are not valid Unicode
    return orjson.dumps(value, default=str).decode()
