"""What code could ask for a number that nobody foresees, pinned: the clock begins at one moment, entropy comes from the seed.

All of it is put back when the code has ended, since a process may go on afterwards. What no name leads to (addresses of objects, the
number of the process) stays as it is: where determinism is demanded, the code is run in two processes and what it did is compared.
"""

import contextlib
import datetime
import importlib
import os
import random
import sys
import time
from collections.abc import Callable, Generator
from typing import Any

import numpy
from mathutils import noise

from blendwright.blender.scene.code.native_clock import replaced_clock

# 2000-01-01, midnight.
START_NS = 946_684_800 * 10**9
# So much later it is with every look at the clock: whoever waits for it to go on does not wait for ever.
TICK_NS = 1_000_000
CLOCKS = ("time", "monotonic", "perf_counter", "process_time", "thread_time", "clock_gettime")
BROKEN_DOWN = {"gmtime": time.gmtime, "localtime": time.localtime, "ctime": time.ctime}
_seed, _seed_noise = random.Random.seed, noise.seed_set
_sleep, _strftime, _asctime = time.sleep, time.strftime, time.asctime
_datetime = datetime.datetime


@contextlib.contextmanager
def pinned_sources(seed: int) -> Generator[None]:
    """In the whole process, until the block ends."""
    with contextlib.ExitStack() as undo:
        undo.callback(random.setstate, random.getstate())
        undo.callback(numpy.random.set_state, numpy.random.get_state())
        _pin_entropy(undo, random.Random(seed))
        random.seed(seed)
        numpy.random.seed(seed)
        _pin_clock(undo, _Clock())
        yield


def _pin_entropy(undo: contextlib.ExitStack, stream: random.Random) -> None:
    def getrandom(size: int, flags: int = 0) -> bytes:
        return stream.randbytes(size)

    def seed(self: random.Random, a: Any = None, version: int = 2) -> None:
        _seed(self, stream.getrandbits(256) if a is None else a, version)

    def seed_noise(value: int) -> None:
        # Blender takes the time for a seed of 0, and when it starts.
        _seed_noise(value or stream.randrange(1, 1 << 31))

    for module in (os, sys.modules[os.name]):
        _replace(undo, module, urandom=stream.randbytes, getrandom=getrandom)
    _replace(
        undo, random, _urandom=stream.randbytes
    )  # where SystemRandom, `secrets` and the seeds of numpy have it from
    _replace(undo, random.Random, seed=seed)
    _replace(undo, random, seed=getattr(random, "_inst").seed)  # noqa: B009 - no name that others should use
    _replace(undo, noise, seed_set=seed_noise)
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


def _pin_clock(undo: contextlib.ExitStack, clock: _Clock) -> None:
    for name in CLOCKS:
        _replace(undo, time, **{name: clock.seconds, f"{name}_ns": clock.ns})
    for name, read in BROKEN_DOWN.items():
        _replace(undo, time, **{name: _from(clock.seconds, read)})

    def strftime(form: str, moment: Any = None) -> str:
        return _strftime(form, time.localtime() if moment is None else moment)

    _replace(undo, time, sleep=clock.sleep, strftime=strftime, asctime=_from(time.localtime, _asctime))
    _replace(undo, datetime, datetime=_pinned_datetime(clock))
    if sys.platform == "linux":
        if numpy.lib.NumpyVersion(numpy.__version__) >= "2.0.0":
            core = "numpy._core"
        else:
            core = "numpy.core"
        library = importlib.import_module(f"{core}._multiarray_umath").__file__
        undo.enter_context(replaced_clock(str(library), clock.whole_seconds))


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


def _replace(undo: contextlib.ExitStack, place: Any, **functions: Any) -> None:
    for name, function in functions.items():
        if hasattr(place, name):
            undo.callback(setattr, place, name, getattr(place, name))
            setattr(place, name, function)
