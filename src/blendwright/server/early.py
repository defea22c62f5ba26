"""The reception that was opened before the program was loaded, for the server that takes over from it."""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Sequence

from blendwright.server.early_server import EarlyServer, early_server, recorded

# Larger than any plan that the dialects accept, small enough that nobody can fill the memory.
LARGEST_MESSAGE = 64 * 1024 * 1024

_opened: list[EarlyServer] = []


@contextlib.contextmanager
def receive_early(arguments: Sequence[str]) -> Generator[None]:
    """What is recorded is the server without further options: with others, every answer is the server's own."""
    plain = not any(part.startswith("--tools") for part in arguments)
    with early_server(LARGEST_MESSAGE, answers=recorded() if plain else None) as wire:
        _opened.append(wire)
        try:
            yield
        finally:
            _opened.remove(wire)


@contextlib.contextmanager
def wire() -> Generator[EarlyServer]:
    """The reception of this process: the one that is open already, or a new one."""
    if _opened:
        yield _opened[0]
        return
    with early_server(LARGEST_MESSAGE) as opened:
        yield opened
