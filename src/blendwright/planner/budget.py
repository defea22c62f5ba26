"""What a story may cost at most, and what it has cost so far. Knows no service: prices are given."""

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
    """Of a million tokens, in whatever currency `Limits.cost` is in. Thinking is paid like output."""

    prompt: float = 0.0
    output: float = 0.0

    def of(self, usage: Usage) -> float:
        return (
            usage.prompt_tokens * self.prompt + (usage.output_tokens + usage.thinking_tokens) * self.output
        ) / MILLION


@dataclass(frozen=True, slots=True)
class Budget:
    """Of one story. `attempts` counts plans, `retries` the further calls that one plan may take when the service fails."""

    attempts: int = 4
    tokens: int = 400_000
    seconds: float = 900.0
    cost: float | None = None
    price: Price = field(default_factory=Price)
    retries: int = 3
    call: CallBudget = field(default_factory=CallBudget)


class UsageMeter:
    """Counts what is spent against the limits."""

    def __init__(self, limits: Budget, clock: Callable[[], float] = time.monotonic) -> None:
        self.limits = limits
        self.usage = Usage()
        self._clock = clock
        self._started = clock()

    @property
    def seconds(self) -> float:
        return self._clock() - self._started

    @property
    def cost(self) -> float:
        return self.limits.price.of(self.usage)

    @property
    def tokens(self) -> int:
        counted = self.usage.prompt_tokens + self.usage.output_tokens + self.usage.thinking_tokens
        return max(self.usage.total, counted)

    def spend(self, usage: Usage) -> None:
        self.usage += usage

    def exhausted(self) -> str | None:
        """Why there can be no further call; None while there can."""
        limits = self.limits
        if self.seconds >= limits.seconds:
            return f"the time of {limits.seconds:g} s is used up"
        if self.tokens > limits.tokens - LEAST_OUTPUT:
            return f"the budget of {limits.tokens} tokens is used up ({self.tokens} spent)"
        if limits.cost is not None and self.cost >= limits.cost:
            return f"the budget of {limits.cost:g} is used up ({self.cost:.4g} spent)"
        return None

    def allowance(self, times: int = 1) -> CallBudget:
        """What the next call may cost: `times` the usual output, and never more than what is left."""
        usual = self.limits.call
        tokens = min(usual.output_tokens * times, self.limits.tokens - self.tokens)
        return CallBudget(max(tokens, LEAST_OUTPUT), max(1.0, min(usual.seconds, self.limits.seconds - self.seconds)))
