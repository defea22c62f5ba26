"""JSON-RPC framing (phase 0 of a call): the form of a message, and the error for a malformed one.

Both transports use it, so that a malformed message gets the same answer over either.
"""

from __future__ import annotations

from typing import Any, cast

import orjson

from blendwright.schemas.json_reader import read_json

# The largest message in bytes. It is larger than any valid plan and small enough that no client can fill the memory.
MAX_MESSAGE_BYTES = 64 * 1024 * 1024

PARSE_ERROR = -32700
INVALID_REQUEST = -32600


def message_error(raw: bytes, limit: int = MAX_MESSAGE_BYTES) -> dict[str, Any] | None:
    """Return the error to send back for a malformed message, or None for a valid one."""
    if len(raw) > limit:
        return error_response(INVALID_REQUEST, f"a message may have at most {limit} bytes")
    # The reader of the arguments checks numbers and depths, because it can report JSON pointers.
    message, findings = read_json(raw, any_value=True)
    if findings:
        first = findings[0]
        where = ""
        if first.pointer:
            where = f" at {first.pointer}"
        return error_response(PARSE_ERROR, f"{first.message}{where}", _id_of(raw))
    if not isinstance(message, dict):
        return error_response(INVALID_REQUEST, "a message must be one JSON object; the protocol has no batches")
    fields = cast("dict[str, Any]", message)
    problem = _problem(fields)
    if problem is None:
        return None
    return error_response(INVALID_REQUEST, problem, fields.get("id"))


def _id_of(raw: bytes) -> Any:
    """Return the id of a message with duplicate keys, so that its sender gets an answer."""
    try:
        message: Any = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return None
    if isinstance(message, dict):
        return cast("dict[str, Any]", message).get("id")
    return None


def _problem(message: dict[str, Any]) -> str | None:
    if message.get("jsonrpc") != "2.0":
        return '"jsonrpc" must be "2.0"'
    if "id" in message and not _is_id(message["id"]):
        return '"id" must be a string or an integer'
    if "method" in message:
        if not isinstance(message["method"], str):
            return '"method" must be a string'
        if "params" in message and not isinstance(message["params"], dict):
            return '"params" must be an object'
        return None
    if "result" in message or "error" in message:
        if "id" in message:
            return None
        return 'an answer needs the "id" of its request'
    return 'a message needs "method", "result" or "error"'


def _is_id(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool))


def error_response(code: int, message: str, id: Any = None) -> dict[str, Any]:
    if not _is_id(id):
        id = None
    return {"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}}
