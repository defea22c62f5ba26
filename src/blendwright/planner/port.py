"""The planner port: the request to a language model, its response, and the errors.

The port knows no service and no prompt. What comes back is text that nobody has checked: the contract of the dialect decides.

    PlannerError
    ├── ServiceUnavailable   429, 5xx, no connection, timeout: the same request may be asked again (`retry_after` in seconds)
    ├── ServiceRefused       the service takes this request for wrong; asking again changes nothing
    │   └── SchemaRefused    it does not take this form of the answer; a planner tries the next one
    ├── KeyProblem           nothing works until the key is there and right
    │   ├── KeyMissing       no key was found
    │   └── KeyRefused       the service does not accept it
    └── NoResponse           the model was asked and there is no whole answer; `usage` says what it cost
        ├── Blocked          request or answer was withheld by the service's safety rules
        └── Truncated        the answer ended before it was whole; `text` is what came
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
    """One side's part of the conversation."""

    role: Role
    text: str


@dataclass(frozen=True, slots=True)
class ResponseSchema:
    """The form of the answer, twice: `strict` has every tool's arguments, `packed` has them as a string of JSON.

    A service that refuses the first is asked with the second; whoever asks unpacks the answer (`response_schema.unpack`).
    """

    strict: Mapping[str, Any]
    packed: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class CallBudget:
    """What one call may cost."""

    output_tokens: int = 16_384
    seconds: float = 120.0


@dataclass(frozen=True, slots=True)
class PlanRequest:
    """One call. `request` is what the person asked for; `system` and `turns` are everything the model is told."""

    request: str
    dialect: str
    system: str
    turns: tuple[Turn, ...]
    schema: ResponseSchema | None = None
    attempt: int = 1
    allowance: CallBudget = field(default_factory=CallBudget)


@dataclass(frozen=True, slots=True)
class Usage:
    """What a call cost, in tokens, as the service counts them; `total` may hold more than the three."""

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
    """What the model said: `text` in the form of the dialect (already unpacked), unchecked. `schema_form` is the schema it came under."""

    text: str
    usage: Usage
    model: str
    finish_reason: str
    schema_form: SchemaForm = "none"


class Planner(Protocol):
    """A language model that plans."""

    @property
    def model(self) -> str:
        """The name under which the service knows it."""
        ...

    async def plan(self, request: PlanRequest) -> PlanResponse:
        """The answer; raises a `PlannerError` and nothing else."""
        ...


class PlannerError(BlendwrightError):
    """The planner gave no answer. Never the model's mistake in a plan: those are findings."""


class ServiceUnavailable(PlannerError):
    """The service did not answer this time: the only failure that is worth another try."""

    def __init__(
        self, message: str, *, status: int | None = None, retry_after: float | None = None, cure: str | None = None
    ) -> None:
        super().__init__(message, cure=cure or "Try again later.", details={"status": status})
        self.status = status
        self.retry_after = retry_after


class ServiceRefused(PlannerError):
    """The service takes the request for wrong."""


class SchemaRefused(ServiceRefused):
    """The service does not take a response schema."""


class KeyProblem(PlannerError):
    """The service cannot be used with the key at hand."""


class KeyMissing(KeyProblem):
    """There is no key."""


class KeyRefused(KeyProblem):
    """The service does not accept the key."""


class NoResponse(PlannerError):
    """The model was asked, and there is no whole answer."""

    def __init__(
        self, message: str, *, reason: str, usage: Usage | None = None, text: str = "", cure: str | None = None
    ) -> None:
        super().__init__(message, cure=cure, details={"reason": reason})
        self.reason = reason
        self.usage = usage or Usage()
        self.text = text


class Blocked(NoResponse):
    """Withheld by the service's safety rules."""


class Truncated(NoResponse):
    """Cut off, by the limit of tokens or by the connection."""
