"""The planner port on the Chat Completions API, by OpenAI's official SDK (extra `openai`).

Many servers speak this protocol, local ones among them: `base_url` names one, and one that wants no key gets none of ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from blendwright.planner.port import NoResponse, PlanRequest, PlanResponse, SchemaForm, Usage
from blendwright.planner.sdk_planner import SdkPlanner, token_count
from blendwright.planner.service_errors import missing_key

KEY = "OPENAI_API_KEY"
BASE_URL = "OPENAI_BASE_URL"
DEFAULT_MODEL = "gpt-5.1"


class OpenAIPlanner(SdkPlanner):
    """One model of a service. `base_url` None is OpenAI itself, which needs a key."""

    service = "the OpenAI-compatible service"
    package = "openai"
    client = "AsyncOpenAI"
    refuses_schema = frozenset({400, 422})
    cut_off = frozenset({"length"})

    def __init__(self, key: str | None, model: str | None = None, base_url: str | None = None) -> None:
        if not key and base_url is None:
            raise missing_key("OpenAI", KEY)
        super().__init__(key, model or DEFAULT_MODEL, base_url)

    async def _ask(
        self, client: Any, request: PlanRequest, turns: list[dict[str, str]], schema: Mapping[str, Any] | None
    ) -> Any:
        # Not the service's own strict mode: it wants every property required, and plans leave out what is by default.
        response_schema = {"name": "plan", "schema": None if schema is None else dict(schema), "strict": False}
        options = {} if schema is None else {"response_format": {"type": "json_schema", "json_schema": response_schema}}
        return await client.chat.completions.create(
            model=self.model,
            max_completion_tokens=request.allowance.output_tokens,
            messages=[{"role": "system", "content": request.system}, *turns],
            **options,
        )

    def _response(self, answer: Any, form: SchemaForm) -> PlanResponse:
        usage = _usage(answer.usage)
        if len(answer.choices) == 0:
            raise NoResponse("the answer is empty", reason="no choices", usage=usage)
        choice = answer.choices[0]
        reason, text = str(choice.finish_reason), "".join(choice.message.content or ())
        withheld = reason == "content_filter" or bool(getattr(choice.message, "refusal", None))
        return self._whole(text, reason, usage, form, withheld=withheld)


def _usage(spent: Any) -> Usage:
    thinking = token_count(getattr(getattr(spent, "completion_tokens_details", None), "reasoning_tokens", None))
    prompt, output = (token_count(getattr(spent, name, None)) for name in ("prompt_tokens", "completion_tokens"))
    total = token_count(getattr(spent, "total_tokens", None))
    return Usage(prompt, max(0, output - thinking), thinking, total or prompt + output)
