"""Who the host is, as it announces itself: the profile that the contract with it is negotiated from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcp.server.context import ServerRequestContext

from blendwright.policy.host_profile import HostProfile
from blendwright.policy.session_contract import Proposal
from blendwright.server.answers import clean

Context = ServerRequestContext[Any, Any]
LONGEST_WORD = 200


def proposal_of(ctx: Context) -> Proposal:
    """All that the policy grants, for this host."""
    params = ctx.session.client_params
    info = None if params is None else params.client_info
    host = HostProfile(
        name=_word(None if info is None else info.name, "unknown"),
        version=_word(None if info is None else info.version, "unknown"),
        transport="stdio" if ctx.request is None else "http",
        streaming=True,
        cancellation=True,
        elicitation=can_ask(ctx),
    )
    return Proposal(host=host)


def can_ask(ctx: Context) -> bool:
    """Whether the host's user can be asked."""
    announced = ctx.session.client_capabilities
    return announced is not None and announced.elicitation is not None


def client_of(ctx: Context) -> str:
    """Who asks, as far as the transport tells clients apart: over stdio there is only one."""
    request: Any = ctx.request
    if request is None:
        return "stdio"
    headers: Mapping[str, str] = getattr(request, "headers", {})
    session = headers.get("mcp-session-id")
    if session:
        return session
    where: Any = getattr(request, "client", None)
    return "http" if where is None else f"{where.host}:{where.port}"


def _word(text: str | None, otherwise: str) -> str:
    found: str = clean(text or "")[:LONGEST_WORD].strip()
    return found or otherwise
