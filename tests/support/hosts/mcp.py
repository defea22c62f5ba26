"""A host for tests of the server: the SDK's own client, in either era of the protocol, on a served workspace."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import anyio
import pytest
from mcp.client.client import Client

import blendwright
from blendwright.macros import load_macros
from blendwright.policy.host_profile import HostLimits, HostStatement
from blendwright.server.context import Jobs, ServerContext
from blendwright.server.service import Service
from blendwright.server.workspace_queue import WorkspaceQueue
from blendwright.tools import catalog

Era = Literal["legacy", "2026-07-28"]
ERAS: tuple[Era, ...] = ("legacy", "2026-07-28")
FEWER_ERAS = [pytest.param(ERAS[0], marks=pytest.mark.slow), ERAS[1]]
"""For what takes seconds and is the same in both: the newer one in make test."""


@contextlib.contextmanager
def served(workspace: Path, *, warm: bool = True) -> Generator[ServerContext]:
    """A workspace with its desk, for as many clients as a test wants. Unless it is warm, it is opened by the first who needs it."""
    queue = WorkspaceQueue(lambda: blendwright.open(workspace, roots=[workspace.parent], spare=False), warm=warm)
    queue.start()
    try:
        tools = catalog.tools()
        yield ServerContext(workspace.resolve(), queue, tools, load_macros(workspace.resolve(), tools), Jobs())
    finally:
        queue.close()


@contextlib.asynccontextmanager
async def connected(context: ServerContext, era: Era, **more: Any) -> AsyncGenerator[Client]:
    if envelope := more.pop("envelope", None):
        flags = HostStatement("flag", HostLimits(envelope=envelope))
        context = replace(context, statements=(*context.statements, flags))
    service = Service(context, version="0", direct=more.pop("direct", False))
    async with Client(service.server, mode=era, **more) as client:
        yield client


def talk(context: ServerContext, era: Era, script: Callable[[Client], Awaitable[Any]], **more: Any) -> Any:
    """Run a conversation to its end."""

    async def main() -> Any:
        with anyio.fail_after(120):
            async with connected(context, era, **more) as client:
                return await script(client)

    return anyio.run(main)


def plan(request: str, *operations: dict[str, Any]) -> dict[str, Any]:
    return {"request_id": request, "operations": list(operations)}


def operation(id: str, tool: str, args: dict[str, Any], *needs: str, level: str = "safe_write") -> dict[str, Any]:
    return {"operation_id": id, "tool_name": tool, "args": args, "depends_on": list(needs), "safety_level": level}


def cube(id: str, name: str, *needs: str) -> dict[str, Any]:
    return operation(id, "mesh.create_primitive", {"kind": "cube", "name": name}, *needs)


def call(context: ServerContext, era: Era, tool: str, args: dict[str, Any], **more: Any) -> Any:
    """What one call of a tool is answered with."""

    async def script(client: Client) -> Any:
        return await client.call_tool(tool, args)

    return talk(context, era, script, **more)
