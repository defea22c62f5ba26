"""The door before the web application: who is let in, and how much they may bring. Without a socket."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from typing import Any

import anyio
import httpx2
import pytest
import uvicorn
from mcp.server.lowlevel.server import Server

from blendwright.server.transport.http import application, serve_http
from blendwright.web.shutdown import Shutdown

TOKEN = "a-token-for-tests"
HOME = "http://127.0.0.1:8000"
LARGEST = 1000
PING = b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}'


def knock(body: bytes | AsyncIterator[bytes] = PING, **headers: str) -> httpx2.Response:
    """What the door says; whoever is let in meets an application that was never started, which raises."""

    async def main() -> httpx2.Response:
        server: Server[Any] = Server("door")
        app: Any = application(server, TOKEN, host="127.0.0.1", port=8000, largest=LARGEST)
        usual = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
        async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url=HOME) as web:
            return await web.post("/mcp", content=body, headers=usual | headers)

    return anyio.run(main)


def let_in(**headers: str) -> bool:
    try:
        return knock(PING, **headers).is_success
    except RuntimeError as error:  # of the application behind the door
        assert "Task group is not initialized" in str(error)
        return True


@pytest.mark.parametrize("host", ["127.0.0.1:8000", "localhost:8000", "[::1]:8000"])
def test_the_server_answers_to_its_own_names(host: str) -> None:
    assert let_in(Host=host)
    assert let_in(Host=host, Origin=f"http://{host}")


@pytest.mark.parametrize(
    "host", ["evil.example:8000", "evil.example", "127.0.0.1", "localhost:8001", "127.0.0.1:8000.evil.example", ""]
)
def test_a_name_that_only_leads_here_is_none_of_ours(host: str) -> None:
    assert knock(Host=host).status_code == 421


@pytest.mark.parametrize("origin", ["http://evil.example:8000", "https://127.0.0.1:8000", "http://localhost:8001", ""])
def test_pages_of_others_are_turned_away(origin: str) -> None:
    assert knock(Origin=origin).status_code == 403


@pytest.mark.parametrize(
    "given", ["", "Bearer", "Bearer ", f"Bearer {TOKEN[:-1]}", f"Bearer {TOKEN}x", f"Bearer {TOKEN.upper()}", TOKEN]
)
def test_nothing_but_the_whole_token_opens(given: str) -> None:
    answer = knock(Authorization=given)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == "Bearer"


def ipv6_port() -> int:
    with socket.socket(socket.AF_INET6) as probe:
        try:
            probe.bind(("::1", 0))
        except OSError:
            pytest.skip("this machine has no IPv6")
        return probe.getsockname()[1]


def test_the_loopback_of_ipv6_can_be_served_on(monkeypatch: pytest.MonkeyPatch) -> None:
    port, bound = ipv6_port(), list[Any]()

    async def only_bind(self: uvicorn.Server) -> None:
        with self.config.bind_socket() as opened:
            bound.append(opened.getsockname()[:2])

    monkeypatch.setattr(uvicorn.Server, "serve", only_bind)
    server: Server[Any] = Server("door")
    anyio.run(serve_http, server, TOKEN, "[::1]", port, Shutdown().on_request)
    assert bound == [("::1", port)]


def padded(size: int) -> bytes:
    head, tail = b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"x": "', b'"}}'
    return head + b"x" * (size - len(head) - len(tail)) + tail


def test_a_body_that_is_too_large_is_refused_and_not_read_to_its_end() -> None:
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        for _ in range(1000):
            sent += 1
            yield b"x" * 500

    answer = knock(endless())
    assert answer.status_code == 413
    assert answer.json()["error"]["code"] == -32600
    # The transport of tests hands over the next part only when it is asked for it.
    assert sent < 10
    assert knock(padded(LARGEST + 1)).status_code == 413


def test_a_body_of_exactly_the_limit_passes() -> None:
    with pytest.raises(RuntimeError, match="Task group"):
        knock(padded(LARGEST))
