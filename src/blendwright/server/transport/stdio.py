"""MCP over standard input and output, one message per line.

Standard output carries protocol messages only. Other output of this process and of its children goes to standard error.
"""

from __future__ import annotations

import contextlib
import os
import queue
import sys
import threading
from collections.abc import AsyncIterator, Generator
from typing import Any

import anyio
import orjson
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server

from blendwright.server.transport.jsonrpc import MAX_MESSAGE_BYTES, message_error


class StdioConnection:
    """The two ends of stdio, which `take_over_stdio` moved to file descriptors of their own.

    A daemon thread reads, because a thread that is blocked in a read would keep the process from ending.
    """

    def __init__(self, incoming: int, outgoing: int, largest: int = MAX_MESSAGE_BYTES) -> None:
        self._incoming = os.fdopen(incoming, "rb", closefd=False)
        self._outgoing = outgoing
        self._largest = largest
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        threading.Thread(target=self._receive, name="stdio", daemon=True).start()

    def line(self) -> bytes:
        """Wait for the next message and return it, or return b"" at the end of input. A message that is too long is cut."""
        return self._lines.get()

    def end(self) -> None:
        """Let a caller that waits in `line` return b""."""
        self._lines.put(b"")

    def write(self, data: bytes) -> None:
        """Write all bytes, retrying short writes."""
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(self._outgoing, rest) :]

    def _receive(self) -> None:
        while line := self._incoming.readline(self._largest + 1):
            self._lines.put(line)
            part = line
            while part and not part.endswith(b"\n"):
                part = self._incoming.readline(self._largest + 1)  # skip the rest of a message that is too long
        self._lines.put(b"")


@contextlib.contextmanager
def take_over_stdio(largest: int = MAX_MESSAGE_BYTES) -> Generator[StdioConnection]:
    """Take both ends of stdio. Meanwhile descriptor 1 is standard error and descriptor 0 is empty, also for child processes."""
    sys.stdout.flush()
    incoming, outgoing = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    try:
        yield StdioConnection(incoming, outgoing, largest)
    finally:
        os.dup2(incoming, 0)
        os.dup2(outgoing, 1)


async def serve_stdio(server: Server[Any], connection: StdioConnection) -> None:
    """Serve the host that started this process, until it closes our input or this is cancelled."""
    reader: Any = _Lines(connection)
    writer: Any = _Writer(connection)
    try:
        async with stdio_server(reader, writer) as (read, write):
            await server.run(read, write, server.create_initialization_options())
    finally:
        # A thread may still wait for the next line, and the process would wait for that thread.
        connection.end()


class _Lines:
    """Messages in the form in which the SDK reads lines from a file. Invalid messages are answered here and go no further."""

    def __init__(self, connection: StdioConnection) -> None:
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
    """The output in the form in which the SDK writes to a text file, without buffering."""

    def __init__(self, connection: StdioConnection) -> None:
        self._connection = connection

    async def write(self, text: str) -> None:
        await anyio.to_thread.run_sync(self._connection.write, text.encode())

    async def flush(self) -> None:
        """Do nothing, because `write` does not buffer."""
