"""What code could ask for a number that nobody foresees, pinned: the clock begins at one moment, entropy comes from the seed.

Nothing here is undone, so it is for processes that are given up afterwards. What no name leads to (addresses of objects, the number
of the process) stays as it is: where determinism is demanded, the code is run in two processes and what it did is compared.
"""

import datetime
import importlib
import os
import random
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy
from mathutils import noise

from blendwright.blender.scene.native_clock import replace_clock

# 2000-01-01, midnight.
START_NS = 946_684_800 * 10**9
# So much later it is with every look at the clock: whoever waits for it to go on does not wait for ever.
TICK_NS = 1_000_000
CLOCKS = ("time", "monotonic", "perf_counter", "process_time", "thread_time", "clock_gettime")
BROKEN_DOWN = {"gmtime": time.gmtime, "localtime": time.localtime, "ctime": time.ctime}
# As they were before the first pinning: a process that holds a scene for tests may be pinned again.
_seed, _seed_noise = random.Random.seed, noise.seed_set
_sleep, _strftime, _asctime = time.sleep, time.strftime, time.asctime
_datetime = datetime.datetime


def pin_sources(seed: int) -> None:
    """From now on, in the whole process."""
    _pin_entropy(random.Random(seed))
    random.seed(seed)
    numpy.random.seed(seed)
    _pin_clock(_Clock())


def _pin_entropy(stream: random.Random) -> None:
    def getrandom(size: int, flags: int = 0) -> bytes:
        return stream.randbytes(size)

    def seed(self: random.Random, a: Any = None, version: int = 2) -> None:
        _seed(self, stream.getrandbits(256) if a is None else a, version)

    def seed_noise(value: int) -> None:
        # Blender takes the time for a seed of 0, and when it starts.
        _seed_noise(value or stream.randrange(1, 1 << 31))

    for module in (os, sys.modules[os.name]):
        _replace(module, urandom=stream.randbytes, getrandom=getrandom)
    _replace(random, _urandom=stream.randbytes)  # where SystemRandom, `secrets` and the seeds of numpy have it from
    _replace(random.Random, seed=seed)
    _replace(random, seed=getattr(random, "_inst").seed)  # noqa: B009 - no name that others should use
    _replace(noise, seed_set=seed_noise)
    seed_noise(0)


class _Clock:
    def __init__(self) -> None:
        self._ns = START_NS

    def ns(self, *which: object) -> int:
        self._ns += TICK_NS
        return self._ns

    def seconds(self, *which: object) -> float:
        return self.ns() / 10**9

    def whole_seconds(self) -> int:
        return self.ns() // 10**9

    def sleep(self, seconds: float) -> None:
        _sleep(seconds)
        self._ns += int(seconds * 10**9)


def _pin_clock(clock: _Clock) -> None:
    for name in CLOCKS:
        _replace(time, **{name: clock.seconds, f"{name}_ns": clock.ns})
    for name, read in BROKEN_DOWN.items():
        _replace(time, **{name: _from(clock.seconds, read)})

    def strftime(form: str, moment: Any = None) -> str:
        return _strftime(form, time.localtime() if moment is None else moment)

    _replace(time, sleep=clock.sleep, strftime=strftime, asctime=_from(time.localtime, _asctime))
    _replace(datetime, datetime=_pinned_datetime(clock))
    if sys.platform == "linux":
        core = "numpy._core" if numpy.lib.NumpyVersion(numpy.__version__) >= "2.0.0" else "numpy.core"
        library = importlib.import_module(f"{core}._multiarray_umath").__file__
        replace_clock(str(library), clock.whole_seconds)


def _from(now: Callable[[], Any], read: Callable[[Any], Any]) -> Callable[..., Any]:
    def reading(moment: Any = None) -> Any:
        return read(now() if moment is None else moment)

    return reading


class _Kind(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, _datetime)


def _pinned_datetime(clock: _Clock) -> type:
    class PinnedDatetime(_datetime, metaclass=_Kind):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return cls.fromtimestamp(clock.seconds(), tz)

        @classmethod
        def utcnow(cls) -> Any:
            return cls.fromtimestamp(clock.seconds(), datetime.UTC).replace(tzinfo=None)

    PinnedDatetime.__name__ = PinnedDatetime.__qualname__ = "datetime"
    return PinnedDatetime


def _replace(place: Any, **functions: Any) -> None:
    for name, function in functions.items():
        if hasattr(place, name):
            setattr(place, name, function)
