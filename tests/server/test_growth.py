"""A server does not grow with its history: what it holds after some hundred commits more is what it held before them."""

from __future__ import annotations

import ctypes
import gc
import tracemalloc
from typing import Any

from mcp.client.client import Client

from blendwright.server.context import ServerContext
from support.hosts.mcp import operation, plan, talk

PLANS, LENGTH = 4, 60
# Of a text alone Python holds 50 bytes and more.
MOST_BYTES = 25


def moves(request: str) -> dict[str, Any]:
    """Another place for the one object there is with every operation, so the scene stays as large as it is."""
    return plan(
        request,
        *(
            operation(f"{request}-{at}", "object.transform", {"name": "Mover", "location": [at + 1, 0, 0]})
            for at in range(LENGTH)
        ),
    )


def test_commits_leave_nothing_in_the_core(context: ServerContext) -> None:
    async def script(client: Client) -> list[int]:
        async def ask(tool: str, *, ok: bool = True, **args: Any) -> None:
            answer = await client.call_tool(tool, args)
            assert answer.structured_content is not None and answer.structured_content["ok"] is ok, answer

        lost = operation("b", "object.transform", {"name": "Nobody", "location": [0, 0, 0]}, "a")
        await ask("plan_execute", plan=plan("made", operation("a", "object.create_empty", {"name": "Mover"})))
        held: list[int] = []
        for turn in range(3):
            for number in range(PLANS):
                await ask("plan_execute", plan=moves(f"{turn}-{number}"))
            failing = plan(f"{turn}-fails", operation("a", "object.create_empty", {"name": "Never"}), lost)
            await ask("plan_execute", ok=False, plan=failing, boundary="plan")
            ctypes.pythonapi.PyType_ClearCache()  # Python keeps up to 4,096 names that were looked up
            gc.collect()
            # From the second turn on: what is made once, by the first, would take three times as long.
            tracemalloc.start()
            held.append(tracemalloc.get_traced_memory()[0])
        return held

    try:
        _, before, after = talk(context, "legacy", script)
    finally:
        tracemalloc.stop()
    assert after - before < MOST_BYTES * PLANS * LENGTH
