"""Starlark programs that arrive over MCP."""
