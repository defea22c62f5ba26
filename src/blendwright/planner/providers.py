"""Which planner a name stands for, with its key and address from the environment; and the planners of Anthropic and OpenAI.

Those two have official SDKs of one make: the same options, the same errors. They are loaded with the first call. Many servers speak
OpenAI's protocol, local ones among them: `base_url` names one, and one that wants no key gets none of ours.
"""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from typing import Any, ClassVar, Literal

from blendwright.planner.gemini import GeminiPlanner, GeminiSettings
from blendwright.planner.port import (
    KeyMissing,
    NoResponse,
    Planner,
    PlannerError,
    PlanRequest,
    PlanResponse,
    SchemaForm,
    SchemaRefused,
    Usage,
)
from blendwright.planner.service_planner import (
    ServicePlanner,
    check_address,
    error_of_status,
    missing_extra,
    timed_out,
    unreachable,
)

ROLES = {"user": "user", "model": "assistant"}
# The SDKs demand a key; servers that need none ignore it.
NO_KEY = "none"
Provider = Literal["gemini", "anthropic", "openai"]


class SdkPlanner(ServicePlanner):
    """On an SDK of that make, with key and address from the environment. `base_url` None is the service itself, which needs a key."""

    title: ClassVar[str]
    default_model: ClassVar[str]
    package: ClassVar[str]
    """The SDK, the extra that installs it, and how the names of its variables begin. It is loaded with the first call."""
    client: ClassVar[str]
    elsewhere_without_key = False
    """Whether at another address there may be a server that wants no key."""
    refuses_schema: ClassVar[frozenset[int]]
    """The statuses that may mean that the service does not take the form of the answer."""

    def __init__(self, variables: Mapping[str, str], model: str | None, base_url: str | None) -> None:
        """Raises KeyMissing. A variable that is empty is not set."""
        name = f"{self.package.upper()}_API_KEY"
        key = variables.get(name, "").strip() or None
        address = base_url or variables.get(f"{self.package.upper()}_BASE_URL", "").strip() or None
        if key is None and (address is None or not self.elsewhere_without_key):
            cure = f"Set {name} to your key, or choose another --provider."
            raise KeyMissing(f"there is no key for {self.title}", cure=cure)
        super().__init__(key, model or self.default_model, address)

    @abstractmethod
    async def _ask(
        self, client: Any, request: PlanRequest, turns: list[dict[str, str]], schema: Mapping[str, Any] | None
    ) -> Any:
        """Ask once, through a client."""

    def _load(self) -> None:
        self._sdk()

    async def _call(self, request: PlanRequest, schema: Mapping[str, Any] | None) -> Any:
        check_address(self._base_url)
        turns = [{"role": ROLES[turn.role], "content": turn.text} for turn in request.turns]
        # Retries are the loop's: it knows what is left of the budget, and tells of them.
        open_client = getattr(self._sdk(), self.client)(
            api_key=self._key or NO_KEY, base_url=self._base_url, timeout=request.allowance.seconds, max_retries=0
        )
        async with open_client as client:
            return await self._ask(client, request, turns, schema)

    def _problem(self, error: Exception, request: PlanRequest, form: SchemaForm) -> PlannerError | None:
        sdk = self._sdk()
        if isinstance(error, sdk.APITimeoutError):
            return timed_out(self.service, request.allowance.seconds)
        if isinstance(error, sdk.APIStatusError):
            status: Any = error
            problem = error_of_status(
                self.service, status.status_code, str(status.message), status.response.headers, self._key
            )
            if status.status_code in self.refuses_schema and form != "none":
                return SchemaRefused(problem.message, cure=problem.cure)
            return problem
        if isinstance(error, sdk.APIError):
            return unreachable(self.service, error, self._key)
        return None

    def _sdk(self) -> Any:
        try:
            return import_module(self.package)
        except ImportError:
            raise missing_extra(self.service, self.package) from None


class AnthropicPlanner(SdkPlanner):
    """Anthropic's Messages API, which always needs a key."""

    service = title = "Anthropic"
    default_model = "claude-sonnet-5-5"
    package = "anthropic"
    client = "AsyncAnthropic"
    refuses_schema = frozenset({400})
    cut_off = frozenset({"max_tokens", "model_context_window_exceeded"})

    async def _ask(
        self, client: Any, request: PlanRequest, turns: list[dict[str, str]], schema: Mapping[str, Any] | None
    ) -> Any:
        if schema is None:
            options = {}
        else:
            options = {"output_config": {"format": {"type": "json_schema", "schema": dict(schema)}}}
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


class OpenAIPlanner(SdkPlanner):
    """The Chat Completions API, of OpenAI or of another server."""

    title = "OpenAI"
    default_model = "gpt-5.1"
    elsewhere_without_key = True
    service = "the OpenAI-compatible service"
    package = "openai"
    client = "AsyncOpenAI"
    refuses_schema = frozenset({400, 422})
    cut_off = frozenset({"length"})

    async def _ask(
        self, client: Any, request: PlanRequest, turns: list[dict[str, str]], schema: Mapping[str, Any] | None
    ) -> Any:
        # Not the service's own strict mode: it wants every property required, and plans leave out what is by default.
        response_schema = {"name": "plan", "schema": None if schema is None else dict(schema), "strict": False}
        if schema is None:
            options = {}
        else:
            options = {"response_format": {"type": "json_schema", "json_schema": response_schema}}
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


def token_count(value: Any) -> int:
    """A number of tokens. Local servers may count nothing, or say so in their own way."""
    if isinstance(value, int) and value > 0:
        return value
    return 0


def create_planner(
    provider: Provider,
    *,
    model: str | None = None,
    base_url: str | None = None,
    environment: Mapping[str, str] | None = None,
) -> Planner:
    """Raises KeyMissing when its key is not in the environment. `base_url` comes before what the environment says."""
    if environment is None:
        variables = os.environ
    else:
        variables = environment
    if provider == "gemini":
        settings = GeminiSettings.from_environment(variables, model=model)
        return GeminiPlanner(settings if base_url is None else replace(settings, base_url=base_url))
    if provider == "anthropic":
        sdk_planner = AnthropicPlanner
    else:
        sdk_planner = OpenAIPlanner
    return sdk_planner(variables, model, base_url)
