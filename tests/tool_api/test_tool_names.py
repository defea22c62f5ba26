"""The MCP name of a tool stands for it where it can mean no other."""

from __future__ import annotations

from blendwright.tool_api.tool_names import mcp_name, own_name
from blendwright.tools import catalog


def test_every_tool_is_found_by_its_mcp_name() -> None:
    known = catalog.tools()
    assert {own_name(mcp_name(name), known) for name in known} == set(known)


def test_a_name_that_two_tools_would_have_stands_for_neither() -> None:
    assert own_name("a_b_c", ["a.b_c", "a_b.c"]) == "a_b_c"
    assert own_name("a_b_c", ["a.b_c", "other.tool"]) == "a.b_c"
    assert own_name("nobody", ["a.b_c"]) == "nobody"
