"""What a planner run may cost, and how often a service is asked: without a model, a clock of its own, and nobody who sleeps."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from blendwright.planner.budget import LEAST_OUTPUT, LONGEST_WAIT, Budget, Price, UsageMeter, request_plan
from blendwright.planner.port import (
    CallBudget,
    KeyRefused,
    NoResponse,
    PlannerError,
    PlanRequest,
    PlanResponse,
    ServiceRefused,
    ServiceUnavailable,
    Truncated,
    Usage,
)
from planner.scripted import USAGE, Said, Scripted, first


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_thinking_is_paid_like_output_and_counted_like_it() -> None:
    price = Price(prompt=2.0, output=10.0)
    assert price.of(Usage(1_000_000, 100_000, 300_000)) == pytest.approx(2.0 + 4.0)
    meter = UsageMeter(Budget(tokens=1000, price=price))
    meter.spend(Usage(prompt_tokens=400, output_tokens=200, thinking_tokens=300))
    meter.spend(Usage(total=50))
    assert meter.tokens == 900
    assert meter.exhausted() == "the budget of 1000 tokens is used up (900 spent)"


def test_each_bound_ends_the_run_where_it_is_reached_and_not_before() -> None:
    clock = Clock()
    meter = UsageMeter(Budget(seconds=10, tokens=1000, cost=1.0, price=Price(output=10_000)), clock)
    assert meter.exhausted() is None
    clock.now += 9.9
    assert meter.exhausted() is None
    clock.now += 0.1
    assert "time of 10 s" in (meter.exhausted() or "")
    clock.now -= 5
    meter.spend(Usage(output_tokens=99))
    assert meter.exhausted() is None
    meter.spend(Usage(output_tokens=1))
    assert meter.exhausted() == "the budget of 1 is used up (1 spent)"


def test_a_call_may_cost_what_is_left_at_most() -> None:
    clock = Clock()
    meter = UsageMeter(Budget(seconds=100, tokens=10_000, call=CallBudget(output_tokens=4000, seconds=30)), clock)
    assert meter.allowance() == CallBudget(4000, 30)
    assert meter.allowance(times=2) == CallBudget(8000, 30)
    meter.spend(Usage(prompt_tokens=7000))
    clock.now += 90
    assert meter.allowance(times=2) == CallBudget(3000, 10)
    meter.spend(Usage(prompt_tokens=5000))
    clock.now += 90
    assert meter.allowance() == CallBudget(LEAST_OUTPUT, 1.0), "never nothing, which services take for no limit"


class Requested:
    """One question put until it is answered or given up."""

    def __init__(self, *answers: Said, budget: Budget | None = None) -> None:
        self.planner = Scripted(*answers)
        self.waited: list[float] = []
        self.failures: list[tuple[type[PlannerError], float | None]] = []
        self.clock = Clock()
        self.meter = UsageMeter(budget or Budget(), self.clock)

    async def _sleep(self, seconds: float) -> None:
        self.waited.append(seconds)
        self.clock.now += seconds

    def _failed(self, request: PlanRequest, error: PlannerError, wait: float | None) -> None:
        self.failures.append((type(error), wait))

    def run(self) -> PlanResponse:
        return asyncio.run(request_plan(self.planner, first(), self.meter, self._failed, self._sleep))


def busy(*seconds: float | None) -> Sequence[ServiceUnavailable]:
    return [ServiceUnavailable("busy", status=429, retry_after=each) for each in seconds]


def test_waits_grow_up_to_a_bound_and_the_number_of_calls_has_one_too() -> None:
    asked = Requested(*busy(None), budget=Budget(retries=8))
    with pytest.raises(ServiceUnavailable):
        asked.run()
    assert asked.waited == [1, 2, 4, 8, 16, LONGEST_WAIT, LONGEST_WAIT, LONGEST_WAIT]
    assert len(asked.planner.heard) == 9
    assert asked.failures[-1] == (ServiceUnavailable, None), "of the last one it is said that nothing follows"


def test_what_the_service_says_about_waiting_is_kept_to_unless_it_is_longer_than_the_budget() -> None:
    asked = Requested(*busy(20.0, 25.0, 20.0), "{}", budget=Budget(seconds=60))
    with pytest.raises(ServiceUnavailable):
        asked.run()
    assert asked.waited == [20.0, 25.0]


def test_nothing_is_asked_again_once_the_budget_is_gone() -> None:
    dear = Truncated("cut off", reason="MAX_TOKENS", usage=Usage(total=900), text="{")
    asked = Requested(dear, "{}", budget=Budget(tokens=1000))
    with pytest.raises(Truncated):
        asked.run()
    assert len(asked.planner.heard) == 1 and asked.meter.tokens == 900


def test_a_model_that_does_not_come_to_an_end_is_given_more_room_once() -> None:
    cut = Truncated("cut off", reason="MAX_TOKENS", usage=USAGE, text="{")
    asked = Requested(cut)
    with pytest.raises(Truncated):
        asked.run()
    usual, wide = (request.allowance.output_tokens for request in asked.planner.heard)
    assert wide == 2 * usual and asked.meter.usage.total == 2 * USAGE.total


@pytest.mark.parametrize(
    "error", [KeyRefused("no"), ServiceRefused("no"), NoResponse("nothing", reason="OTHER", usage=USAGE)]
)
def test_what_asking_again_cannot_cure_is_asked_once(error: PlannerError) -> None:
    asked = Requested(error)
    with pytest.raises(type(error)):
        asked.run()
    assert (len(asked.planner.heard), asked.waited) == (1, [])


def test_an_answer_is_paid_for_once_and_fit_to_be_kept() -> None:
    asked = Requested(*busy(0.0), "half a sign \ud800")
    answer = asked.run()
    assert answer.text == "half a sign ?"
    assert asked.meter.usage == USAGE
