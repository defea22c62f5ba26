"""The transports of the MCP server: stdio, streamable HTTP, and what both share."""
