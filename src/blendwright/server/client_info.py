"""The host of a request, as it announces itself: its profile, its abilities, and an id for its client."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcp.server.context import ServerRequestContext

from blendwright.policy.session_contract import HostProfile, Proposal
from blendwright.server.responses import sanitise

RequestContext = ServerRequestContext[Any, Any]
LONGEST_NAME = 200


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
