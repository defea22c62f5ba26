"""Orderly shutdown: the first signal closes the server and its workspace; a second signal has its normal effect."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable, Generator

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Shutdown:
    """A requested shutdown. `signal` is the received signal, or None. It is kept until `on_request` names the function to call."""

    def __init__(self) -> None:
        self.signal: signal.Signals | None = None
        self._end: Callable[[], None] | None = None

    def on_request(self, end: Callable[[], None]) -> None:
        """Call `end` when a signal arrives, or at once if one has arrived already."""
        self._end = end
        if self.signal is not None:
            end()

    def request(self, received: signal.Signals) -> None:
        self.signal = received
        if self._end is not None:
            self._end()


@contextlib.contextmanager
def shutdown_on_signals() -> Generator[Shutdown]:
    """Handle signals while the context is active. Requires an event loop in the main thread."""
    loop, shutdown = asyncio.get_running_loop(), Shutdown()

    def restore_handlers() -> None:
        for number in SIGNALS:
            loop.remove_signal_handler(number)

    def handle(received: signal.Signals) -> None:
        restore_handlers()
        shutdown.request(received)

    for number in SIGNALS:
        loop.add_signal_handler(number, handle, number)
    try:
        yield shutdown
    finally:
        restore_handlers()
