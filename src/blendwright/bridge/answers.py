"""Reads the frames that a worker sends; anything but a well-formed answer is a breach of the protocol."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import orjson

from blendwright.values.errors import ProtocolBreach, WorkerFault


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer: a result, or an error. Without an id the worker could not tell which request it was."""

    id: int | None
    result: Any = None
    error: WorkerFault | None = None


def parse_answer(body: bytes) -> Answer:
    """The answer in a frame; raises ProtocolBreach."""
    try:
        message: object = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise ProtocolBreach(f"the worker sent what is not JSON: {error}") from error
    if not isinstance(message, dict):
        raise ProtocolBreach("the worker sent what is not an object")
    answer = cast("dict[str, Any]", message)
    answer_id = answer.get("id")
    if answer.keys() == {"id", "result"} and type(answer_id) is int:
        return Answer(answer_id, answer["result"])
    if answer.keys() == {"id", "error"} and (answer_id is None or type(answer_id) is int):
        return Answer(answer_id, error=_fault(answer["error"]))
    raise ProtocolBreach(f"the worker sent what is not an answer, an object with {sorted(answer)[:8]}")


def _fault(error: object) -> WorkerFault:
    if isinstance(error, dict):
        parts = cast("dict[str, Any]", error)
        code, message = parts.get("code"), parts.get("message")
        if isinstance(code, str) and isinstance(message, str):
            return WorkerFault(code, message)
    raise ProtocolBreach("the worker sent an error without code and message")
