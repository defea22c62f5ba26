"""The planner for each provider name, with its key and address from the environment; and the planners of Anthropic and
OpenAI.

Anthropic and OpenAI have official SDKs with the same options and errors, loaded with the first call. Many servers,
including local ones, use OpenAI's protocol: `base_url` is the address of one, and a server without keys gets none of
ours.
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
# Key for the SDKs, which require one; servers without keys ignore it.
NO_KEY = "none"
Provider = Literal["gemini", "anthropic", "openai"]


class SdkPlanner(ServicePlanner):
    """A planner on an SDK, with key and address from the environment.

    A `base_url` of None means the service itself, which needs a key.
    """

    title: ClassVar[str]
    default_model: ClassVar[str]
    package: ClassVar[str]
    """The name of the SDK, of the extra that installs it, and the prefix of its variables. The first call loads it."""
    client: ClassVar[str]
    elsewhere_without_key = False
    """True if a server at another address may need no key."""
    refuses_schema: ClassVar[frozenset[int]]
    """The HTTP statuses that may mean a refused answer schema."""

    def __init__(self, variables: Mapping[str, str], model: str | None, base_url: str | None) -> None:
        """Raise KeyMissing without a key. An empty variable counts as unset."""
        name = f"{self.package.upper()}_API_KEY"
        key = variables.get(name, "").strip() or None
        address = base_url or variables.get(f"{self.package.upper()}_BASE_URL", "").strip() or None
        if key is None and (address is None or not self.elsewhere_without_key):
            cure = f"Set {name} to your key, or choose another --provider."
            raise KeyMissing(f"no key for {self.title} was found", cure=cure)
        super().__init__(key, model or self.default_model, address)

    @abstractmethod
    async def _ask(
        self, client: Any, request: PlanRequest, turns: list[dict[str, str]], schema: Mapping[str, Any] | None
    ) -> Any:
        """Make one call through a client."""

    def _load(self) -> None:
        self._sdk()

    async def _call(self, request: PlanRequest, schema: Mapping[str, Any] | None) -> Any:
        check_address(self._base_url)
        turns = [{"role": ROLES[turn.role], "content": turn.text} for turn in request.turns]
        # The planner loop makes the retries, because it knows the remaining budget and reports them.
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
    """A planner on Anthropic's Messages API, which always needs a key."""

    service = title = "Anthropic"
    default_model = "claude-sonnet-5-5"
    package = "anthropic"
    client = "AsyncAnthropic"
    refuses_schema = frozenset({400})
    cut_off = frozenset({"max_tokens", "model_context_window_exceeded"})

    async def _ask(
        self, client: Any, request: PlanRequest, turns: list[dict[str, str]], schema: Mapping[str, Any] | None
    ) -> Any:
        options: dict[str, Any] = {}
        if schema is not None:
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
        prompt = token_count(getattr(answer.usage, "input_tokens", None))
        output = token_count(getattr(answer.usage, "output_tokens", None))
        usage = Usage(prompt, output, 0, prompt + output)
        text = "".join(block.text for block in answer.content if block.type == "text")
        return self._whole(text, reason, usage, form, withheld=reason == "refusal")


class OpenAIPlanner(SdkPlanner):
    """A planner on the Chat Completions API, of OpenAI or of another server."""

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
        options: dict[str, Any] = {}
        if schema is not None:
            # The service's strict mode requires every property, but plans leave out arguments with defaults.
            response_schema = {"name": "plan", "schema": dict(schema), "strict": False}
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
    prompt = token_count(getattr(spent, "prompt_tokens", None))
    output = token_count(getattr(spent, "completion_tokens", None))
    total = token_count(getattr(spent, "total_tokens", None))
    return Usage(prompt, max(0, output - thinking), thinking, total or prompt + output)


def token_count(value: Any) -> int:
    """Return a number of tokens, or 0 for any other value, since local servers may not count tokens."""
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
    """Return the planner of a provider. Raise KeyMissing if its key is not in the environment.

    `base_url` takes precedence over the environment.
    """
    variables = os.environ
    if environment is not None:
        variables = environment
    if provider == "gemini":
        settings = GeminiSettings.from_environment(variables, model=model)
        if base_url is not None:
            settings = replace(settings, base_url=base_url)
        return GeminiPlanner(settings)
    if provider == "anthropic":
        return AnthropicPlanner(variables, model, base_url)
    return OpenAIPlanner(variables, model, base_url)
