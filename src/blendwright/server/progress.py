"""Progress notifications of a run, sent to the host that asked for it: from the workspace's thread to the event loop, in order."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future

from mcp.server.session import ServerSession

# Of a longer run only about this many operations are reported, so that reporting never costs more than running.
MOST_REPORTED = 200


class ProgressReporter:
    """Callable from any thread. `flush` waits until everything that was reported has been sent.

    `session` is replaced when a call comes again: progress belongs to the request that is open."""

    def __init__(self, session: ServerSession) -> None:
        self.session = session
        self._loop = asyncio.get_running_loop()
        self._last: Future[None] | None = None

    def __call__(self, done: float, total: float | None, message: str) -> None:
        every = 1 if total is None else max(1, int(total) // MOST_REPORTED)
        if int(done) % every and done != total:
            return
        self._last = asyncio.run_coroutine_threadsafe(self.session.report_progress(done, total, message), self._loop)

    async def flush(self) -> None:
        if self._last is not None:
            await asyncio.wait([asyncio.wrap_future(self._last)])
