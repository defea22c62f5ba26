"""Moments at which no client of the soak asks for anything: what a server holds then is what it keeps, and not what it works on."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import anyio


class Rests:
    """Brings clients to rest between two rounds, and has one of them, the last that comes to rest, do the same before every look."""

    def __init__(self, clients: int) -> None:
        self._clients = clients
        self._resting = 0
        self._wanted = False
        self._ended = False
        self._all_rest = anyio.Event()
        self._continue = anyio.Event()

    async def go_on(self, before_a_look: Callable[[], Awaitable[None]]) -> bool:
        """For clients, before every round: waits while there is a rest; False at the end."""
        if self._wanted:
            self._resting += 1
            if self._resting == self._clients:
                await before_a_look()
                self._all_rest.set()
            await self._continue.wait()
        return not self._ended

    async def begin(self) -> None:
        """Returns when every client rests."""
        self._resting, self._wanted = 0, True
        self._all_rest, self._continue = anyio.Event(), anyio.Event()
        await self._all_rest.wait()

    def end(self, *, last: bool = False) -> None:
        """Clients go on, or end where it was the last rest."""
        self._wanted, self._ended = False, last
        self._continue.set()
