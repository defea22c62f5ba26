"""The planner port on Anthropic's Messages API, by its official SDK (extra `anthropic`), which is loaded with the first call."""

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

SERVICE = "Anthropic"
KEY = "ANTHROPIC_API_KEY"
BASE_URL = "ANTHROPIC_BASE_URL"
DEFAULT_MODEL = "claude-sonnet-4-5"
ROLES = {"user": "user", "model": "assistant"}
BAD_REQUEST = 400


class AnthropicPlanner:
    """One model of the service. `base_url` None is the service itself."""

    def __init__(self, key: str | None, model: str | None = None, base_url: str | None = None) -> None:
        if not key:
            raise missing_key(SERVICE, KEY)
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
        form = {} if schema is None else {"output_config": {"format": {"type": "json_schema", "schema": dict(schema)}}}
        turns = [{"role": ROLES[turn.role], "content": turn.text} for turn in request.turns]
        seconds = request.allowance.seconds
        trouble: PlannerError
        try:
            # Retries are the loop's: it knows what is left of the budget, and tells of them.
            async with (
                asyncio.timeout(seconds),
                sdk.AsyncAnthropic(api_key=self._key, base_url=self._base_url, max_retries=0) as client,
            ):
                answered: Any = await client.messages.create(
                    model=self._model,
                    max_tokens=request.allowance.output_tokens,
                    system=request.system,
                    messages=turns,
                    timeout=seconds,
                    **form,
                )
            return self._answer(answered, shape)
        except (TimeoutError, sdk.APITimeoutError):
            trouble = ServiceUnavailable(f"{SERVICE} did not answer within {seconds:g} seconds")
        except sdk.APIStatusError as error:
            trouble = of_status(SERVICE, error.status_code, str(error.message), error.response.headers, self._key)
            if error.status_code == BAD_REQUEST and schema is not None:
                trouble = SchemaRefused(trouble.message, cure=trouble.cure)
        except sdk.APIError as error:
            trouble = ServiceUnavailable(f"{SERVICE} cannot be reached: {in_short(error, self._key or '')}")
        # Not chained: what the SDK raises holds the request with its headers.
        raise trouble

    def _answer(self, message: Any, shape: Shape) -> PlanAnswer:
        spent, reason = message.usage, str(message.stop_reason)
        usage = Usage(spent.input_tokens, spent.output_tokens, 0, spent.input_tokens + spent.output_tokens)
        text = "".join(block.text for block in message.content if block.type == "text")
        if reason == "refusal":
            raise Blocked("the model refused to answer", reason=reason, usage=usage, cure="Say it in other words.")
        if reason in ("max_tokens", "model_context_window_exceeded"):
            raise Truncated("the answer was cut off", reason=reason, usage=usage, text=text)
        if not text:
            raise NoAnswer("the answer is empty", reason=reason, usage=usage)
        return PlanAnswer(unpacked(text), usage, self._model, reason, shape)

    def _sdk(self) -> Any:
        try:
            import anthropic
        except ImportError:
            raise missing_extra(SERVICE, "anthropic") from None
        return anthropic
