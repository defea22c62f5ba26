"""The turns of programs on a server: a few are evaluated at a time, and the others wait in order.

The time that a program waits counts as time of its call.
"""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from blendwright.programs.evaluator_process import MOST_AT_ONCE, EvaluationStopped, GoOn
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault

T = TypeVar("T")


class ProgramTurns:
    """The threads of one server that evaluate programs. Other work has other threads."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(MOST_AT_ONCE, "program")

    async def run(self, seconds: float | None, work: Callable[[GoOn], T]) -> T:
        """Run `work` in a thread and return its result. `work` calls its argument to learn whether to continue.

        Raises Refusal when `seconds` are over before the program has ended.
        """
        if seconds is None:
            deadline = math.inf
        else:
            deadline = time.monotonic() + seconds
        abandoned = threading.Event()

        def is_wanted(_: float) -> bool:
            return not abandoned.is_set() and time.monotonic() < deadline

        try:
            async with asyncio.timeout(seconds):
                return await asyncio.wrap_future(self._threads.submit(work, is_wanted))
        except (TimeoutError, EvaluationStopped):
            message = f"the {seconds or 0:g} s of the call were over before the program was evaluated"
            fix = "Allow more time, send fewer programs at once, or make them shorter."
            raise Refusal.of(Fault.TOOL_TIMEOUT, message, fix) from None
        finally:
            abandoned.set()
