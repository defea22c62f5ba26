"""The registration of the capability `server`."""

from __future__ import annotations

from blendwright.capabilities import Capability, Command

CAPABILITY = Capability(
    name="server",
    summary="The MCP server, over stdio and HTTP.",
    commands={
        "serve": Command(
            "server.commands",
            "serve",
            "Serve a workspace to a language-model host: over stdio, or over HTTP with a bearer token.",
        ),
    },
    examples={
        "serve": (
            "blendwright serve --workspace shop           # over stdio, for a host",
            "blendwright serve --http 127.0.0.1:8000 --ui",
        ),
    },
)
