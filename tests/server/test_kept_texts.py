"""What a server is sent, and the names looked up for it, are not kept; the threads beside its loop are there from the beginning."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import threading
import time
import tracemalloc
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp.server.lowlevel.server import Server
from sse_starlette.sse import AppStatus

from blendwright.server import serve as serve_module
from blendwright.server.serve import Settings, serve
from blendwright.server.transport.heaps import give_back_free_memory
from blendwright.server.transport.http import application
from blendwright.server.transport.side_threads import AT_ONCE, start_side_threads

HEADERS = {
    "Authorization": "Bearer token",
    "Content-Type": "application/json",
    "Accept": "application/json, text/event-stream",
}
HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}
MESSAGES = 150
# Short enough to be kept by the library that reads it, and of a size that little else has.
ID = "the id of a request, as long as one may be, number {:08}"


def test_names_that_were_looked_up_are_given_back() -> None:
    names = ["".join(("nobody_", str(number))) for number in range(3000)]
    unused = sum(map(sys.getrefcount, names))
    found = [hasattr(give_back_free_memory, name) for name in names]
    assert not any(found)
    assert sum(map(sys.getrefcount, names)) > unused + 100, "Python keeps what was looked up"
    give_back_free_memory()
    assert sum(map(sys.getrefcount, names)) == unused


async def kept_ids() -> int:
    """How many texts of the size of an id are held, once a web application has answered messages that have one each."""
    server: Server[Any] = Server("kept")
    app: Any = application(server, "token", host="127.0.0.1", port=8000)
    async with (
        server.session_manager.run(),
        httpx2.AsyncClient(
            transport=httpx2.ASGITransport(app), base_url="http://127.0.0.1:8000", headers=HEADERS
        ) as web,
    ):

        async def send(id: str, method: str, **params: Any) -> httpx2.Response:
            answer = await web.post("/mcp", json={"jsonrpc": "2.0", "id": id, "method": method, "params": params})
            assert answer.status_code == 200, answer.text
            return answer

        web.headers["Mcp-Session-Id"] = (await send("hello", "initialize", **HELLO)).headers["mcp-session-id"]
        for number in range(MESSAGES):
            await send(ID.format(number), "ping")
        give_back_free_memory()
        traces = tracemalloc.take_snapshot().traces
        return sum(trace.size == sys.getsizeof(ID.format(0)) for trace in traces)


def test_ids_of_messages_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    # Where a server has ended in this process, streams take it that they are to end too.
    monkeypatch.setattr(AppStatus, "should_exit", False)
    tracemalloc.start()
    try:
        kept = anyio.run(kept_ids)
    finally:
        tracemalloc.stop()
    assert kept < MESSAGES / 2


def side_threads() -> list[int]:
    return sorted(thread.native_id or 0 for thread in threading.enumerate() if thread.name.startswith("beside"))


def test_busy_moments_leave_no_threads_behind() -> None:
    async def main() -> None:
        start_side_threads(asyncio.get_running_loop())
        first = side_threads()
        assert len(first) == AT_ONCE
        await asyncio.gather(*(asyncio.to_thread(time.sleep, 0.01) for _ in range(4 * AT_ONCE)))
        assert side_threads() == first

    asyncio.run(main())
    assert side_threads() == [], "they end with the loop"


def test_a_server_has_its_threads_before_it_serves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there: list[int] = []

    @contextlib.asynccontextmanager
    async def looked(_: Settings) -> AsyncGenerator[None]:
        there.append(len(side_threads()))
        raise InterruptedError
        yield

    monkeypatch.setattr(serve_module, "serving", looked)
    with pytest.raises(InterruptedError):
        anyio.run(serve, Settings(tmp_path))
    assert there == [AT_ONCE]
