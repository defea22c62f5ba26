"""The planner port on Anthropic's Messages API, by its official SDK (extra `anthropic`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from blendwright.planner.port import PlanRequest, PlanResponse, SchemaForm, Usage
from blendwright.planner.sdk_planner import SdkPlanner, token_count
from blendwright.planner.service_errors import missing_key

KEY = "ANTHROPIC_API_KEY"
BASE_URL = "ANTHROPIC_BASE_URL"
DEFAULT_MODEL = "claude-sonnet-5-5"


class AnthropicPlanner(SdkPlanner):
    """One model of the service, which always needs a key."""

    service = "Anthropic"
    package = "anthropic"
    client = "AsyncAnthropic"
    refuses_schema = frozenset({400})
    cut_off = frozenset({"max_tokens", "model_context_window_exceeded"})

    def __init__(self, key: str | None, model: str | None = None, base_url: str | None = None) -> None:
        if not key:
            raise missing_key(self.service, KEY)
        super().__init__(key, model or DEFAULT_MODEL, base_url)

    async def _ask(
        self, client: Any, request: PlanRequest, turns: list[dict[str, str]], schema: Mapping[str, Any] | None
    ) -> Any:
        options = (
            {} if schema is None else {"output_config": {"format": {"type": "json_schema", "schema": dict(schema)}}}
        )
        return await client.messages.create(
            model=self.model,
            max_tokens=request.allowance.output_tokens,
            system=request.system,
            messages=turns,
            **options,
        )

    def _response(self, answer: Any, form: SchemaForm) -> PlanResponse:
        reason = str(answer.stop_reason)
        prompt, output = (token_count(getattr(answer.usage, name, None)) for name in ("input_tokens", "output_tokens"))
        usage = Usage(prompt, output, 0, prompt + output)
        text = "".join(block.text for block in answer.content if block.type == "text")
        return self._whole(text, reason, usage, form, withheld=reason == "refusal")
