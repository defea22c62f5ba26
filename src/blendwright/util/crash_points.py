"""Named places around everything that must survive a crash, at which a test can have a process killed.

In use nothing happens here. `BLENDWRIGHT_CRASH_AT=name:n` kills the process by SIGKILL when it gets to that place for the nth time:
what the disk holds then is what recovery has to live with.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable

VARIABLE = "BLENDWRIGHT_CRASH_AT"

Act = Callable[[], None]


def die() -> None:
    """What happens at the place, unless a test has something else in mind: the worker's end, say."""
    os.kill(os.getpid(), signal.SIGKILL)


_name = ""
_remaining = 0
_act: Act = die


def arm(at: str = "", act: Act = die) -> None:
    """`at` is `name:n`; nothing disarms. A process does it at its start, from the environment; a test whenever it likes."""
    global _name, _remaining, _act
    name, _, nth = at.rpartition(":")
    _name, _remaining, _act = name, int(nth or 0), act


def reach(name: str) -> None:
    """The process is at this place."""
    global _remaining
    if name != _name:
        return
    _remaining -= 1
    if _remaining == 0:
        _act()


arm(os.environ.get(VARIABLE, ""))
