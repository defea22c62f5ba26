"""The MCP server, which offers the engine to language-model hosts over stdio and streamable HTTP."""
