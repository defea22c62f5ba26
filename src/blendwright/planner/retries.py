"""One plan requested, with retries: waiting, and calling the service again where that can help.

What goes wrong here is the service's, never the model's mistake: nothing of it reaches the next prompt.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace

from blendwright.planner.budget import UsageMeter
from blendwright.planner.port import (
    NoResponse,
    Planner,
    PlannerError,
    PlanRequest,
    PlanResponse,
    ServiceUnavailable,
    Truncated,
)

FIRST_WAIT = 1.0
LONGEST_WAIT = 30.0

Sleep = Callable[[float], Awaitable[None]]
# The request, its error, and the seconds until the next try; None when there is none.
OnFailure = Callable[[PlanRequest, PlannerError, float | None], None]


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
        return None if widened else 0.0
    if not isinstance(error, ServiceUnavailable):
        return None
    wait = error.retry_after if error.retry_after is not None else min(LONGEST_WAIT, FIRST_WAIT * 2**retry)
    return wait if meter.seconds + wait < meter.budget.seconds else None
