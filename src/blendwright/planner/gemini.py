"""Gemini as a planner, on google-genai: one call, its answer or one error of the port. The key goes into one header and nowhere else.

google-genai takes half a second to import, so that it is loaded with the first call only.
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
# Of the service, for a moment. 429 is not among them: it says itself how long to wait, and whoever asks decides about that.
TRANSIENT = [408, 500, 502, 503, 504]
WITHHELD = frozenset({"SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY"})
SECONDS = re.compile(r"(\d+(?:\.\d+)?)s?")


@dataclass(frozen=True, slots=True)
class GeminiSettings:
    """`tries` counts calls of the service for one question; `first_wait` seconds pass before the second, twice that before the next."""

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
        """From the variables that docs/planner.md lists; what is given here comes first."""
        if environment is None:
            variables = os.environ
        else:
            variables = environment
        key = next((variables[name].strip() for name in KEYS if variables.get(name, "").strip()), None)
        return cls(
            api_key=None if key is None else SecretStr(key),
            model=model or variables.get(MODEL) or DEFAULT_MODEL,
            thinking=thinking or _level(variables.get(THINKING, "")),
            base_url=variables.get("GOOGLE_GEMINI_BASE_URL") or None,
        )


def _level(named: str) -> Thinking | None:
    levels = get_args(Thinking)
    if named and named not in levels:
        raise EnvironmentUnfit(f"{THINKING} is '{named[:20]}'", cure=f"Set it to one of: {', '.join(levels)}.")
    if named:
        return cast("Thinking", named)
    return None


class GeminiPlanner(ServicePlanner):
    """Asks Gemini."""

    service = "Gemini"
    cut_off = frozenset({"MAX_TOKENS", "NONE"})

    def __init__(self, settings: GeminiSettings) -> None:
        if settings.api_key is None or not settings.api_key.get_secret_value():
            cure = f"Get a key at https://aistudio.google.com/apikey and set {KEYS[0]}, or use another planner."
            raise port.KeyMissing("there is no key for Gemini", cure=cure)
        self._settings = settings
        self._secret = settings.api_key.get_secret_value()
        super().__init__(self._secret, settings.model, settings.base_url)

    def _load(self) -> None:
        import_module("google.genai")

    async def _call(self, request: PlanRequest, schema: Mapping[str, Any] | None) -> types.GenerateContentResponse:
        """One question to the service, with its retries."""
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
        """The whole text of the first candidate."""
        usage = usage_of(answer)
        feedback = answer.prompt_feedback
        if feedback is not None and feedback.block_reason is not None:
            reason, cure = feedback.block_reason.value, "Say the request in other words."
            raise port.Blocked(f"Gemini does not take the request ({reason})", reason=reason, usage=usage, cure=cure)
        if answer.candidates:
            candidate = answer.candidates[0]
        else:
            candidate = None
        if candidate is None:
            raise ServiceUnavailable("Gemini answered with nothing")
        if candidate.finish_reason is None:
            reason = "NONE"
        else:
            reason = candidate.finish_reason.value
        parts = (candidate.content.parts if candidate.content else None) or []
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

        level = self._settings.thinking
        return types.GenerateContentConfig(
            system_instruction=request.system,
            max_output_tokens=request.allowance.output_tokens,
            response_mime_type="application/json",
            response_json_schema=None if schema is None else dict(schema),
            thinking_config=None
            if level is None
            else types.ThinkingConfig(thinking_level=types.ThinkingLevel(level.upper())),
        )


def _contents(turns: tuple[port.Turn, ...]) -> list[types.ContentUnionDict]:
    from google.genai import types

    return [types.Content(role=turn.role, parts=[types.Part(text=turn.text)]) for turn in turns]


def read_error(error: errors.APIError, model: str, form: SchemaForm, key: str) -> PlannerError:
    """Which error of the port an error of the service is."""
    status, text = error.code, short_message(error.message or error.status or "no reason given", key)
    if status in {408, 429} or status >= 500:
        if status == 429:
            cure = "The quota is used up for the moment: wait, or use another key."
        else:
            cure = None
        message = f"Gemini answered {status}: {text}"
        return ServiceUnavailable(message, status=status, retry_after=_retry_after(error), cure=cure)
    if status in {401, 403} or "API_KEY_INVALID" in _reasons(error):
        return port.KeyRefused(f"Gemini refused the key: {text}", cure="Check the key in GEMINI_API_KEY.")
    if status == 404:
        return port.ServiceRefused(f"Gemini does not know the model '{model}': {text}", cure="Choose another model.")
    # The service does not say in a form for machines what it is that it does not take.
    about_schema = form == "strict" or (form == "packed" and "schema" in text.lower())
    if status == 400 and about_schema:
        return port.SchemaRefused(f"Gemini does not take the form of the answer: {text}", cure="Try another model.")
    return port.ServiceRefused(f"Gemini does not take the request ({status}): {text}")


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
