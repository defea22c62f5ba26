"""A Procrastinate connector that repeats a query after a lost connection until the database is back.

Without it, a worker of Procrastinate 3.10 loses its heartbeat and its listener when the database restarts, and continues without them.
A query may run twice: `FleetWorker` finds a job that was fetched by an answer that got lost.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, TypeVar

import psycopg
from procrastinate import PsycopgConnector
from procrastinate.exceptions import ConnectorException
from psycopg_pool import PoolTimeout

from blendwright.fleet.address import Address
from blendwright.fleet.database import PAUSES, connection_settings

Answer = TypeVar("Answer")
# Errors that mean that the server is away or closed the connection. Other errors are answers.
LOST = (psycopg.OperationalError, psycopg.InterfaceError, PoolTimeout)


class PatientConnector(PsycopgConnector):
    """A connector that calls `on_lost` once each time the database goes away."""

    def __init__(self, address: Address, on_lost: Callable[[str], None]) -> None:
        super().__init__(  # pyright: ignore[reportUnknownMemberType]
            conninfo=address.conninfo, kwargs=connection_settings(), min_size=1, max_size=4, timeout=10.0, name="fleet"
        )
        self._on_lost = on_lost

    async def execute_query_async(self, query: Any, **arguments: Any) -> None:
        send = super().execute_query_async
        await self._until_answered(lambda: send(query, **arguments))

    async def execute_query_one_async(self, query: Any, **arguments: Any) -> dict[str, Any]:
        send = super().execute_query_one_async
        return await self._until_answered(lambda: send(query, **arguments))

    async def execute_query_all_async(self, query: Any, **arguments: Any) -> list[dict[str, Any]]:
        send = super().execute_query_all_async
        return await self._until_answered(lambda: send(query, **arguments))

    async def listen_notify(self, on_notification: Any, channels: Iterable[str]) -> None:
        listen, names = super().listen_notify, tuple(channels)
        await self._until_answered(lambda: listen(on_notification, names))

    async def _until_answered(self, send: Callable[[], Awaitable[Answer]]) -> Answer:
        attempt = 0
        while True:
            try:
                return await send()
            except ConnectorException as error:
                if not isinstance(error.__cause__, LOST):
                    raise
                if attempt == 0:
                    self._on_lost(str(error.__cause__).strip().splitlines()[0])
            await asyncio.sleep(PAUSES[min(attempt, len(PAUSES) - 1)])
            attempt += 1
