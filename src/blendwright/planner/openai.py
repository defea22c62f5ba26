"""The planner port on the Chat Completions API, by OpenAI's official SDK (extra `openai`), which is loaded with the first call.

Many servers speak this protocol, local ones among them: `base_url` names one, and one that wants no key gets none of ours.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from blendwright.planner.forms import in_some_form
from blendwright.planner.port import (
    Blocked,
    NoAnswer,
    PlanAnswer,
    PlannerError,
    PlanRequest,
    SchemaRefused,
    ServiceUnavailable,
    Shape,
    Truncated,
    Usage,
)
from blendwright.planner.response_schema import unpacked
from blendwright.planner.service_errors import missing_extra, missing_key, of_status
from blendwright.planner.service_words import in_short

SERVICE = "the OpenAI-compatible service"
KEY = "OPENAI_API_KEY"
BASE_URL = "OPENAI_BASE_URL"
DEFAULT_MODEL = "gpt-5.1"
ROLES = {"user": "user", "model": "assistant"}
# The SDK wants one; servers that ask for none do not look at it.
NO_KEY = "none"
REFUSES_SCHEMA = frozenset({400, 422})


class OpenAIPlanner:
    """One model of a service. `base_url` None is OpenAI itself, which needs a key."""

    def __init__(self, key: str | None, model: str | None = None, base_url: str | None = None) -> None:
        if not key and base_url is None:
            raise missing_key("OpenAI", KEY)
        self._key = key
        self._model = model or DEFAULT_MODEL
        self._base_url = base_url

    @property
    def model(self) -> str:
        return self._model

    async def plan(self, request: PlanRequest) -> PlanAnswer:
        """Under the strict schema, then the packed one, then none: a model that is not bound is still held to the contract."""
        return await in_some_form(request, lambda shape, schema: self._asked(request, shape, schema))

    async def _asked(self, request: PlanRequest, shape: Shape, schema: Mapping[str, Any] | None) -> PlanAnswer:
        sdk = self._sdk()
        # Not the service's own strict mode: it wants every property required, and plans leave out what is by default.
        bound = {"name": "plan", "schema": None if schema is None else dict(schema), "strict": False}
        form = {} if schema is None else {"response_format": {"type": "json_schema", "json_schema": bound}}
        turns = [{"role": ROLES[turn.role], "content": turn.text} for turn in request.turns]
        seconds = request.allowance.seconds
        trouble: PlannerError
        try:
            # Retries are the loop's: it knows what is left of the budget, and tells of them.
            async with (
                asyncio.timeout(seconds),
                sdk.AsyncOpenAI(api_key=self._key or NO_KEY, base_url=self._base_url, max_retries=0) as client,
            ):
                answered: Any = await client.chat.completions.create(
                    model=self._model,
                    max_completion_tokens=request.allowance.output_tokens,
                    messages=[{"role": "system", "content": request.system}, *turns],
                    timeout=seconds,
                    **form,
                )
            return self._answer(answered, shape)
        except (TimeoutError, sdk.APITimeoutError):
            trouble = ServiceUnavailable(f"{SERVICE} did not answer within {seconds:g} seconds")
        except sdk.APIStatusError as error:
            trouble = of_status(SERVICE, error.status_code, str(error.message), error.response.headers, self._key)
            if error.status_code in REFUSES_SCHEMA and schema is not None:
                trouble = SchemaRefused(trouble.message, cure=trouble.cure)
        except sdk.APIError as error:
            trouble = ServiceUnavailable(f"{SERVICE} cannot be reached: {in_short(error, self._key or '')}")
        # Not chained: what the SDK raises holds the request with its headers.
        raise trouble

    def _answer(self, completion: Any, shape: Shape) -> PlanAnswer:
        usage = _usage(completion.usage)
        if not completion.choices:
            raise NoAnswer("the answer is empty", reason="no choices", usage=usage)
        choice = completion.choices[0]
        reason, text = str(choice.finish_reason), choice.message.content or ""
        if reason == "content_filter" or getattr(choice.message, "refusal", None):
            raise Blocked("the answer was withheld", reason=reason, usage=usage, cure="Say it in other words.")
        if reason == "length":
            raise Truncated("the answer was cut off", reason=reason, usage=usage, text=text)
        if not text:
            raise NoAnswer("the answer is empty", reason=reason, usage=usage)
        return PlanAnswer(unpacked(text), usage, self._model, reason, shape)

    def _sdk(self) -> Any:
        try:
            import openai
        except ImportError:
            raise missing_extra(SERVICE, "openai") from None
        return openai


def _usage(spent: Any) -> Usage:
    """Local servers may count nothing."""
    if spent is None:
        return Usage()
    details = getattr(spent, "completion_tokens_details", None)
    thinking = (getattr(details, "reasoning_tokens", None) or 0) if details is not None else 0
    prompt, output = spent.prompt_tokens or 0, spent.completion_tokens or 0
    return Usage(prompt, output - thinking, thinking, spent.total_tokens or prompt + output)
