"""The planner port: the request to a language model, its response, and the errors.

The port knows no service and no prompt. The response is unchecked text; the contract of the dialect checks it.

    PlannerError
    ├── ServiceUnavailable   429, 5xx, no connection, timeout: a retry may succeed (`retry_after` in seconds)
    ├── ServiceRefused       the service calls this request invalid; a retry changes nothing
    │   └── SchemaRefused    it does not accept this answer schema; a planner tries the next one
    ├── KeyProblem           nothing works without a valid key
    │   ├── KeyMissing       no key was found
    │   └── KeyRefused       the service does not accept it
    └── NoResponse           the model gave no complete answer; `usage` is the cost of the call
        ├── Blocked          the service's safety rules withheld the request or the answer
        └── Truncated        the answer ended too early; `text` is the received part
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, Protocol

from blendwright.values.errors import BlendwrightError

Role = Literal["user", "model"]
SchemaForm = Literal["strict", "packed", "none"]


@dataclass(frozen=True, slots=True)
class Turn:
    """A message of one side of the conversation."""

    role: Role
    text: str


@dataclass(frozen=True, slots=True)
class ResponseSchema:
    """The schema of the answer in two forms:

    `strict` describes every tool's arguments, `packed` has them as a JSON string.

    A planner tries the second form if the service refuses the first. `response_schema.unpack` unpacks such an answer.
    """

    strict: Mapping[str, Any]
    packed: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class CallBudget:
    """Limits of one call."""

    output_tokens: int = 16_384
    seconds: float = 120.0


@dataclass(frozen=True, slots=True)
class PlanRequest:
    """A call of the model. `request` is the person's request; `system` and `turns` are the complete prompt."""

    request: str
    dialect: str
    system: str
    turns: tuple[Turn, ...]
    schema: ResponseSchema | None = None
    attempt: int = 1
    allowance: CallBudget = field(default_factory=CallBudget)


@dataclass(frozen=True, slots=True)
class Usage:
    """The cost of a call in tokens, as the service counts them; `total` may exceed the sum of the other three."""

    prompt_tokens: int = 0
    output_tokens: int = 0
    thinking_tokens: int = 0
    total: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.output_tokens + other.output_tokens,
            self.thinking_tokens + other.thinking_tokens,
            self.total + other.total,
        )

    def to_json(self) -> dict[str, int]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class PlanResponse:
    """The model's answer: unchecked `text` in the dialect's form, already unpacked.

    `schema_form` is the schema of the call.
    """

    text: str
    usage: Usage
    model: str
    finish_reason: str
    schema_form: SchemaForm = "none"


class Planner(Protocol):
    """A language model that plans."""

    @property
    def model(self) -> str:
        """The service's name of the model."""
        ...

    async def plan(self, request: PlanRequest) -> PlanResponse:
        """Return the answer. Raise only PlannerError."""
        ...


class PlannerError(BlendwrightError):
    """The planner gave no answer. A mistake in a plan is not an error, but a finding."""


class ServiceUnavailable(PlannerError):
    """The service did not answer this time; only this failure justifies a retry."""

    def __init__(
        self, message: str, *, status: int | None = None, retry_after: float | None = None, cure: str | None = None
    ) -> None:
        super().__init__(message, cure=cure or "Try again later.", details={"status": status})
        self.status = status
        self.retry_after = retry_after


class ServiceRefused(PlannerError):
    """The service calls the request invalid."""


class SchemaRefused(ServiceRefused):
    """The service does not accept the answer schema."""


class KeyProblem(PlannerError):
    """The service needs another key."""


class KeyMissing(KeyProblem):
    """No key was found."""


class KeyRefused(KeyProblem):
    """The service does not accept the key."""


class NoResponse(PlannerError):
    """The model gave no complete answer."""

    def __init__(
        self, message: str, *, reason: str, usage: Usage | None = None, text: str = "", cure: str | None = None
    ) -> None:
        super().__init__(message, cure=cure, details={"reason": reason})
        self.reason = reason
        self.usage = usage or Usage()
        self.text = text


class Blocked(NoResponse):
    """The service's safety rules withheld the request or the answer."""


class Truncated(NoResponse):
    """The limit of tokens or a lost connection cut the answer off."""
