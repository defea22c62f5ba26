"""Who a client is: what it may do in turn, and what its user allowed for the session, hangs on it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from blendwright.server.client_info import client_id


def context(version: str, port: int, **headers: str) -> Any:
    request = SimpleNamespace(headers=headers, client=SimpleNamespace(host="127.0.0.1", port=port))
    return SimpleNamespace(request=request, protocol_version=version)


@pytest.mark.parametrize("version", sorted(MODERN_PROTOCOL_VERSIONS))
def test_where_there_are_no_sessions_nobody_is_another_client_by_saying_so(version: str) -> None:
    victim = client_id(context(version, 4000))
    assert client_id(context(version, 4001, **{"mcp-session-id": victim})) != victim


def test_a_session_of_the_server_is_the_client_on_every_connection() -> None:
    one, other = (client_id(context("2025-06-18", port, **{"mcp-session-id": "s"})) for port in (1, 2))
    assert one == other == "s"


def test_over_stdio_there_is_one() -> None:
    assert client_id(SimpleNamespace(request=None)) == "stdio"  # pyright: ignore[reportArgumentType]
