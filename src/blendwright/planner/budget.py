"""The budget of a planner run, its use so far, and the calls within it, with waits and retries.

This module knows no service: the caller gives the prices. A failed call is never the model's mistake, so the next
prompt does not mention it.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace

from blendwright.planner.port import (
    CallBudget,
    NoResponse,
    Planner,
    PlannerError,
    PlanRequest,
    PlanResponse,
    ServiceUnavailable,
    Truncated,
    Usage,
)

MILLION = 1_000_000
# Fewest output tokens of a call; no complete plan is shorter.
LEAST_OUTPUT = 256
# Seconds before the first retry, doubled for each next one, and the longest such wait.
FIRST_WAIT = 1.0
LONGEST_WAIT = 30.0

Sleep = Callable[[float], Awaitable[None]]
# Takes the request, its error, and the seconds until the next try, or None if there is none.
OnFailure = Callable[[PlanRequest, PlannerError, float | None], None]


@dataclass(frozen=True, slots=True)
class Price:
    """The price of a million tokens, in the currency of `Budget.cost`. Thinking costs the same as output."""

    prompt: float = 0.0
    output: float = 0.0

    def of(self, usage: Usage) -> float:
        return (
            usage.prompt_tokens * self.prompt + (usage.output_tokens + usage.thinking_tokens) * self.output
        ) / MILLION


@dataclass(frozen=True, slots=True)
class Budget:
    """The limits of a planner run.

    `attempts` counts plans; `retries` counts further calls for one plan after failures of the service.
    """

    attempts: int = 4
    tokens: int = 400_000
    seconds: float = 900.0
    cost: float | None = None
    price: Price = field(default_factory=Price)
    retries: int = 3
    call: CallBudget = field(default_factory=CallBudget)


class UsageMeter:
    """A meter of the use of a budget."""

    def __init__(self, budget: Budget, clock: Callable[[], float] = time.monotonic) -> None:
        self.budget = budget
        self.usage = Usage()
        self._clock = clock
        self._started = clock()

    @property
    def seconds(self) -> float:
        return self._clock() - self._started

    @property
    def cost(self) -> float:
        return self.budget.price.of(self.usage)

    @property
    def tokens(self) -> int:
        counted = self.usage.prompt_tokens + self.usage.output_tokens + self.usage.thinking_tokens
        return max(self.usage.total, counted)

    def spend(self, usage: Usage) -> None:
        self.usage += usage

    def exhausted(self) -> str | None:
        """Return the reason why no further call is possible, or None."""
        budget = self.budget
        if self.seconds >= budget.seconds:
            return f"the time of {budget.seconds:g} s is used up"
        if self.tokens > budget.tokens - LEAST_OUTPUT:
            return f"the budget of {budget.tokens} tokens is used up ({self.tokens} spent)"
        if budget.cost is not None and self.cost >= budget.cost:
            return f"the budget of {budget.cost:g} is used up ({self.cost:.4g} spent)"
        return None

    def allowance(self, times: int = 1) -> CallBudget:
        """Return the limits of the next call: `times` the usual output, but never more than the remaining budget."""
        usual = self.budget.call
        tokens = min(usual.output_tokens * times, self.budget.tokens - self.tokens)
        return CallBudget(max(tokens, LEAST_OUTPUT), max(1.0, min(usual.seconds, self.budget.seconds - self.seconds)))


async def request_plan(
    planner: Planner, request: PlanRequest, meter: UsageMeter, failed: OnFailure, sleep: Sleep
) -> PlanResponse:
    """Return the response and count its usage.

    Raise the last PlannerError when another try cannot help. Call `failed` with every error.
    """
    times = 1
    for retry in range(meter.budget.retries + 1):
        attempt = replace(request, allowance=meter.allowance(times))
        try:
            answer = await planner.plan(attempt)
        except PlannerError as error:
            if isinstance(error, NoResponse):
                meter.spend(error.usage)
            wait = _wait(error, retry, meter, widened=times > 1)
            failed(attempt, error, wait)
            if wait is None:
                raise
            if isinstance(error, Truncated):
                times *= 2
            await sleep(wait)
        else:
            meter.spend(answer.usage)
            # A lone surrogate cannot be stored or sent.
            return replace(answer, text=answer.text.encode("utf-8", "replace").decode())
    raise AssertionError("the last retry returns or raises")


def _wait(error: PlannerError, retry: int, meter: UsageMeter, *, widened: bool) -> float | None:
    """Return the seconds to wait before the next try, or None if a try would not help or would exceed the budget."""
    if retry >= meter.budget.retries or meter.exhausted():
        return None
    if isinstance(error, Truncated):
        # Try once with more tokens. A model that still does not finish must not cost more.
        if widened:
            return None
        return 0.0
    if not isinstance(error, ServiceUnavailable):
        return None
    wait = min(LONGEST_WAIT, FIRST_WAIT * 2**retry)
    if error.retry_after is not None:
        wait = error.retry_after
    if meter.seconds + wait < meter.budget.seconds:
        return wait
    return None
