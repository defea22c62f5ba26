"""MCP over standard input and output, one message a line.

Standard output belongs to the protocol alone: whatever else writes to it, in this process or a child, goes to standard error.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import AsyncIterator, Generator
from typing import Any, BinaryIO

import anyio
import orjson
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server

from blendwright.server.phase_zero import LARGEST_MESSAGE, broken, error


async def serve_stdio(server: Server[Any]) -> None:
    """Serve the host that started this process, until it closes our input."""
    with _wires() as (incoming, outgoing):
        lock = anyio.Lock()
        reader: Any = _Lines(incoming, outgoing, lock)
        writer: Any = _Writer(outgoing, lock)
        async with stdio_server(reader, writer) as (read, write):
            await server.run(read, write, server.create_initialization_options())


@contextlib.contextmanager
def _wires() -> Generator[tuple[BinaryIO, BinaryIO]]:
    """Descriptors that only we know; 0 and 1 lead elsewhere meanwhile."""
    sys.stdout.flush()
    incoming, outgoing = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    try:
        yield os.fdopen(incoming, "rb", closefd=False), os.fdopen(outgoing, "wb", buffering=0, closefd=False)
    finally:
        os.dup2(incoming, 0)
        os.dup2(outgoing, 1)


class _Lines:
    """Whole messages, as the SDK reads lines from a file; what is none is answered here and goes no further."""

    def __init__(self, incoming: BinaryIO, outgoing: BinaryIO, lock: anyio.Lock) -> None:
        self._incoming = io.BufferedReader(incoming, 1 << 16) if isinstance(incoming, io.RawIOBase) else incoming
        self._outgoing = outgoing
        self._lock = lock

    async def __aiter__(self) -> AsyncIterator[str]:
        while line := await anyio.to_thread.run_sync(self._line, abandon_on_cancel=True):
            if not line.strip():
                continue
            answer = broken(line) if len(line) <= LARGEST_MESSAGE else await self._overlong(line)
            if answer is None:
                yield line.decode("utf-8", "replace")
            else:
                async with self._lock:
                    await anyio.to_thread.run_sync(self._outgoing.write, orjson.dumps(answer) + b"\n")

    def _line(self) -> bytes:
        return self._incoming.readline(LARGEST_MESSAGE + 1)

    async def _overlong(self, line: bytes) -> dict[str, Any]:
        """Read on to its end, so that the next message starts where it starts."""
        while line and not line.endswith(b"\n"):
            line = await anyio.to_thread.run_sync(self._line, abandon_on_cancel=True)
        return error(-32600, f"a message has at most {LARGEST_MESSAGE} bytes")


class _Writer:
    """As the SDK writes to a text file. One message at a time, whole."""

    def __init__(self, outgoing: BinaryIO, lock: anyio.Lock) -> None:
        self._outgoing = outgoing
        self._lock = lock

    async def write(self, text: str) -> None:
        async with self._lock:
            await anyio.to_thread.run_sync(self._all, text.encode())

    async def flush(self) -> None:
        """Nothing is held back."""

    def _all(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            rest = rest[self._outgoing.write(rest) :]
