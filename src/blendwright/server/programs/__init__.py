"""Starlark programs that clients send over MCP."""
