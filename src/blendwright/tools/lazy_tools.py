"""A mapping of tools that loads each tool on its first use.

Importing the whole catalogue takes a third of a second. Every start of the program and of a worker would pay that, and most
starts use only a few tools.
"""

from __future__ import annotations

import importlib
import keyword
from collections.abc import Iterable, Iterator, Mapping
from typing import cast

from blendwright.tool_api.tool import AnyTool, Tool


def tool_class(name: str) -> type[AnyTool]:
    """Return the class of a tool from the file of its name. Raise LookupError if the file defines no such tool."""
    noun, _, verb = name.partition(".")
    file_name = verb
    if keyword.iskeyword(verb):
        file_name += "_"
    module = importlib.import_module(f"{__package__}.{noun}.{file_name}")
    for defined in vars(module).values():
        if isinstance(defined, type) and issubclass(defined, Tool) and defined.__dict__.get("name") == name:
            return cast("type[AnyTool]", defined)
    raise LookupError(f"{module.__name__} defines no tool named {name}")


class LazyTools(Mapping[str, AnyTool]):
    """Tools by name: the catalogue's tools, which are loaded on first use, and further tools that are already loaded."""

    def __init__(self, names: Iterable[str], others: Iterable[AnyTool] = ()) -> None:
        self._loaded = {tool.name: tool for tool in others}
        self._names = sorted({*names, *self._loaded})
        self.from_catalog = frozenset(self._names) - self._loaded.keys()
        """Names of the tools from the catalogue's own files."""

    def __getitem__(self, name: str) -> AnyTool:
        tool = self._loaded.get(name)
        if tool is None:
            if name not in self.from_catalog:
                raise KeyError(name)
            # Another thread may have loaded it in the meantime; setdefault gives all callers the same object.
            tool = self._loaded.setdefault(name, tool_class(name)())
        return tool

    def __contains__(self, name: object) -> bool:
        return name in self.from_catalog or name in self._loaded

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def with_others(self, others: Iterable[AnyTool]) -> LazyTools:
        """Return these tools together with `others`, which replace tools of the same name."""
        return LazyTools(self._names, others)
