"""The documents that the service sends: answers, blocks and errors, as its REST reference has them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

import jsonschema_rs

STATUS = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}
DOMAIN = "googleapis.com"


def error_document(
    code: int, message: str, *, reason: str | None = None, retry_seconds: float | None = None
) -> dict[str, Any]:
    details: list[dict[str, Any]] = []
    if reason is not None:
        details.append({"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason, "domain": DOMAIN})
    if retry_seconds is not None:
        details.append({"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": f"{retry_seconds:g}s"})
    error: dict[str, Any] = {"code": code, "message": message, "status": STATUS.get(code, "UNKNOWN")}
    return {"error": error | ({"details": details} if details else {})}


def answer_document(
    answer: Mapping[str, Any], schema: Mapping[str, Any] | None, prompt: str, model: str
) -> dict[str, Any]:
    """The whole answer, as generateContent gives it."""
    parts = _parts(answer, schema)
    said = sum(len(json.dumps(part)) for part in parts) // 4
    counted = {"promptTokenCount": len(prompt) // 4, "candidatesTokenCount": said, **answer.get("usage", {})}
    counted["totalTokenCount"] = sum(counted.values())
    document: dict[str, Any] = {"usageMetadata": counted, "modelVersion": model, "responseId": "r-1"}
    if "blocked" in answer:
        return document | {"promptFeedback": {"blockReason": answer["blocked"]}}
    finish = answer.get("finish", "STOP")
    candidate: dict[str, Any] = {"index": 0, "content": {"role": "model", "parts": parts}}
    return document | {"candidates": [candidate | ({"finishReason": finish} if finish else {})]}


def _parts(answer: Mapping[str, Any], schema: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    thoughts = [{"text": answer["thoughts"], "thought": True}] if "thoughts" in answer else []
    if "call" in answer:
        return [*thoughts, {"functionCall": answer["call"]}]
    if "plan" in answer:
        return [*thoughts, {"text": json.dumps(answer["plan"] if schema is None else fitted(answer["plan"], schema))}]
    return [*thoughts, {"text": answer["text"]}] if "text" in answer else thoughts


def stream_of(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The same in pieces, as streamGenerateContent sends them: text in halves, the reason to finish and the counts with the last."""
    whole = dict(document)
    candidate = cast("dict[str, Any]", (whole.get("candidates") or [{}])[0])
    parts = cast("list[dict[str, Any]]", candidate.get("content", {}).get("parts", []))
    if len(parts) != 1 or "text" not in parts[0]:
        return [whole]
    text = parts[0]["text"]
    pieces = [text[: len(text) // 2], text[len(text) // 2 :]]
    contents = [{"role": "model", "parts": [{"text": piece}]} for piece in pieces]
    first = {"candidates": [{"index": 0, "content": contents[0]}], "modelVersion": whole["modelVersion"]}
    return [first, whole | {"candidates": [candidate | {"content": contents[1]}]}]


def fitted(value: Any, schema: Mapping[str, Any]) -> Any:
    """A value as a model writes it under a schema: what the schema has as `name_json` becomes a string. What fits nothing stays."""
    if "anyOf" in schema:
        written = [fitted(value, option) for option in schema["anyOf"]]
        fitting = [one for one, option in zip(written, schema["anyOf"], strict=True) if _fits(one, option)]
        return fitting[0] if fitting else value
    if isinstance(value, list):
        return [fitted(part, schema.get("items", {})) for part in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    known = schema.get("properties", {})
    found: dict[str, Any] = {}
    for name, inner in cast("dict[str, Any]", value).items():
        if name not in known and f"{name}_json" in known:
            found[f"{name}_json"] = json.dumps(inner)
        else:
            found[name] = fitted(inner, known.get(name, {}))
    return found


def _fits(value: Any, schema: Mapping[str, Any]) -> bool:
    return jsonschema_rs.validator_for(dict(schema)).is_valid(value)
