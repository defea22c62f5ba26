"""What a planner run may cost at most, and what it has cost so far. Knows no service: prices are given."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from blendwright.planner.port import CallBudget, Usage

MILLION = 1_000_000
# Below this no whole plan fits, so that a call would be paid for nothing.
LEAST_OUTPUT = 256


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
