"""Tools that are loaded when something of them is first asked for.

Defining the models of the whole catalogue takes a third of a second, which every start of the program and of a worker would pay, and
most of them use a handful of tools. Until it is loaded, a tool is an object without anything of its own; the first look at any of its
attributes imports its file and makes it an instance of its class. `type(tool)` is no such look: code that may meet a tool first asks
for `tool.__class__`.
"""

from __future__ import annotations

import importlib
import keyword
from typing import Any, Generic, cast

from blendwright.tool_api.tool import A, AnyTool, R, Tool


def tool_class(name: str) -> type[AnyTool]:
    """The class of a tool, from the file of its name."""
    noun, _, verb = name.partition(".")
    module = importlib.import_module(f"{__package__}.{noun}.{verb}{'_' * keyword.iskeyword(verb)}")
    for one in vars(module).values():
        if isinstance(one, type) and issubclass(one, Tool) and one.__dict__.get("name") == name:
            return cast("type[AnyTool]", one)
    raise LookupError(f"{module.__name__} defines no tool named {name}")


def load_on_demand(name: str) -> AnyTool:
    """A tool of the catalogue, which is not loaded yet."""
    return cast("AnyTool", _Unloaded(name))


def is_loaded(tool: AnyTool) -> bool:
    kind: type = type(tool)
    return kind is not _Unloaded


def name_of(tool: AnyTool) -> str:
    """The name of a tool, which is not loaded for that."""
    return tool.name if is_loaded(tool) else _fields(tool)["unloaded_name"]


class _Unloaded(Generic[A, R]):
    """Becomes the tool with the first attribute that is looked up. It derives from what Tool derives from: Python changes the class of an
    object only to one of the same layout."""

    def __init__(self, name: str) -> None:
        _fields(self)["unloaded_name"] = name

    def __getattribute__(self, attribute: str) -> Any:
        # Another thread may have loaded it meanwhile.
        if name := _fields(self).get("unloaded_name"):
            loaded = tool_class(name)
            object.__setattr__(self, "__class__", loaded)
            _fields(self).pop("unloaded_name", None)
        return getattr(self, attribute)


def _fields(tool: object) -> dict[str, Any]:
    return object.__getattribute__(tool, "__dict__")
