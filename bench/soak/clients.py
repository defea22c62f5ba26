"""What the clients of the soak do, over and over: plans that succeed, fail, run out of time and are cancelled, previews, Python, imports.

Whatever a client makes it takes away again, so that the scene at the end of a round is the scene at its beginning: what grows then is
not the scene. A client counts what it was answered, and keeps what it did not expect.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import httpx2
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

from bench.soak.rests import Rests

TRIANGLE = "o {name}\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"
CODE = "import bpy\nprint(len(bpy.data.objects))\n"
# Longer than anybody waits for it here.
PICTURE = {"view": "ISO", "engine": "CYCLES", "samples": 256, "width": 1024, "height": 1024}
MOST_UNEXPECTED = 20


def operation(id: str, tool: str, args: dict[str, Any], *needs: str, level: str = "safe_write") -> dict[str, Any]:
    return {"operation_id": id, "tool_name": tool, "args": args, "depends_on": list(needs), "safety_level": level}


def _result(envelope: dict[str, Any]) -> dict[str, Any]:
    return envelope.get("result") or {}


class SoakClient:
    """One client, connected for the whole time. `prefix` begins the names of everything that it makes."""

    def __init__(self, number: int, files: Path) -> None:
        self.prefix = f"c{number}"
        self.done: Counter[str] = Counter()
        self.operations = 0
        self.unexpected: list[str] = []
        self._chance = random.Random(number)
        self._rounds = 0
        self._model = files / f"{self.prefix}.obj"
        self._model.write_text(TRIANGLE.format(name=f"{self.prefix}_model"))

    async def run(self, url: str, token: str, rests: Rests) -> None:
        headers = {"Authorization": f"Bearer {token}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=120) as web,
            Client(streamable_http_client(url, http_client=web), mode="legacy") as self._client,
        ):
            deeds: list[tuple[Callable[[], Awaitable[None]], float]] = [
                (self._succeeds, 10), (self._fails, 3), (self._reads, 4), (self._times_out, 0.4), (self._cancelled, 0.4),
                (self._preview, 1), (self._python, 1), (self._imports, 1),
            ]  # fmt: skip
            while await rests.go_on(self._before_a_look):
                self._rounds += 1
                # Each of them once, so that a short soak has all of them, too; then as often as it comes.
                first = self._rounds <= len(deeds)
                act = deeds[self._rounds - 1][0] if first else self._chance.choices(*zip(*deeds, strict=True))[0]
                await self._do(act)

    async def _do(self, act: Callable[[], Awaitable[None]]) -> None:
        await act()
        self.done[act.__name__.strip("_")] += 1

    async def _before_a_look(self) -> None:
        """The same before every look: what workers have in their scratch, and how many there are, depends on what they did last."""
        for act in (self._times_out, self._python, self._imports, self._preview, self._succeeds, self._reads):
            self._rounds += 1
            await self._do(act)

    # ------------------------------------------------------------------ one round each

    async def _succeeds(self) -> None:
        names = [f"{self.prefix} {number}" for number in range(5)]
        made = [operation(f"make{at}", "object.create_empty", {"name": name}) for at, name in enumerate(names)]
        moved = operation("move", "object.transform", {"name": names[0], "location": [1, 2, 3]}, "make0")
        gone = [
            operation(f"take{at}", "object.delete", {"name": name}, f"make{at}", "move", level="destructive")
            for at, name in enumerate(names)
        ]
        await self._expect(True, "plan_execute", plan=self._plan(*made, moved, *gone))

    async def _fails(self) -> None:
        made = operation("make", "object.create_empty", {"name": f"{self.prefix} never"})
        lost = operation("move", "object.transform", {"name": f"{self.prefix} nobody", "location": [0, 0, 0]}, "make")
        await self._expect(False, "plan_execute", plan=self._plan(made, lost), boundary="plan")

    async def _reads(self) -> None:
        found = await self._expect(True, "scene_find", name=f"{self.prefix}*")
        left = _result(found).get("total")
        if left != 0 and len(self.unexpected) < MOST_UNEXPECTED:
            self.unexpected.append(f"round {self._rounds}: {left} objects of this client are left, which it took away")

    async def _times_out(self) -> None:
        slow = operation("slow", "render.preview", PICTURE, level="read_only")
        await self._expect(False, "plan_execute", plan=self._plan(slow), timeout_s=0.3)

    async def _cancelled(self) -> None:
        slow = operation("slow", "render.preview", PICTURE, level="read_only")
        begun = await self._expect(True, "plan_execute", plan=self._plan(slow), background=True)
        await anyio.sleep(self._chance.random() * 0.3)
        await self._expect(False, "job_cancel", job_id=begun["result"]["job_id"])

    async def _preview(self) -> None:
        made = operation("make", "mesh.create_primitive", {"kind": "cube", "name": f"{self.prefix} preview"})
        await self._expect(True, "plan_preview", plan=self._plan(made))

    async def _python(self) -> None:
        await self._expect(True, "python_run", code=CODE)

    async def _imports(self) -> None:
        came = await self._expect(True, "file_import", path=str(self._model), on_collision="rename")
        names: list[str] = _result(came).get("objects", [])
        gone = [
            operation(f"take{at}", "object.delete", {"name": name}, level="destructive")
            for at, name in enumerate(names)
        ]
        if gone:
            await self._expect(True, "plan_execute", plan=self._plan(*gone))

    # ------------------------------------------------------------------ answers

    def _plan(self, *operations: dict[str, Any]) -> dict[str, Any]:
        return {"request_id": f"{self.prefix}-{self._rounds}-{len(operations)}", "operations": list(operations)}

    async def _expect(self, ok: bool, tool: str, **arguments: Any) -> dict[str, Any]:
        answer = await self._client.call_tool(tool, arguments)
        envelope: dict[str, Any] = answer.structured_content or {}
        if envelope.get("ok") is not ok and len(self.unexpected) < MOST_UNEXPECTED:
            self.unexpected.append(f"round {self._rounds}, {tool}: {str(envelope)[:600]}")
        document = arguments.get("plan", {})
        self.operations += len(document.get("operations", ())) or 1
        return envelope
