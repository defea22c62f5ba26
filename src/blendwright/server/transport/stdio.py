"""MCP over standard input and output, one message a line.

Standard output belongs to the protocol alone: whatever else writes to it, in this process or a child, goes to standard error.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import anyio
import orjson
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server

from blendwright.server.transport.early_server import EarlyServer
from blendwright.server.transport.jsonrpc import message_error


async def serve_stdio(server: Server[Any], connection: EarlyServer) -> None:
    """Serve the host that started this process, until it closes our input or this is cancelled."""
    reader: Any = _Lines(connection)
    writer: Any = _Writer(connection)
    try:
        async with stdio_server(reader, writer) as (read, write):
            connection.take_over()
            await server.run(read, write, server.create_initialization_options())
    finally:
        # A thread may wait for the next line, and the process for that thread.
        connection.end()


class _Lines:
    """Messages, as the SDK reads lines from a file; what is no message is answered here and goes no further."""

    def __init__(self, connection: EarlyServer) -> None:
        self._connection = connection

    async def __aiter__(self) -> AsyncIterator[str]:
        while line := await anyio.to_thread.run_sync(self._connection.line, abandon_on_cancel=True):
            if not line.strip():
                continue
            answer = message_error(line)
            if answer is None:
                yield line.decode("utf-8", "replace")
            else:
                await anyio.to_thread.run_sync(self._connection.write, orjson.dumps(answer) + b"\n")


class _Writer:
    """As the SDK writes to a text file; nothing is buffered."""

    def __init__(self, connection: EarlyServer) -> None:
        self._connection = connection

    async def write(self, text: str) -> None:
        await anyio.to_thread.run_sync(self._connection.write, text.encode())

    async def flush(self) -> None:
        """Nothing to do."""
