"""What a host waits for: calls over stdio through the whole server, and a tool of the same SDK that does nothing.

Each size is asked of one server process; the bare no-op is a second process, asked in the same run.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

from bench.table import row

SIZES = (10, 1000)
CALLS = 120
STARTS = 5
HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
NOTHING = """
import anyio, mcp_types as types
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server

async def listed(ctx, params):
    return types.ListToolsResult(tools=[types.Tool(name="nothing", input_schema={"type": "object"})])

async def call(ctx, params):
    return types.CallToolResult(content=[types.TextContent(type="text", text="{}")], structured_content={})

async def main():
    server = Server("nothing", on_list_tools=listed, on_call_tool=call)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())

anyio.run(main)
"""


class Host:
    """The least that a host is: lines out, lines in."""

    def __init__(self, command: list[str], place: str) -> None:
        self._process = subprocess.Popen(command, cwd=place, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._id = 0
        self.ask("initialize", HELLO)

    def ask(self, method: str, params: dict[str, Any]) -> Any:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._id += 1
        message = {"jsonrpc": "2.0", "id": self._id, "method": method, "params": params}
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())["result"]

    def call(self, tool: str, arguments: dict[str, Any]) -> Any:
        answer = self.ask("tools/call", {"name": tool, "arguments": arguments})
        assert not answer.get("isError"), answer
        return answer

    def close(self) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(60)
        self._process.stdout.close()


def measure() -> Iterator[dict[str, Any]]:
    yield row("start of a server over stdio to its first answer, least of five", _first_answer(), "s", 1.5)
    for size in SIZES:
        with tempfile.TemporaryDirectory() as place:
            script = Path(place, "nothing.py")
            script.write_text(NOTHING)
            bare = Host([sys.executable, str(script)], place)
            host = Host([sys.executable, "-P", "-m", "blendwright", "serve"], place)
            boxes = [_box(number, f"Box{number:04}") for number in range(size)]
            host.call("plan_execute", {"plan": {"request_id": "fill", "operations": boxes}})
            found, ran, nothing = _times(host, bare)
            bare.close()
            host.close()
        yield row(f"scene_find over stdio, {size} objects, p50", found * 1000, "ms", 5.0)
        yield row(f"one-operation plan_execute over stdio, {size} objects, p50", ran * 1000, "ms", 8.0)
        yield row(f"scene_find / bare no-op of the SDK, {size} objects", found / nothing, "x", 4.0)


def _first_answer() -> float:
    """Return the shortest time from starting a server to its answer to `initialize`."""
    seconds: list[float] = []
    for _ in range(STARTS):
        with tempfile.TemporaryDirectory() as place:
            started = perf_counter()
            host = Host([sys.executable, "-m", "blendwright", "serve"], place)
            seconds.append(perf_counter() - started)
            host.close()
    return min(seconds)


def _times(host: Host, bare: Host) -> tuple[float, float, float]:
    """Medians, the three taken in turns."""
    found: list[float] = []
    ran: list[float] = []
    nothing: list[float] = []
    for number in range(CALLS):
        plan = {"request_id": f"move{number}", "operations": [_move(number)]}
        found.append(_timed(host, "scene_find", {"name": "Box0001", "limit": 10}))
        ran.append(_timed(host, "plan_execute", {"plan": plan}))
        nothing.append(_timed(bare, "nothing", {}))
    return statistics.median(found), statistics.median(ran), statistics.median(nothing)


def _timed(host: Host, tool: str, arguments: dict[str, Any]) -> float:
    started = perf_counter()
    host.call(tool, arguments)
    return perf_counter() - started


def _box(number: int, name: str) -> dict[str, Any]:
    args = {"kind": "cube", "name": name, "location": [number % 100 * 3.0, number // 100 * 3.0, 0.0]}
    return _operation(f"op{number:04}", "mesh.create_primitive", args)


def _move(number: int) -> dict[str, Any]:
    return _operation("move", "object.transform", {"name": "Box0001", "location": [number * 0.01, 0.0, 1.0]})


def _operation(id: str, tool: str, args: dict[str, Any]) -> dict[str, Any]:
    return {"operation_id": id, "tool_name": tool, "args": args, "depends_on": [], "safety_level": "safe_write"}
