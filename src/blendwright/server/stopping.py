"""Signals that ask a server to end: the first is heeded, so that the workspace is closed; another does what it always does."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable, Generator

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Stop:
    """`heard` is the signal that came, if one did. Until somebody says how the server is ended, it is only remembered."""

    def __init__(self) -> None:
        self.heard: signal.Signals | None = None
        self._end: Callable[[], None] | None = None

    def by(self, end: Callable[[], None]) -> None:
        """How to end what is served from now on; at once, where a signal came already."""
        self._end = end
        if self.heard is not None:
            end()

    def hear(self, number: signal.Signals) -> None:
        self.heard = number
        if self._end is not None:
            self._end()


@contextlib.contextmanager
def heeding_signals() -> Generator[Stop]:
    """Where an event loop runs in the main thread."""
    loop, stop = asyncio.get_running_loop(), Stop()

    def as_ever() -> None:
        for number in SIGNALS:
            loop.remove_signal_handler(number)

    def heard(number: signal.Signals) -> None:
        as_ever()
        stop.hear(number)

    for number in SIGNALS:
        loop.add_signal_handler(number, heard, number)
    try:
        yield stop
    finally:
        as_ever()
