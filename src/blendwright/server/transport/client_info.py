"""The host of a request: its profile and abilities, an id for its client, and the progress that it is told."""

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
# Where a host may say what it can take, among the capabilities that it declares: in either place the fields of HostLimits.
NOTHING_SAID = HostLimits()
EXPERIMENTAL = "blendwright"
EXTENSION = "dev.blendwright/host-profile"
# Of a longer run only about this many operations are reported, so that reporting never costs more than running.
MAX_PROGRESS_REPORTS = 200


def host_statements(ctx: RequestContext, given: Sequence[HostStatement]) -> tuple[HostStatement, ...]:
    """What is said about this host: by whoever started the server, then by itself. Raises Refusal for what it says and nobody knows."""
    capabilities = ctx.session.client_capabilities
    experimental = (None if capabilities is None else capabilities.experimental) or {}
    extensions = (None if capabilities is None else capabilities.extensions) or {}
    own = [
        HostStatement("initialize", _host_limits(where, name, said[name]))
        for where, name, said in (("experimental", EXPERIMENTAL, experimental), ("extensions", EXTENSION, extensions))
        if name in said
    ]
    return (*given, *own)


def _host_limits(where: str, name: str, said: Mapping[str, Any]) -> HostLimits:
    try:
        return HostLimits.model_validate_json(orjson.dumps(said))
    except ValidationError as error:
        place = pointer_of(("capabilities", where, name))
        cure = f"A host may say: {', '.join(HostLimits.model_fields)}."
        findings = [
            Finding(Fault.SCHEMA_INVALID, f"the host's capabilities: {message}", place + pointer_of(loc), cure)
            for loc, message in model_problems(error)
        ]
        raise Refusal(findings) from error


def contract_proposal(ctx: RequestContext, statements: Sequence[HostStatement]) -> Proposal:
    """The contract that is negotiated with this host: its profile, and all that the policy grants."""
    params = ctx.session.client_params
    if params is None:
        info = None
    else:
        info = params.client_info
    if statements:
        said = combined(statements)
    else:
        said = NOTHING_SAID
    host = HostProfile(
        name=_name(None if info is None else info.name),
        version=_name(None if info is None else info.version),
        transport="stdio" if ctx.request is None else "http",
        payload_bytes=said.payload_bytes,
        call_seconds=said.call_seconds,
        streaming=said.streaming is not False,
        cancellation=said.cancellation is not False,
        elicitation=supports_elicitation(ctx),
        envelope=said.envelope or "tool_result",
        verification=said.verification or "writes",
    )
    return Proposal(host=host, determinism=said.determinism)


def supports_elicitation(ctx: RequestContext) -> bool:
    """Whether the host can put a question to its user."""
    capabilities = ctx.session.client_capabilities
    return capabilities is not None and capabilities.elicitation is not None


def client_id(ctx: RequestContext) -> str:
    """The client, as far as the transport tells clients apart: over stdio there is only one.

    The id of a session is given out by the server where there are sessions; elsewhere anybody could say that it is theirs, and a client
    is its connection, which has an id that nobody else ever gets. Who cannot be told apart is nobody that was there before."""
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
    """Callable from any thread. `flush` waits until everything that was reported has been sent.

    `session` is replaced when a call comes again: progress belongs to the request that is open. A host that does not take answers
    in parts is told nothing, and nobody is told anything once the call has `ended`: a thread can outlive a call that was cancelled, and
    what it reports while the loop shuts down would be sent by a task that nobody waits for."""

    def __init__(self, session: ServerSession, *, streaming: bool = True) -> None:
        self.session = session
        self._streaming = streaming
        self._loop = asyncio.get_running_loop()
        self._last: Future[None] | None = None
        self.ended = False
        self._telling: set[asyncio.Task[None]] = set()

    def __call__(self, done: float, total: float | None, message: str) -> None:
        if self.ended or not self._streaming or self._loop.is_closed():
            return
        if total is None:
            every = 1
        else:
            every = max(1, int(total) // MAX_PROGRESS_REPORTS)
        if int(done) % every and done != total:
            return
        told: Future[None] = Future()

        def tell() -> None:
            if self.ended:
                told.set_result(None)
                return
            # Made here, in the loop: one that ends first would leave behind what nobody waits for.
            telling = self._loop.create_task(self.session.report_progress(done, total, message))
            self._telling.add(telling)
            telling.add_done_callback(partial(self._told, told))

        try:
            self._loop.call_soon_threadsafe(tell)
        except RuntimeError:
            return  # it has ended just now
        self._last = told

    def _told(self, told: Future[None], ended: asyncio.Task[None]) -> None:
        """Whether the client has heard it matters to nobody."""
        self._telling.discard(ended)
        if not ended.cancelled():
            ended.exception()
        told.set_result(None)

    async def flush(self) -> None:
        if self._last is not None:
            await asyncio.wait([asyncio.wrap_future(self._last)])
