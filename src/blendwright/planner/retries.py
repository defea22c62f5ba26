"""One plan asked for, however often the service fails: waiting, and asking again where that can help.

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
# What failed, under which request, and for how long is waited; None when it is not asked again.
OnFailure = Callable[[PlanRequest, PlannerError, float | None], None]


async def request_plan(
    planner: Planner, request: PlanRequest, meter: UsageMeter, failed: OnFailure, sleep: Sleep
) -> PlanResponse:
    """The answer, paid for; raises the last PlannerError when it was no use to go on. `failed` hears of every one."""
    times = 1
    for retry in range(meter.limits.retries + 1):
        asked = replace(request, allowance=meter.allowance(times))
        try:
            answer = await planner.plan(asked)
        except PlannerError as error:
            if isinstance(error, NoResponse):
                meter.spend(error.usage)
            wait = _wait(error, retry, meter, widened=times > 1)
            failed(asked, error, wait)
            if wait is None:
                raise
            if isinstance(error, Truncated):
                times *= 2
            await sleep(wait)
        else:
            meter.spend(answer.usage)
            # Half a surrogate pair is nothing that could be kept or told on.
            return replace(answer, text=answer.text.encode("utf-8", "replace").decode())
    raise AssertionError("the last retry returns or raises")


def _wait(error: PlannerError, retry: int, meter: UsageMeter, *, widened: bool) -> float | None:
    """How long to wait before the same is asked again; None when that would be of no use, or over the limits."""
    if retry >= meter.limits.retries or meter.exhausted():
        return None
    if isinstance(error, Truncated):
        # With more room, once: a model that does not come to an end is not to be paid for twice.
        return None if widened else 0.0
    if not isinstance(error, ServiceUnavailable):
        return None
    wait = error.retry_after if error.retry_after is not None else min(LONGEST_WAIT, FIRST_WAIT * 2**retry)
    return wait if meter.seconds + wait < meter.limits.seconds else None
