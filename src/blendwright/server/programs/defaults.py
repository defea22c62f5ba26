"""What a model may leave out of a plan, filled in: the strict document is what is checked, run and journalled.

Only hosts of the server may leave it out: the published schema stays as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from blendwright.macros import Macro
from blendwright.tool_api.file_kinds import may_write_executables
from blendwright.tool_api.promises import SafetyLevel
from blendwright.tool_api.tool import AnyTool
from blendwright.tool_api.tool_names import own_name


def complete(document: dict[str, Any], tools: Mapping[str, AnyTool], macros: Mapping[str, Macro]) -> dict[str, Any]:
    """The document with `depends_on` and `safety_level` in each operation. What is no plan of operations stays as it is."""
    operations = document.get("operations")
    if not isinstance(operations, list):
        return document
    listed = [_whole(item, tools, macros) for item in cast("list[Any]", operations)]
    return {**document, "operations": listed}


def _whole(item: Any, tools: Mapping[str, AnyTool], macros: Mapping[str, Macro]) -> Any:
    if not isinstance(item, dict):
        return item
    given = cast("dict[str, Any]", item)
    filled = dict(given)
    filled.setdefault("depends_on", [])
    if "safety_level" not in given:
        filled["safety_level"] = _level(given, tools, macros).value
    return filled


def _level(item: Mapping[str, Any], tools: Mapping[str, AnyTool], macros: Mapping[str, Macro]) -> SafetyLevel:
    """That of what is called, with these arguments; of a tool that does not exist, its name is what is wrong."""
    name = str(item.get("tool_name", ""))
    if name in tools or name in macros:
        called = name
    else:
        called = own_name(name, (*tools, *macros))
    if called in macros:
        return macros[called].safety_level
    tool, args = tools.get(called), item.get("args")
    if tool is None:
        return SafetyLevel.SAFE_WRITE
    given = cast("dict[str, Any]", args if isinstance(args, dict) else {})
    destroys = any(given.get(argument) is True for argument in tool.destructive_with)
    destroys = destroys or may_write_executables(tool.args_model, given)
    if destroys:
        return SafetyLevel.DESTRUCTIVE
    return tool.safety_level
