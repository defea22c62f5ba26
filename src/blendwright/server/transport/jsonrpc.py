"""JSON-RPC framing (phase 0 of a call): what a message must be, and the error for one that is not.

Shared by both transports, so that a malformed message gets the same answer over either.
"""

from __future__ import annotations

from typing import Any, cast

import orjson

from blendwright.schemas.json_reader import read_json

# In bytes: larger than any plan that the dialects accept, small enough that no client can fill the memory.
MAX_MESSAGE_BYTES = 64 * 1024 * 1024

PARSE_ERROR = -32700
INVALID_REQUEST = -32600


def message_error(raw: bytes, limit: int = MAX_MESSAGE_BYTES) -> dict[str, Any] | None:
    """The error to send back for a message that is none; None when it is one."""
    if len(raw) > limit:
        return error_response(INVALID_REQUEST, f"a message has at most {limit} bytes")
    # What numbers and depths may be is for the reader of the arguments to say, with their pointers.
    message, findings = read_json(raw, any_value=True)
    if findings:
        first = findings[0]
        if first.pointer:
            where = f" at {first.pointer}"
        else:
            where = ""
        return error_response(PARSE_ERROR, f"{first.message}{where}", _id_of(raw))
    if not isinstance(message, dict):
        return error_response(INVALID_REQUEST, "a message is one JSON object; batches are not part of the protocol")
    fields = cast("dict[str, Any]", message)
    problem = _problem(fields)
    if problem is None:
        return None
    return error_response(INVALID_REQUEST, problem, fields.get("id"))


def _id_of(raw: bytes) -> Any:
    """The id of a message that repeats a key, so that whoever waits for an answer gets one."""
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
        return '"id" must be a text or an integer'
    if "method" in message:
        if not isinstance(message["method"], str):
            return '"method" must be a text'
        if "params" in message and not isinstance(message["params"], dict):
            return '"params" must be an object'
        return None
    if "result" in message or "error" in message:
        if "id" in message:
            return None
        return 'an answer needs the "id" of its request'
    return 'a message needs a "method", or is an answer with "result" or "error"'


def _is_id(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool))


def error_response(code: int, message: str, id: Any = None) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id if _is_id(id) else None, "error": {"code": code, "message": message}}
