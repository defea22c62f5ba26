"""The host of a request: its profile and abilities, an id for its client, and the progress that it is told."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.server.session import ServerSession

from blendwright.policy.session_contract import HostProfile, Proposal
from blendwright.server.responses import sanitise

RequestContext = ServerRequestContext[Any, Any]
LONGEST_NAME = 200
# Of a longer run only about this many operations are reported, so that reporting never costs more than running.
MOST_REPORTED = 200


def contract_proposal(ctx: RequestContext) -> Proposal:
    """The contract that is negotiated with this host: its profile, and all that the policy grants."""
    params = ctx.session.client_params
    info = None if params is None else params.client_info
    host = HostProfile(
        name=_name(None if info is None else info.name),
        version=_name(None if info is None else info.version),
        transport="stdio" if ctx.request is None else "http",
        streaming=True,
        cancellation=True,
        elicitation=supports_elicitation(ctx),
    )
    return Proposal(host=host)


def supports_elicitation(ctx: RequestContext) -> bool:
    """Whether the host can put a question to its user."""
    capabilities = ctx.session.client_capabilities
    return capabilities is not None and capabilities.elicitation is not None


def client_id(ctx: RequestContext) -> str:
    """The client, as far as the transport tells clients apart: over stdio there is only one."""
    request: Any = ctx.request
    if request is None:
        return "stdio"
    headers: Mapping[str, str] = getattr(request, "headers", {})
    session = headers.get("mcp-session-id")
    if session:
        return session
    address: Any = getattr(request, "client", None)
    return "http" if address is None else f"{address.host}:{address.port}"


def _name(text: str | None) -> str:
    name: str = sanitise(text or "")[:LONGEST_NAME].strip()
    return name or "unknown"


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
