"""The host of a request: its profile and abilities, the id of its client, and progress reports to it."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from functools import partial
from typing import Any

import orjson
from mcp.server.context import ServerRequestContext
from mcp.server.session import ServerSession
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from blendwright.policy.host_profile import HostLimits, HostProfile, HostStatement, combined
from blendwright.policy.session_contract import Proposal
from blendwright.schemas.check import model_problems
from blendwright.server.answers.response import sanitise
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding, pointer_of
from blendwright.web import CONNECTION_ID

RequestContext = ServerRequestContext[Any, Any]
MAX_NAME_CHARACTERS = 200
# The keys under which a host may declare its limits among its experimental capabilities and extensions, with the fields of HostLimits.
EXPERIMENTAL = "blendwright"
EXTENSION = "dev.blendwright/host-profile"
# The approximate number of progress reports of a long run, so that reporting never costs more than running.
MAX_PROGRESS_REPORTS = 200


def host_statements(ctx: RequestContext, given: Sequence[HostStatement]) -> tuple[HostStatement, ...]:
    """Return the statements about this host: first `given` from the start of the server, then its own.

    Raises Refusal for statements of the host with unknown fields or values.
    """
    capabilities = ctx.session.client_capabilities
    experimental = (None if capabilities is None else capabilities.experimental) or {}
    extensions = (None if capabilities is None else capabilities.extensions) or {}
    statements = [*given]
    if EXPERIMENTAL in experimental:
        limits = _host_limits("experimental", EXPERIMENTAL, experimental[EXPERIMENTAL])
        statements.append(HostStatement("initialize", limits))
    if EXTENSION in extensions:
        limits = _host_limits("extensions", EXTENSION, extensions[EXTENSION])
        statements.append(HostStatement("initialize", limits))
    return tuple(statements)


def _host_limits(where: str, name: str, fields: Mapping[str, Any]) -> HostLimits:
    try:
        return HostLimits.model_validate_json(orjson.dumps(fields))
    except ValidationError as error:
        pointer = pointer_of(("capabilities", where, name))
        fix = f"A host may declare: {', '.join(HostLimits.model_fields)}."
        findings = [
            Finding(Fault.SCHEMA_INVALID, f"the host's capabilities: {message}", pointer + pointer_of(loc), fix)
            for loc, message in model_problems(error)
        ]
        raise Refusal(findings) from error


def contract_proposal(ctx: RequestContext, statements: Sequence[HostStatement]) -> Proposal:
    """Return the contract to negotiate with this host: its profile and everything that the policy grants."""
    params = ctx.session.client_params
    name = version = None
    if params is not None:
        name, version = params.client_info.name, params.client_info.version
    limits = HostLimits()
    if statements:
        limits = combined(statements)
    host = HostProfile(
        name=_name(name),
        version=_name(version),
        transport="stdio" if ctx.request is None else "http",
        payload_bytes=limits.payload_bytes,
        call_seconds=limits.call_seconds,
        streaming=limits.streaming is not False,
        cancellation=limits.cancellation is not False,
        elicitation=supports_elicitation(ctx),
        envelope=limits.envelope or "tool_result",
        verification=limits.verification or "writes",
    )
    return Proposal(host=host, determinism=limits.determinism)


def supports_elicitation(ctx: RequestContext) -> bool:
    """Return whether the host can ask its user a question."""
    capabilities = ctx.session.client_capabilities
    return capabilities is not None and capabilities.elicitation is not None


def client_id(ctx: RequestContext) -> str:
    """Return an id of the client that no other client can use. Over stdio there is only one client.

    With sessions the id is the session's, which the server issued. Without sessions a client could claim any session,
    so the id is that of its connection. A request without either gets a new random id.
    """
    request: Any = ctx.request
    if request is None:
        return "stdio"
    headers: Mapping[str, str] = getattr(request, "headers", {})
    session = headers.get("mcp-session-id")
    if session and ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS:
        return f"session-{session}"
    scope: Mapping[str, Any] = getattr(request, "scope", {})
    return scope.get(CONNECTION_ID) or f"request-{secrets.token_hex(16)}"


def _name(text: str | None) -> str:
    name: str = sanitise(text or "")[:MAX_NAME_CHARACTERS].strip()
    return name or "unknown"


class ProgressReporter:
    """Reports progress to the client of a request. Callable from any thread.

    A multi-round call replaces `session` with that of its current request. The reporter sends nothing to hosts that
    do not stream, and nothing after `ended` is set, because a thread can outlive its cancelled call.
    """

    def __init__(self, session: ServerSession, *, streaming: bool = True) -> None:
        self.session = session
        self._streaming = streaming
        self._loop = asyncio.get_running_loop()
        self._last: Future[None] | None = None
        self.ended = False
        self._sending: set[asyncio.Task[None]] = set()

    def __call__(self, done: float, total: float | None, message: str) -> None:
        if self.ended or not self._streaming or self._loop.is_closed():
            return
        interval = 1
        if total is not None:
            interval = max(1, int(total) // MAX_PROGRESS_REPORTS)
        if int(done) % interval and done != total:
            return
        sent: Future[None] = Future()

        def send() -> None:
            if self.ended:
                sent.set_result(None)
                return
            # Create the coroutine in the loop. A loop that ends earlier would leave it behind without a task.
            task = self._loop.create_task(self.session.report_progress(done, total, message))
            self._sending.add(task)
            task.add_done_callback(partial(self._mark_sent, sent))

        try:
            self._loop.call_soon_threadsafe(send)
        except RuntimeError:
            return  # the loop has just ended
        self._last = sent

    def _mark_sent(self, sent: Future[None], task: asyncio.Task[None]) -> None:
        """Complete `sent`, also after an error: a report that does not arrive has no consequence."""
        self._sending.discard(task)
        if not task.cancelled():
            task.exception()
        sent.set_result(None)

    async def flush(self) -> None:
        """Wait until every report has been sent."""
        if self._last is not None:
            await asyncio.wait([asyncio.wrap_future(self._last)])
