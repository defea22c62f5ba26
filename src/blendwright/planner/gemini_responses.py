"""Reads what Gemini's service says of a call: what it cost, or which error of the port it is. Calls nothing itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

from blendwright.planner.port import (
    KeyRefused,
    PlannerError,
    SchemaForm,
    SchemaRefused,
    ServiceRefused,
    ServiceUnavailable,
    Usage,
)
from blendwright.planner.service_errors import short_message
from blendwright.values.json_shapes import fields_of, items_of

if TYPE_CHECKING:
    from google.genai import errors, types

SECONDS = re.compile(r"(\d+(?:\.\d+)?)s?")


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


def usage_of(response: types.GenerateContentResponse) -> Usage:
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
    inner = fields_of(fields_of(cast("Any", error).details).get("error"))
    return (fields_of(detail) for detail in items_of(inner.get("details")))
