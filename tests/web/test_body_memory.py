"""Large bodies: bounded in number and in sum, whoever sends them. On a real server process, whose memory is measured."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest

from blendwright.web import bodies
from blendwright.web.bodies import BodyPlaces, NoPlace, TooLarge
from support.hosts.web_hosts import TOKEN, http_server, web_client

HELLO = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}},
}
TYPES = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
MB = 1024 * 1024


class Sent:
    """A body that comes in parts, and may never end. `read` is how much of it was asked for."""

    def __init__(self, *parts: bytes, ends: bool = True) -> None:
        self._parts: Iterator[tuple[bytes, bool]] = iter(
            [(part, at < len(parts) - 1 or not ends) for at, part in enumerate(parts)]
        )
        self.read = 0

    async def __call__(self) -> dict[str, Any]:
        part = next(self._parts, None)
        if part is None:
            await asyncio.Event().wait()
        assert part is not None
        self.read += len(part[0])
        return {"type": "http.request", "body": part[0], "more_body": part[1]}


def of(length: int | None) -> dict[str, Any]:
    return {"headers": [] if length is None else [(b"content-length", str(length).encode())]}


@pytest.fixture
def places(monkeypatch: pytest.MonkeyPatch) -> BodyPlaces:
    """Room for 1,000 bytes in two large bodies; large is what has more than 100."""
    for name, value in (
        ("SMALL_BODY_BYTES", 100),
        ("MAX_TOTAL_BYTES", 1000),
        ("MAX_LARGE_BODIES", 2),
        ("RESERVATION_TIMEOUT_SECONDS", 0.2),
    ):
        monkeypatch.setattr(bodies, name, value)
    return BodyPlaces(600)


def test_a_body_that_has_no_place_is_not_read_and_is_refused_in_time(places: BodyPlaces) -> None:
    async def main() -> None:
        async with places.body(of(600), Sent(b"x" * 600)) as first:
            assert len(first) == 600
            waiting = Sent(b"y" * 600)
            with pytest.raises(NoPlace):
                async with places.body(of(600), waiting):
                    raise AssertionError
            assert waiting.read == 0
            async with places.body(of(100), Sent(b"z" * 100)) as small:
                assert len(small) == 100, "a small one needs no place"
        async with places.body(of(600), Sent(b"y" * 600)) as later:
            assert len(later) == 600

    anyio.run(main)


async def until(condition: Callable[[], bool]) -> None:
    """Wait until the condition holds. The time limit of the test ends what never comes."""
    while not condition():
        await asyncio.sleep(0)


def test_places_are_bounded_in_number_and_given_in_the_order_of_coming(
    places: BodyPlaces, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def main() -> list[str]:
        begun: list[str] = []
        go = {name: asyncio.Event() for name in "abcd"}

        async def read(name: str) -> None:
            async with places.body(of(150), Sent(b"x" * 150)):
                begun.append(name)
                await go[name].wait()

        async with asyncio.TaskGroup() as tasks:
            for name in go:
                tasks.create_task(read(name))
            await until(lambda: len(begun) == 2)
            go["b"].set()
            await until(lambda: len(begun) == 3)
            assert begun == ["a", "b", "c"]
            for event in go.values():
                event.set()
        return begun

    # Nobody waits in vain here, however slow the machine is.
    monkeypatch.setattr(bodies, "RESERVATION_TIMEOUT_SECONDS", 600)
    assert anyio.run(main) == ["a", "b", "c", "d"]


def test_whoever_leaves_while_it_waits_or_reads_leaves_no_place_taken(places: BodyPlaces) -> None:
    async def read(sent: Sent) -> None:
        async with places.body(of(600), sent):
            raise AssertionError("it never ends")

    async def main() -> None:
        for _ in range(3):
            tasks = [asyncio.create_task(read(Sent(b"x", ends=False))) for _ in range(3)]
            await asyncio.sleep(0.02)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        async with places.body(of(600), Sent(b"x" * 600)) as body:
            assert len(body) == 600

    anyio.run(main)


def test_a_body_without_a_length_takes_the_place_of_the_largest_once_it_is_large(places: BodyPlaces) -> None:
    async def main() -> None:
        async with places.body(of(None), Sent(b"x" * 90)), places.body(of(600), Sent(b"y" * 600)):
            growing = Sent(b"x" * 90, b"x" * 90, b"x" * 90)
            with pytest.raises(NoPlace):
                async with places.body(of(None), growing):
                    raise AssertionError
            assert growing.read == 180
        with pytest.raises(TooLarge):
            async with places.body(of(None), Sent(b"x" * 500, b"x" * 200)):
                raise AssertionError
        with pytest.raises(TooLarge):
            async with places.body(of(601), Sent()):
                raise AssertionError

    anyio.run(main)


# ---------------------------------------------------------------------- the memory of a real server


def memory(pid: int, field: str) -> int:
    """In MB: VmRSS is what the process has now, VmHWM the most that it ever had."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{field}:")) // 1024


def push(address: tuple[str, int], declared: int) -> socket.socket:
    """Send as much of a body as the server takes, and never its end."""
    connection = socket.create_connection(address, timeout=10)
    host, port = address
    head = f"POST /mcp HTTP/1.1\r\nHost: {host}:{port}\r\nAuthorization: Bearer {TOKEN}\r\n"
    connection.sendall(f"{head}Content-Length: {declared}\r\n\r\n".encode())
    connection.settimeout(0.3)
    part, left = b" " * MB, declared - 1
    while left > 0:
        try:
            left -= connection.send(part[:left])
        except (TimeoutError, ConnectionError):
            break
    return connection


def test_unfinished_bodies_of_token_holders_do_not_fill_the_memory(tmp_path: Path) -> None:
    """Twenty of 60 MB each: without a bound the server held 1.2 GB of them, and kept that. With it, two have a place."""
    with http_server(tmp_path) as (url, process), ExitStack() as stack:
        parsed = httpx2.URL(url)
        address = (parsed.host, parsed.port or 80)
        assert anyio.run(greeted, url) == 200
        before = memory(process.pid, "VmRSS")
        unfinished = [stack.enter_context(push(address, 60 * MB)) for _ in range(20)]
        assert anyio.run(greeted, url) == 200, "who sends little is answered meanwhile"
        most = memory(process.pid, "VmHWM") - before
        assert most < 400, f"{most} MB for bodies"
        for connection in unfinished:
            connection.close()
        deadline = time.monotonic() + 60
        while (kept := memory(process.pid, "VmRSS") - before) > 50 and time.monotonic() < deadline:
            time.sleep(0.1)
        assert kept <= 50, f"{kept} MB are kept"
        assert anyio.run(greeted, url) == 200


async def greeted(url: str) -> int:
    async with web_client(**TYPES) as web:
        return (await web.post(url, json=HELLO)).status_code
