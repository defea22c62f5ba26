"""Named points in all code that must survive a crash, at which a test can kill the process.

Normally they do nothing. `BLENDWRIGHT_CRASH_AT=name:n` kills the process with SIGKILL when it reaches that point for
the nth time. Recovery must then work with the state of the disk.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable

VARIABLE = "BLENDWRIGHT_CRASH_AT"

Act = Callable[[], None]


def die() -> None:
    """Kill this process. A test may replace this action, for example to kill the worker instead."""
    os.kill(os.getpid(), signal.SIGKILL)


_name = ""
_remaining = 0
_act: Act = die


def arm(at: str = "", act: Act = die) -> None:
    """Set the point and the action; `at` is `name:n`, and "" disarms.

    A process arms itself at its start from the environment.
    """
    global _name, _remaining, _act
    name, _, nth = at.rpartition(":")
    _name, _remaining, _act = name, int(nth or 0), act


def reach(name: str) -> None:
    """Report that the process has reached a point, and run the action if it is due."""
    global _remaining
    if name != _name:
        return
    _remaining -= 1
    if _remaining == 0:
        _act()


arm(os.environ.get(VARIABLE, ""))
