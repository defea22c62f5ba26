"""What a planner run may cost at most, what it has cost so far, and the calls within that: waiting, and asking again where that can help.

Knows no service: prices are given. What goes wrong with a call is the service's, never the model's mistake: nothing of it reaches the
next prompt.
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
# Below this no whole plan fits, so that a call would be paid for nothing.
LEAST_OUTPUT = 256
FIRST_WAIT = 1.0
LONGEST_WAIT = 30.0

Sleep = Callable[[float], Awaitable[None]]
# The request, its error, and the seconds until the next try; None when there is none.
OnFailure = Callable[[PlanRequest, PlannerError, float | None], None]


@dataclass(frozen=True, slots=True)
class Price:
    """Of a million tokens, in whatever currency `Budget.cost` is in. Thinking is paid like output."""

    prompt: float = 0.0
    output: float = 0.0

    def of(self, usage: Usage) -> float:
        return (
            usage.prompt_tokens * self.prompt + (usage.output_tokens + usage.thinking_tokens) * self.output
        ) / MILLION


@dataclass(frozen=True, slots=True)
class Budget:
    """The limits of one planner run. `attempts` counts plans, `retries` the further calls that one plan may take when the service fails."""

    attempts: int = 4
    tokens: int = 400_000
    seconds: float = 900.0
    cost: float | None = None
    price: Price = field(default_factory=Price)
    retries: int = 3
    call: CallBudget = field(default_factory=CallBudget)


class UsageMeter:
    """Counts what is spent against the budget."""

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
        """Why there can be no further call; None while there can."""
        budget = self.budget
        if self.seconds >= budget.seconds:
            return f"the time of {budget.seconds:g} s is used up"
        if self.tokens > budget.tokens - LEAST_OUTPUT:
            return f"the budget of {budget.tokens} tokens is used up ({self.tokens} spent)"
        if budget.cost is not None and self.cost >= budget.cost:
            return f"the budget of {budget.cost:g} is used up ({self.cost:.4g} spent)"
        return None

    def allowance(self, times: int = 1) -> CallBudget:
        """What the next call may cost: `times` the usual output, and never more than what is left."""
        usual = self.budget.call
        tokens = min(usual.output_tokens * times, self.budget.tokens - self.tokens)
        return CallBudget(max(tokens, LEAST_OUTPUT), max(1.0, min(usual.seconds, self.budget.seconds - self.seconds)))


async def request_plan(
    planner: Planner, request: PlanRequest, meter: UsageMeter, failed: OnFailure, sleep: Sleep
) -> PlanResponse:
    """The response, counted by the meter; raises the last PlannerError when retrying is of no use. `failed` is called with every error."""
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
            # Half a surrogate pair is nothing that could be stored or sent.
            return replace(answer, text=answer.text.encode("utf-8", "replace").decode())
    raise AssertionError("the last retry returns or raises")


def _wait(error: PlannerError, retry: int, meter: UsageMeter, *, widened: bool) -> float | None:
    """Seconds to wait before the next try; None when that would be of no use, or over the budget."""
    if retry >= meter.budget.retries or meter.exhausted():
        return None
    if isinstance(error, Truncated):
        # With more room, once: a model that does not come to an end is not to be paid for twice.
        if widened:
            return None
        return 0.0
    if not isinstance(error, ServiceUnavailable):
        return None
    if error.retry_after is not None:
        wait = error.retry_after
    else:
        wait = min(LONGEST_WAIT, FIRST_WAIT * 2**retry)
    if meter.seconds + wait < meter.budget.seconds:
        return wait
    return None
