"""Reads what Gemini's service sends: a response, or which error of the port it is. Calls nothing itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

from blendwright.planner.port import (
    Blocked,
    KeyRefused,
    NoResponse,
    PlannerError,
    PlanResponse,
    SchemaForm,
    SchemaRefused,
    ServiceRefused,
    ServiceUnavailable,
    Truncated,
    Usage,
)
from blendwright.planner.service_errors import short_message

if TYPE_CHECKING:
    from google.genai import errors, types

WITHHELD = frozenset({"SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY"})
REWORD = "Say the request in other words."
SECONDS = re.compile(r"(\d+(?:\.\d+)?)s?")


def read_response(response: types.GenerateContentResponse, model: str, form: SchemaForm) -> PlanResponse:
    """The whole text of the first candidate; raises NoAnswer, or a kind of it, where there is none."""
    usage = _usage(response)
    feedback = response.prompt_feedback
    if feedback is not None and feedback.block_reason is not None:
        reason = feedback.block_reason.value
        raise Blocked(f"Gemini does not take the request ({reason})", reason=reason, usage=usage, cure=REWORD)
    candidate = response.candidates[0] if response.candidates else None
    if candidate is None:
        raise ServiceUnavailable("Gemini answered with nothing")
    reason = "NONE" if candidate.finish_reason is None else candidate.finish_reason.value
    parts = (candidate.content.parts if candidate.content else None) or []
    text = "".join(part.text or "" for part in parts if not part.thought)
    if reason in WITHHELD:
        raise Blocked(f"Gemini withheld its answer ({reason})", reason=reason, usage=usage, text=text, cure=REWORD)
    if reason in {"MAX_TOKENS", "NONE"}:
        cure = "Allow more tokens for the answer, or ask for less at once."
        raise Truncated(f"Gemini's answer was cut off ({reason})", reason=reason, usage=usage, text=text, cure=cure)
    if reason != "STOP":
        raise NoResponse(f"Gemini ended without an answer ({reason})", reason=reason, usage=usage, text=text)
    if not text.strip():
        raise NoResponse("Gemini answered with nothing", reason="EMPTY", usage=usage, cure="Try again.")
    return PlanResponse(text, usage, response.model_version or model, reason, form)


def read_error(error: errors.APIError, model: str, form: SchemaForm, key: str) -> PlannerError:
    """Which error of the port an error of the service is."""
    status, text = error.code, short_message(error.message or error.status or "no reason given", key)
    if status in {408, 429} or status >= 500:
        cure = "The quota is used up for the moment: wait, or use another key." if status == 429 else None
        message = f"Gemini answered {status}: {text}"
        return ServiceUnavailable(message, status=status, retry_after=_retry_after(error), cure=cure)
    if status in {401, 403} or "API_KEY_INVALID" in _reasons(error):
        return KeyRefused(f"Gemini refused the key: {text}", cure="Check the key in GEMINI_API_KEY.")
    if status == 404:
        return ServiceRefused(f"Gemini does not know the model '{model}': {text}", cure="Choose another model.")
    # The service does not say in a form for machines what it is that it does not take.
    about_schema = form == "strict" or (form == "packed" and "schema" in text.lower())
    if status == 400 and about_schema:
        return SchemaRefused(f"Gemini does not take the form of the answer: {text}", cure="Try another model.")
    return ServiceRefused(f"Gemini does not take the request ({status}): {text}")


def _usage(response: types.GenerateContentResponse) -> Usage:
    metadata = response.usage_metadata
    if metadata is None:
        return Usage()
    return Usage(
        metadata.prompt_token_count or 0,
        metadata.candidates_token_count or 0,
        metadata.thoughts_token_count or 0,
        metadata.total_token_count or 0,
    )


def _retry_after(error: errors.APIError) -> float | None:
    """Seconds, from the header or from the error's own details."""
    headers: Any = getattr(cast("Any", error).response, "headers", None) or {}
    values = [headers.get("retry-after"), *(detail.get("retryDelay") for detail in _details(error))]
    matches = (SECONDS.fullmatch(str(value).strip()) for value in values if value is not None)
    return next((float(match[1]) for match in matches if match), None)


def _reasons(error: errors.APIError) -> set[str]:
    return {str(detail.get("reason")) for detail in _details(error)}


def _details(error: errors.APIError) -> Iterator[dict[str, Any]]:
    document: Any = cast("Any", error).details
    inner: Any = cast("dict[str, Any]", document).get("error") if isinstance(document, dict) else None
    listed: Any = cast("dict[str, Any]", inner).get("details") if isinstance(inner, dict) else None
    for detail in cast("list[Any]", listed) if isinstance(listed, list) else []:
        if isinstance(detail, dict):
            yield cast("dict[str, Any]", detail)
