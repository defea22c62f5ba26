from __future__ import annotations

import json
from typing import Any

import pytest

from blendwright.server.transport.jsonrpc import message_error

# As JSON-RPC has them.
PARSE_ERROR, INVALID_REQUEST = -32700, -32600

GOOD: list[dict[str, Any]] = [
    {"jsonrpc": "2.0", "id": 1, "method": "ping"},
    {"jsonrpc": "2.0", "id": "a", "method": "ping", "params": {}},
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 1, "result": {}},
    {"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "no"}},
]
BAD: list[tuple[bytes, int, str]] = [
    (b"not json", PARSE_ERROR, "not JSON"),
    (b'{"jsonrpc": "2.0", "id": 1, "method": "ping"', PARSE_ERROR, "not JSON"),
    (b"\xff\xfe", PARSE_ERROR, "not JSON"),
    (b"[]", INVALID_REQUEST, "one JSON object"),
    (b"17", INVALID_REQUEST, "one JSON object"),
    (b'{"id": 1, "method": "ping"}', INVALID_REQUEST, '"jsonrpc"'),
    (b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}', INVALID_REQUEST, '"jsonrpc"'),
    (b'{"jsonrpc": 2, "id": 1, "method": "ping"}', INVALID_REQUEST, '"jsonrpc"'),
    (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', INVALID_REQUEST, '"id"'),
    (b'{"jsonrpc": "2.0", "id": true, "method": "ping"}', INVALID_REQUEST, '"id"'),
    (b'{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}', INVALID_REQUEST, '"id"'),
    (b'{"jsonrpc": "2.0", "id": {}, "method": "ping"}', INVALID_REQUEST, '"id"'),
    (b'{"jsonrpc": "2.0", "id": 1}', INVALID_REQUEST, '"method"'),
    (b'{"jsonrpc": "2.0", "id": 1, "method": 7}', INVALID_REQUEST, '"method"'),
    (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": []}', INVALID_REQUEST, '"params"'),
    (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": "x"}', INVALID_REQUEST, '"params"'),
    (b'{"jsonrpc": "2.0", "result": {}}', INVALID_REQUEST, '"id"'),
]


@pytest.mark.parametrize("message", GOOD)
def test_messages_pass(message: dict[str, Any]) -> None:
    assert message_error(json.dumps(message).encode()) is None


@pytest.mark.proves("EXEC-PHASE-11")
@pytest.mark.parametrize(("raw", "code", "said"), BAD)
def test_what_is_none_gets_the_envelope_of_an_error(raw: bytes, code: int, said: str) -> None:
    answer = message_error(raw)
    assert answer is not None
    assert answer.keys() == {"jsonrpc", "id", "error"}
    assert (answer["jsonrpc"], answer["error"]["code"]) == ("2.0", code)
    assert said in answer["error"]["message"]


def test_the_id_comes_back_where_it_can_be_read() -> None:
    answer = message_error(b'{"jsonrpc": "2.0", "id": "mine", "method": 7}')
    assert answer is not None
    assert answer["id"] == "mine"


def test_a_message_that_is_too_large_is_refused() -> None:
    answer = message_error(b'{"jsonrpc": "2.0", "method": "x"}', limit=10)
    assert answer is not None
    assert answer["error"]["code"] == INVALID_REQUEST
