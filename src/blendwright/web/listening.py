"""A uvicorn server on one address with bounded connections. It leaves signals to the caller and closes in order."""

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

# Connections that the system queues before the server accepts them. Small, so that the limits of connections apply first.
BACKLOG = 64
SHUTDOWN_GRACE_SECONDS = 5


async def listen(
    app: ASGIApp,
    host: str,
    port: int,
    on_shutdown: OnShutdown,
    *,
    on_listening: Callable[[tuple[str, int]], None] = lambda _: None,
    on_end: Callable[[], None] = lambda: None,
) -> None:
    """Serve until the caller requests a shutdown. Raise EnvironmentUnfit if the address cannot be used.

    `on_shutdown` receives the function that requests the shutdown. `on_listening` receives the address once the server listens.
    `on_end` runs as soon as a shutdown is requested, while requests are still open."""
    config = uvicorn.Config(
        app,
        host=host.strip("[]"),  # sockets expect an IPv6 address without the brackets of a URL
        port=port,
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=SHUTDOWN_GRACE_SECONDS,
        http=GuardedConnection,
        ws="none",
        backlog=BACKLOG,
        proxy_headers=False,  # a client could forge its address in these headers
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
        message = f"cannot listen on {host}:{port}"
        raise EnvironmentUnfit(message, cure="Choose another host or port.") from stopped


def free_port(host: str) -> int:
    """Return a port of this host that no program listens on. Raise EnvironmentUnfit if this machine does not have the address."""
    if ":" in host:
        family = socket.AF_INET6
    else:
        family = socket.AF_INET
    try:
        with socket.socket(family) as probe:
            probe.bind((host.strip("[]"), 0))
            return probe.getsockname()[1]
    except OSError as error:
        message = f"cannot listen on {host}: {error.strerror}"
        raise EnvironmentUnfit(message, cure="Choose another host or port.") from error


class _WebServer(uvicorn.Server):
    """A uvicorn server without signal handling. Uvicorn would raise signals again at its end and stop the process too early to close
    the workspace."""

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
        # Setting `should_exit` is not enough: the event-stream library hooks into `handle_exit` to end open streams at once.
        self.handle_exit(signal.SIGTERM, None)


def replayed(body: bytes, receive: Receive) -> Receive:
    """Return a receiver that first returns a body that was read already, and then continues with `receive`."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        if messages:
            return messages.pop()
        return await receive()

    return replay
