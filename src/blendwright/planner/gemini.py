"""Gemini as a planner, on google-genai. The key goes into one header and nowhere else.

Importing google-genai takes half a second, so the first call loads it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

from pydantic import SecretStr

from blendwright.planner import port
from blendwright.planner.port import PlannerError, PlanRequest, PlanResponse, SchemaForm, ServiceUnavailable, Usage
from blendwright.planner.service_planner import ServicePlanner, short_message, timed_out, unreachable
from blendwright.util.json_shapes import fields_of, items_of
from blendwright.values.errors import EnvironmentUnfit

if TYPE_CHECKING:
    from google.genai import errors, types

Thinking = Literal["minimal", "low", "medium", "high"]

DEFAULT_MODEL = "gemini-2.5-flash"
KEYS = ("GEMINI_API_KEY", "GOOGLE_API_KEY")
MODEL = "BLENDWRIGHT_GEMINI_MODEL"
THINKING = "BLENDWRIGHT_GEMINI_THINKING"
# Statuses of temporary failures. 429 is not among them, because its response gives the waiting time, and the caller decides about it.
TRANSIENT = [408, 500, 502, 503, 504]
WITHHELD = frozenset({"SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY"})
SECONDS = re.compile(r"(\d+(?:\.\d+)?)s?")


@dataclass(frozen=True, slots=True)
class GeminiSettings:
    """Settings of Gemini.

    `tries` is the number of calls per question; `first_wait` is the seconds before the second, doubled for each next.
    """

    api_key: SecretStr | None = None
    model: str = DEFAULT_MODEL
    thinking: Thinking | None = None
    base_url: str | None = None
    tries: int = 3
    first_wait: float = 1.0

    @classmethod
    def from_environment(
        cls, environment: Mapping[str, str] | None = None, *, model: str | None = None, thinking: Thinking | None = None
    ) -> GeminiSettings:
        """Return settings from the variables that docs/planner.md lists. Arguments take precedence."""
        variables = os.environ
        if environment is not None:
            variables = environment
        api_key = None
        for name in reversed(KEYS):
            value = variables.get(name, "").strip()
            if value:
                api_key = SecretStr(value)
        return cls(
            api_key=api_key,
            model=model or variables.get(MODEL) or DEFAULT_MODEL,
            thinking=thinking or _level(variables.get(THINKING, "")),
            base_url=variables.get("GOOGLE_GEMINI_BASE_URL") or None,
        )


def _level(level: str) -> Thinking | None:
    levels = get_args(Thinking)
    if level and level not in levels:
        raise EnvironmentUnfit(f"{THINKING} is '{level[:20]}'", cure=f"Set it to one of: {', '.join(levels)}.")
    if level:
        return cast("Thinking", level)
    return None


class GeminiPlanner(ServicePlanner):
    """A planner that calls Gemini."""

    service = "Gemini"
    cut_off = frozenset({"MAX_TOKENS", "NONE"})

    def __init__(self, settings: GeminiSettings) -> None:
        if settings.api_key is None or not settings.api_key.get_secret_value():
            cure = f"Get a key at https://aistudio.google.com/apikey and set {KEYS[0]}, or use another planner."
            raise port.KeyMissing("no key for Gemini was found", cure=cure)
        self._settings = settings
        self._secret = settings.api_key.get_secret_value()
        super().__init__(self._secret, settings.model, settings.base_url)

    def _load(self) -> None:
        import_module("google.genai")

    async def _call(self, request: PlanRequest, schema: Mapping[str, Any] | None) -> types.GenerateContentResponse:
        """Make one call, with the retries of its settings."""
        from google import genai

        options = self._http_options(request.allowance.seconds)
        async with genai.Client(api_key=self._secret, vertexai=False, http_options=options).aio as service:
            return await service.models.generate_content(
                model=self.model, contents=_contents(request.turns), config=self._config(request, schema)
            )

    def _problem(self, error: Exception, request: PlanRequest, form: SchemaForm) -> PlannerError | None:
        import httpx2
        from google.genai import errors

        if isinstance(error, errors.APIError):
            return read_error(error, self.model, form, self._secret)
        if isinstance(error, httpx2.TimeoutException):
            return timed_out(self.service, request.allowance.seconds)
        if isinstance(error, OSError | httpx2.HTTPError | httpx2.InvalidURL):
            return unreachable(self.service, error, self._secret)
        return None

    def _response(self, answer: types.GenerateContentResponse, form: SchemaForm) -> PlanResponse:
        """Return the text of the first candidate. Raise an error of the port if it is missing or incomplete."""
        usage = usage_of(answer)
        feedback = answer.prompt_feedback
        if feedback is not None and feedback.block_reason is not None:
            reason, cure = feedback.block_reason.value, "Rephrase the request."
            raise port.Blocked(f"Gemini does not accept the request ({reason})", reason=reason, usage=usage, cure=cure)
        if not answer.candidates:
            raise ServiceUnavailable("Gemini returned an empty answer")

        candidate = answer.candidates[0]
        reason = "NONE"
        if candidate.finish_reason is not None:
            reason = candidate.finish_reason.value
        parts: list[types.Part] = []
        if candidate.content:
            parts = candidate.content.parts or []
        text = "".join(part.text or "" for part in parts if not part.thought)
        if reason not in {"STOP", *self.cut_off, *WITHHELD}:
            raise port.NoResponse(f"Gemini ended without an answer ({reason})", reason=reason, usage=usage, text=text)
        return self._whole(text, reason, usage, form, withheld=reason in WITHHELD, model=answer.model_version)

    def _http_options(self, seconds: float) -> types.HttpOptions:
        from google.genai import types

        return types.HttpOptions(
            base_url=self._settings.base_url,
            timeout=max(1, round(seconds * 1000)),
            retry_options=types.HttpRetryOptions(
                attempts=self._settings.tries,
                initial_delay=self._settings.first_wait,
                jitter=self._settings.first_wait,
                http_status_codes=TRANSIENT,
            ),
        )

    def _config(self, request: PlanRequest, schema: Mapping[str, Any] | None) -> types.GenerateContentConfig:
        from google.genai import types

        response_schema = thinking_config = None
        if schema is not None:
            response_schema = dict(schema)
        level = self._settings.thinking
        if level is not None:
            thinking_config = types.ThinkingConfig(thinking_level=types.ThinkingLevel(level.upper()))
        return types.GenerateContentConfig(
            system_instruction=request.system,
            max_output_tokens=request.allowance.output_tokens,
            response_mime_type="application/json",
            response_json_schema=response_schema,
            thinking_config=thinking_config,
        )


def _contents(turns: tuple[port.Turn, ...]) -> list[types.ContentUnionDict]:
    from google.genai import types

    return [types.Content(role=turn.role, parts=[types.Part(text=turn.text)]) for turn in turns]


def read_error(error: errors.APIError, model: str, form: SchemaForm, key: str) -> PlannerError:
    """Return the error of the port for an error of the service."""
    status, text = error.code, short_message(error.message or error.status or "no reason given", key)
    if status in {408, 429} or status >= 500:
        cure = None
        if status == 429:
            cure = "The quota is used up for now: wait, or use another key."
        message = f"Gemini answered {status}: {text}"
        return ServiceUnavailable(message, status=status, retry_after=_retry_after(error), cure=cure)
    if status in {401, 403} or "API_KEY_INVALID" in _reasons(error):
        return port.KeyRefused(f"Gemini refused the key: {text}", cure="Check the key in GEMINI_API_KEY.")
    if status == 404:
        return port.ServiceRefused(f"Gemini does not know the model '{model}': {text}", cure="Choose another model.")
    # The service does not report in a machine-readable form which part it refuses.
    about_schema = form == "strict" or (form == "packed" and "schema" in text.lower())
    if status == 400 and about_schema:
        return port.SchemaRefused(f"Gemini does not accept the answer schema: {text}", cure="Try another model.")
    return port.ServiceRefused(f"Gemini does not accept the request ({status}): {text}")


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
    """Return the waiting time in seconds from the header or from the error's details, or None."""
    headers: Any = getattr(cast("Any", error).response, "headers", None) or {}
    values = [headers.get("retry-after")]
    for detail in _details(error):
        values.append(detail.get("retryDelay"))
    for value in values:
        match = SECONDS.fullmatch(str(value).strip())
        if match:
            return float(match[1])
    return None


def _reasons(error: errors.APIError) -> set[str]:
    return {str(detail.get("reason")) for detail in _details(error)}


def _details(error: errors.APIError) -> Iterator[dict[str, Any]]:
    inner = fields_of(fields_of(cast("Any", error).details).get("error"))
    return map(fields_of, items_of(inner.get("details")))
