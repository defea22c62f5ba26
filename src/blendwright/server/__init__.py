"""The MCP server: the engine offered to language-model hosts over stdio and streamable HTTP."""
