"""The transports of the MCP server: stdio, streamable HTTP and their common parts."""
