"""The two names of a tool: `noun.verb`, and the MCP name with an underscore instead of the dot."""

from __future__ import annotations

from collections.abc import Iterable


def mcp_name(name: str) -> str:
    """Return the name for MCP hosts, some of which refuse a dot."""
    return name.replace(".", "_")


def own_name(name: str, known: Iterable[str]) -> str:
    """Return the tool whose MCP name this is, if exactly one of the known tools has it, else the name unchanged."""
    matches = [tool_name for tool_name in known if mcp_name(tool_name) == name]
    if len(matches) == 1:
        return matches[0]
    return name
