"""A real console on a loopback port, in a thread, and a client that opened its link."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import httpx2

from blendwright.console.application import Console
from blendwright.console.guard import PAGE_KEY
from blendwright.console.serve import ConsoleSettings, make_console
from blendwright.console.workspaces import Acting
from blendwright.web.listening import free_port, listen


@dataclass(slots=True)
class OpenConsole:
    """`link` is one that nobody used yet."""

    console: Console
    origin: str
    _clients: list[httpx2.Client] = field(default_factory=list[httpx2.Client])

    @property
    def link(self) -> str:
        return self.console.new_link()

    @property
    def secret(self) -> str:
        return self.link.partition("#link=")[2]

    def client(self, **headers: str) -> httpx2.Client:
        """Whoever has no session, on a page of the console itself."""
        web = httpx2.Client(base_url=self.origin, headers={"Origin": self.origin, **headers}, timeout=120)
        self._clients.append(web)
        return web

    def close(self) -> None:
        for web in self._clients:
            web.close()

    def session(self) -> Page:
        web = self.client()
        told = web.post("/api/session", json={"link": self.secret})
        assert told.status_code == 200, told.text
        return Page(web, told.json())


class Page:
    """A tab that has a session: its key goes with every request, as from the scripts of the page."""

    def __init__(self, web: httpx2.Client, told: dict[str, Any]) -> None:
        self.web = web
        self.told = told
        web.headers[PAGE_KEY] = told["key"]
        kind = "workspaces" if told["workspaces"] else "batches"
        self.path = f"/api/{kind}/{told[kind][0]['id']}"

    def get(self, path: str = "") -> httpx2.Response:
        return self.web.get(self.path + path)

    def read(self, path: str = "") -> Any:
        answer = self.get(path)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def act(self, path: str, **fields: Any) -> httpx2.Response:
        return self.web.post(self.path + path, json=fields)


@contextlib.contextmanager
def open_console(
    *workspaces: Path,
    batches: Sequence[Path] = (),
    engine: str | None = None,
    places: Sequence[str] = (),
    read_only: bool = False,
    acting: Acting | None = None,
    blender: str | None = None,
    window_key: str | None = None,
) -> Generator[OpenConsole]:
    settings = ConsoleSettings(
        tuple(workspaces),
        tuple(batches),
        engine,
        tuple(places),
        port=free_port("127.0.0.1"),
        read_only=read_only,
        blender=blender,
        window_key=window_key,
    )
    console = make_console(settings, acting)
    listening, ends = threading.Event(), list[Any]()

    async def serve() -> None:
        await listen(
            console.application,
            settings.host,
            settings.port,
            ends.append,
            on_listening=lambda _: listening.set(),
            on_end=console.live.close,
        )

    def run() -> None:
        anyio.run(serve)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        assert listening.wait(60)
        with contextlib.closing(OpenConsole(console, f"http://127.0.0.1:{settings.port}")) as opened:
            yield opened
    finally:
        for end in ends:
            end()
        thread.join(60)
        console.close()
        assert not thread.is_alive()


def events(lines: Sequence[str]) -> list[str]:
    """The names of the events in a stream."""
    return [line.removeprefix("event: ") for line in lines if line.startswith("event: ")]
