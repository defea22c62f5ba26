"""Default values for parts that a model may omit from a plan. Blendwright checks, runs and journals the completed
plan.

Only plans that arrive over MCP may omit these parts. The published schema requires them.
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
    """Return the document with `depends_on` and `safety_level` in each operation. Documents without a list of
    operations stay unchanged.
    """
    operations = document.get("operations")
    if not isinstance(operations, list):
        return document
    completed = [_complete_operation(item, tools, macros) for item in cast("list[Any]", operations)]
    return {**document, "operations": completed}


def _complete_operation(item: Any, tools: Mapping[str, AnyTool], macros: Mapping[str, Macro]) -> Any:
    if not isinstance(item, dict):
        return item
    operation = cast("dict[str, Any]", item)
    completed = dict(operation)
    completed.setdefault("depends_on", [])
    if "safety_level" not in operation:
        completed["safety_level"] = _level(operation, tools, macros).value
    return completed


def _level(item: Mapping[str, Any], tools: Mapping[str, AnyTool], macros: Mapping[str, Macro]) -> SafetyLevel:
    """Return the safety level of the called tool or macro with these arguments. For an unknown tool return
    SAFE_WRITE.
    """
    name = str(item.get("tool_name", ""))
    called = name
    if name not in tools and name not in macros:
        called = own_name(name, (*tools, *macros))
    if called in macros:
        return macros[called].safety_level
    tool = tools.get(called)
    if tool is None:
        return SafetyLevel.SAFE_WRITE

    arguments: dict[str, Any] = {}
    if isinstance(item.get("args"), dict):
        arguments = item["args"]
    is_destructive = any(arguments.get(argument) is True for argument in tool.destructive_with)
    if is_destructive or may_write_executables(tool.args_model, arguments):
        return SafetyLevel.DESTRUCTIVE
    return tool.safety_level
