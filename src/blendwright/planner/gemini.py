"""Gemini as a planner, on google-genai: one call, its answer or one error of the port. The key goes into one header and nowhere else.

google-genai takes half a second to import, so that it is loaded with the first call only. What the SDK raises is never passed on, nor
chained: its exceptions hold the request with its headers.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

from pydantic import SecretStr

from blendwright.planner.gemini_responses import read_error, read_response
from blendwright.planner.port import (
    KeyMissing,
    PlannerError,
    PlanRequest,
    PlanResponse,
    SchemaForm,
    SchemaRefused,
    Turn,
)
from blendwright.planner.response_schema import unpack
from blendwright.planner.schema_fallback import with_schema_fallback
from blendwright.planner.service_errors import check_key, no_response, timed_out, unreachable
from blendwright.values.canonical import digest
from blendwright.values.errors import EnvironmentUnfit

if TYPE_CHECKING:
    from google.genai import types

Thinking = Literal["minimal", "low", "medium", "high"]

DEFAULT_MODEL = "gemini-2.5-flash"
KEYS = ("GEMINI_API_KEY", "GOOGLE_API_KEY")
MODEL = "BLENDWRIGHT_GEMINI_MODEL"
THINKING = "BLENDWRIGHT_GEMINI_THINKING"
# Of the service, for a moment. 429 is not among them: it says itself how long to wait, and whoever asks decides about that.
TRANSIENT = [408, 500, 502, 503, 504]


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
        variables = os.environ if environment is None else environment
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
    return cast("Thinking", named) if named else None


class GeminiPlanner:
    """Asks Gemini. Holds no connection between calls, so that it can be used from any event loop."""

    def __init__(self, settings: GeminiSettings) -> None:
        if settings.api_key is None or not settings.api_key.get_secret_value():
            cure = f"Get a key at https://aistudio.google.com/apikey and set {KEYS[0]}, or use another planner."
            raise KeyMissing("there is no key for Gemini", cure=cure)
        self._settings = settings
        self._key = settings.api_key.get_secret_value()
        check_key("Gemini", self._key, f"Check {KEYS[0]}.")
        self._refused_schemas: set[str] = set()

    @property
    def model(self) -> str:
        return self._settings.model

    async def plan(self, request: PlanRequest) -> PlanResponse:
        """The answer, in the form of the dialect. A schema that the service refuses is not shown to it again."""
        return await with_schema_fallback(request, lambda form, schema: self._request(request, schema, form))

    async def _request(self, request: PlanRequest, schema: Mapping[str, Any] | None, form: SchemaForm) -> PlanResponse:
        schema_hash = "" if schema is None else digest(schema)
        if schema_hash in self._refused_schemas:
            raise SchemaRefused("Gemini did not take this form of the answer before")
        try:
            response = await self._call(request, schema, form)
        except SchemaRefused:
            self._refused_schemas.add(schema_hash)
            raise
        answer = read_response(response, self.model, form)
        return answer if form == "none" else replace(answer, text=unpack(answer.text))

    async def _call(
        self, request: PlanRequest, schema: Mapping[str, Any] | None, form: SchemaForm
    ) -> types.GenerateContentResponse:
        """One question to the service, with its retries; every way in which it can fail becomes an error of the port."""
        import httpx2
        from google import genai
        from google.genai import errors

        client = genai.Client(
            api_key=self._key, vertexai=False, http_options=self._http_options(request.allowance.seconds)
        )
        seconds = request.allowance.seconds
        problem: PlannerError
        try:
            async with asyncio.timeout(seconds), client.aio as service:
                return await service.models.generate_content(
                    model=self.model, contents=_contents(request.turns), config=self._config(request, schema)
                )
        except errors.APIError as error:
            problem = read_error(error, self.model, form, self._key)
        except (TimeoutError, httpx2.TimeoutException):
            problem = timed_out("Gemini", seconds)
        except (OSError, httpx2.HTTPError, httpx2.InvalidURL) as error:
            problem = unreachable("Gemini", error, self._key)
        except ValueError:
            problem = no_response("Gemini")
        raise problem

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


def _contents(turns: tuple[Turn, ...]) -> list[types.ContentUnionDict]:
    from google.genai import types

    return [types.Content(role=turn.role, parts=[types.Part(text=turn.text)]) for turn in turns]
