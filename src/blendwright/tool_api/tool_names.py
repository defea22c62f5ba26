"""The two names of a tool: its own, `noun.verb`, and the one that MCP hosts see, with an underscore for the dot."""

from __future__ import annotations

from collections.abc import Iterable


def mcp_name(name: str) -> str:
    """Some hosts refuse a dot."""
    return name.replace(".", "_")


def own_name(name: str, known: Iterable[str]) -> str:
    """The tool's own name, where this is the MCP name of exactly one of those known; else the name as it is."""
    meant = [own for own in known if mcp_name(own) == name]
    if len(meant) == 1:
        return meant[0]
    return name
