"""Listening on one address with uvicorn: bounded connections, signals left to whoever started us, and an orderly end."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
from collections.abc import Callable, Generator

import uvicorn
from starlette.types import ASGIApp, Message, Receive

from blendwright.values.errors import EnvironmentUnfit
from blendwright.web.connections import DescriptorExhaustionHandler, GuardedConnection

OnShutdown = Callable[[Callable[[], None]], None]

# As many as the socket accepts at once, so that the limits of connections apply before there are too many.
BACKLOG = 64
GRACE_SECONDS = 5


async def listen(
    app: ASGIApp,
    host: str,
    port: int,
    on_shutdown: OnShutdown,
    *,
    on_listening: Callable[[tuple[str, int]], None] = lambda _: None,
    on_end: Callable[[], None] = lambda: None,
) -> None:
    """Serve until a shutdown is requested; `on_shutdown` is told what to call then, `on_listening` the address once it is ours, and
    `on_end` is called as soon as the end was asked for, while requests are still open. Raises EnvironmentUnfit."""
    config = uvicorn.Config(
        app,
        host=host.strip("[]"),  # brackets are for addresses on the web, not for sockets
        port=port,
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=GRACE_SECONDS,
        http=GuardedConnection,
        ws="none",
        backlog=BACKLOG,
        proxy_headers=False,  # whoever may send requests is not believed about where they come from
        server_header=False,
    )
    asyncio.get_running_loop().set_exception_handler(DescriptorExhaustionHandler())
    web_server = _WebServer(config, lambda: on_listening((host, port)))

    def end() -> None:
        on_end()
        web_server.end()

    on_shutdown(end)
    try:
        await web_server.serve()
    except SystemExit as stopped:
        raise EnvironmentUnfit(f"{host}:{port} cannot be listened on", cure="Name another host or port.") from stopped


def free_port(host: str) -> int:
    """A port of this host that nobody listens on now. Raises EnvironmentUnfit where there is no such host here."""
    if ":" in host:
        family = socket.AF_INET6
    else:
        family = socket.AF_INET
    try:
        with socket.socket(family) as probe:
            probe.bind((host.strip("[]"), 0))
            return probe.getsockname()[1]
    except OSError as error:
        raise EnvironmentUnfit(
            f"{host} cannot be listened on: {error.strerror}", cure="Name another host or port."
        ) from error


class _WebServer(uvicorn.Server):
    """Leaves signals alone: it would raise them again once it has ended, and so end the process before the workspace is closed."""

    def __init__(self, config: uvicorn.Config, on_listening: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_listening = on_listening

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._on_listening()

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        yield

    def end(self) -> None:
        # Not only should_exit: the library of event streams listens here, and streams that are open end at once.
        self.handle_exit(signal.SIGTERM, None)


def replayed(body: bytes, receive: Receive) -> Receive:
    """A receiver that gives the body once more, which was read already."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        if messages:
            return messages.pop()
        return await receive()

    return replay
