"""Who a client is: its turns, its jobs and what its user allowed for the session hang on it. On real connections."""

from __future__ import annotations

import http.client
import json
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from typing import Any

import anyio
import pytest
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from blendwright.approvals.pending import session_allowances
from blendwright.server.context import ServerContext
from blendwright.server.service import Service
from blendwright.server.transport.client_info import client_id
from blendwright.server.transport.http import serve_http
from support.hosts.mcp import cube, operation, plan

TOKEN = "a-token-for-tests"
NEWEST = max(MODERN_PROTOCOL_VERSIONS)
META = "io.modelcontextprotocol/"
ALL = {"action": "accept", "content": {"allow": True, "session": True}}


@pytest.fixture(scope="module")
def address(context: ServerContext) -> Iterator[tuple[str, int]]:
    """The workspace served over HTTP."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        host, port = probe.getsockname()
    listening = threading.Event()
    ends: list[Callable[[], None]] = []
    service = Service(context, version="0")

    async def main() -> None:
        await serve_http(service.server, TOKEN, host, port, ends.append, on_listening=lambda _: listening.set())

    thread = threading.Thread(target=lambda: anyio.run(main))
    thread.start()
    assert listening.wait(60)
    yield host, port
    ends[0]()
    thread.join()


class Connection:
    """One connection of the newest era; `port` is its own, where it must have a certain one."""

    def __init__(self, address: tuple[str, int], port: int = 0, session: str | None = None) -> None:
        self._web = http.client.HTTPConnection(*address, timeout=60, source_address=("127.0.0.1", port))
        self._web.connect()
        self._headers = {} if session is None else {"Mcp-Session-Id": session}
        self.port: int = self._web.sock.getsockname()[1]

    def call(self, tool: str, arguments: dict[str, Any], **more: Any) -> Any:
        meta: dict[str, Any] = {
            f"{META}protocolVersion": NEWEST,
            f"{META}clientInfo": {"name": "test", "version": "1"},
            f"{META}clientCapabilities": {"elicitation": {}},
        }
        params = {"name": tool, "arguments": arguments, "_meta": meta, **more}
        headers = {
            "Authorization": f"Bearer {TOKEN}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": NEWEST,
            "Mcp-Method": "tools/call",
            "Mcp-Name": tool,
            **self._headers,
        }
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        self._web.request("POST", "/mcp", json.dumps(message), headers)
        said = self._web.getresponse().read().decode()
        events = [line.removeprefix("data: ") for line in said.splitlines() if line.startswith("data: ")]
        return json.loads(events[-1] if events else said)["result"]

    def close(self) -> None:
        """At once, so that its port is free."""
        self._web.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._web.close()


def deletes(name: str) -> dict[str, Any]:
    gone = operation(f"unmake_{name}", "object.delete", {"object": name}, f"make_{name}", level="destructive")
    return {"plan": plan(name, cube(f"make_{name}", name), gone)}


def is_asked(answer: Any) -> bool:
    return "inputRequests" in answer


def allow_everything(connection: Connection, name: str) -> None:
    asked = connection.call("plan_execute", deletes(name))
    done = connection.call(
        "plan_execute", deletes(name), requestState=asked["requestState"], inputResponses={"approval": ALL}
    )
    assert done["structuredContent"]["ok"] is True, done


def test_what_was_allowed_on_a_connection_ends_with_it_also_for_the_next_on_its_port(
    context: ServerContext, address: tuple[str, int]
) -> None:
    first = Connection(address)
    allow_everything(first, "First")
    assert not is_asked(first.call("plan_execute", deletes("Again"))), "on its own connection it holds"
    port = first.port
    first.close()
    second = Connection(address, port)
    assert second.port == port
    answer = second.call("plan_execute", deletes("Second"))
    second.close()
    assert is_asked(answer), answer
    assert len(session_allowances(context.workspace)) == 1


def test_naming_the_session_of_another_gives_nothing_of_it(
    context: ServerContext, address: tuple[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    ids: list[str] = []

    def noted(ctx: Any) -> str:
        ids.append(client_id(ctx))
        return ids[-1]

    monkeypatch.setattr("blendwright.server.service.client_id", noted)
    victim = Connection(address)
    allow_everything(victim, "Victim")
    (whose,) = set(ids)
    said = {whose, whose.removeprefix("connection-"), f"127.0.0.1:{victim.port}", "stdio"}
    for number, forged in enumerate(sorted(said)):
        forger = Connection(address, session=forged)
        assert is_asked(forger.call("plan_execute", deletes(f"Forged{number}"))), forged
        forger.close()
    victim.close()


def test_every_connection_has_a_turn_of_its_own(address: tuple[str, int], monkeypatch: pytest.MonkeyPatch) -> None:
    ids: list[str] = []

    def noted(ctx: Any) -> str:
        ids.append(client_id(ctx))
        return ids[-1]

    monkeypatch.setattr("blendwright.server.service.client_id", noted)
    port = 0
    for _ in range(3):
        connection = Connection(address, port)
        connection.call("job_status", {})
        connection.call("job_status", {})
        port = connection.port
        connection.close()
    assert len(ids) == 6 and len(set(ids)) == 3


class Told:
    """What is known of a request."""

    def __init__(self, version: str, request: Any) -> None:
        self.protocol_version = version
        self.request = request


class Headers:
    def __init__(self, session: str) -> None:
        self.headers = {"mcp-session-id": session}


def test_a_session_of_the_server_is_the_client_on_every_connection() -> None:
    one, other, third = (client_id(Told("2025-06-18", Headers(id))) for id in "aab")  # pyright: ignore[reportArgumentType]
    assert one == other != third


def test_whose_connection_is_not_known_is_nobody_that_was_there_before() -> None:
    one, other = (client_id(Told(NEWEST, Headers("a"))) for _ in range(2))  # pyright: ignore[reportArgumentType]
    assert one != other


def test_over_stdio_there_is_one() -> None:
    assert client_id(Told(NEWEST, None)) == "stdio"  # pyright: ignore[reportArgumentType]
