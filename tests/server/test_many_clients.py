"""Many clients of one HTTP server at once: each key is done once, the scene is that of a serial run, and nobody waits for long.

Waiting is counted in turns, not in seconds: each request of its own key is one commit, so the numbers of the commits tell how many of the
others were served between two requests of one client.
"""

from __future__ import annotations

import signal
from itertools import pairwise
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

from support.hosts.mcp import ERAS, connected, cube, plan, served
from support.hosts.web_hosts import http_server, web_client

# What each client wants done one after the other under keys of its own, and the keys that all want.
OWN, SHARED = 3, 2
# What the client that is in a hurry sends at once.
GREEDY = 24


def own(client: int, at: int) -> dict[str, Any]:
    return plan(f"own {client} {at}", cube("a", f"Own {client:03} {at}"))


def shared(at: int) -> dict[str, Any]:
    return plan(f"shared {at}", cube("a", f"Shared {at}"))


def greedy(at: int) -> dict[str, Any]:
    return plan(f"greedy {at}", cube("a", f"Greedy {at:03}"))


class Crowd:
    """The clients, and what they heard: the commits of each in the order in which it asked."""

    def __init__(self, url: str, clients: int) -> None:
        self._url = url
        self._clients = clients
        self._ready = 0
        self._go = anyio.Event()
        self.commits: dict[int, list[int]] = {}
        self.answers: list[Any] = []

    async def run(self) -> None:
        async with anyio.create_task_group() as tasks:
            for number in range(self._clients):
                tasks.start_soon(self._one, number)
            tasks.start_soon(self._greedy)

    async def _arrive(self) -> None:
        """Nobody begins before all are connected."""
        self._ready += 1
        if self._ready == self._clients + 1:
            self._go.set()
        await self._go.wait()

    async def _one(self, number: int) -> None:
        async with (
            web_client() as web,
            Client(streamable_http_client(self._url, http_client=web), mode=ERAS[number % 2]) as client,
        ):
            await self._arrive()
            for at in range(SHARED):
                await self._execute(client, shared((at + number) % SHARED))
            self.commits[number] = [await self._execute(client, own(number, at)) for at in range(OWN)]

    async def _greedy(self) -> None:
        async with (
            web_client() as web,
            Client(streamable_http_client(self._url, http_client=web), mode="legacy") as client,
        ):
            await self._arrive()
            async with anyio.create_task_group() as tasks:
                for at in range(GREEDY):
                    tasks.start_soon(self._execute, client, greedy(at))

    async def _execute(self, client: Client, document: dict[str, Any]) -> int:
        answer = await client.call_tool("plan_execute", {"plan": document, "detail": "full"})
        content: Any = answer.structured_content
        assert content["ok"], content
        (operation,) = content["result"]["report"]["operations"]
        self.answers.append(operation)
        return operation["commit"]


@pytest.mark.timeout(900)
@pytest.mark.parametrize("clients", [24, pytest.param(128, marks=pytest.mark.slow)])
def test_each_key_is_done_once_as_in_a_serial_run_and_nobody_waits_for_more_than_twice_its_share(
    tmp_path: Path, clients: int
) -> None:
    async def main(url: str) -> tuple[Crowd, Any]:
        crowd = Crowd(url, clients)
        with anyio.fail_after(900):
            await crowd.run()
            async with web_client() as web, Client(streamable_http_client(url, http_client=web)) as client:
                scene: Any = await client.call_tool("scene_snapshot", {"limit": 1, "detail": "full"})
        return crowd, scene.structured_content["result"]["fingerprint"]

    (tmp_path / "http").mkdir()
    with http_server(tmp_path / "http") as (url, process):
        crowd, scene = anyio.run(main, url)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130

    done = [operation for operation in crowd.answers if operation["status"] == "succeeded"]
    known = [operation for operation in crowd.answers if operation["status"] == "skipped_idempotent"]
    assert len(done) == clients * OWN + SHARED + GREEDY and len(known) == (clients - 1) * SHARED
    assert len({operation["commit"] for operation in done}) == len(done), "one commit for each key"

    # One turn for each client in a round, the greedy one among them: no more than two rounds pass between two turns of a client.
    share = clients + 1
    waits = [later - earlier for mine in crowd.commits.values() for earlier, later in pairwise(mine)]
    assert max(waits) <= 2 * share, f"somebody waited for {max(waits)} turns, with {share} clients"

    async def serial(context: Any) -> str:
        async with connected(context, "legacy") as client:
            mine = [own(number, at) for number in range(clients) for at in range(OWN)]
            for document in (*mine, *map(shared, range(SHARED)), *map(greedy, range(GREEDY))):
                assert not (await client.call_tool("plan_execute", {"plan": document})).is_error
            answer: Any = await client.call_tool("scene_snapshot", {"limit": 1, "detail": "full"})
            return answer.structured_content["result"]["fingerprint"]

    with served(tmp_path / "serial") as context:
        assert anyio.run(serial, context) == scene
