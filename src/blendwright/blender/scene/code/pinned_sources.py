"""Fixed sources of time and randomness for a caller's code: the clock starts at a fixed moment, and entropy comes from the seed.

All sources are restored when the code ends, since the process may continue. Values that no name leads to stay variable, such as
object addresses and the process id. Where determinism is required, the engine runs the code in two processes and compares the results.
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

# The start of the pinned clock: 2000-01-01, midnight UTC, in nanoseconds.
START_NS = 946_684_800 * 10**9
# Nanoseconds by which every reading advances the clock, so that code which waits for a later time ends.
TICK_NS = 1_000_000
CLOCKS = ("time", "monotonic", "perf_counter", "process_time", "thread_time", "clock_gettime")
BROKEN_DOWN = {"gmtime": time.gmtime, "localtime": time.localtime, "ctime": time.ctime}
_seed, _seed_noise = random.Random.seed, noise.seed_set
_sleep, _strftime, _asctime = time.sleep, time.strftime, time.asctime
_datetime = datetime.datetime


@contextlib.contextmanager
def pinned_sources(seed: int) -> Generator[None]:
    """Pin clocks and random numbers of the whole process until the block ends."""
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
        if a is None:
            a = stream.getrandbits(256)
        _seed(self, a, version)

    def seed_noise(value: int) -> None:
        # Blender uses the time as the seed when it starts, and in place of a seed of 0.
        _seed_noise(value or stream.randrange(1, 1 << 31))

    for module in (os, sys.modules[os.name]):
        _replace(undo, module, urandom=stream.randbytes, getrandom=getrandom)
    # SystemRandom, `secrets` and the seeds of numpy read this name.
    _replace(undo, random, _urandom=stream.randbytes)
    _replace(undo, random.Random, seed=seed)
    _replace(undo, random, seed=getattr(random, "_inst").seed)  # noqa: B009 - a private name
    _replace(undo, noise, seed_set=seed_noise)
    seed_noise(0)


class _Clock:
    """A clock that starts at START_NS and advances by TICK_NS with each reading.

    Readings ignore their arguments, since `clock_gettime` takes the id of a clock."""

    def __init__(self) -> None:
        self._ns = START_NS

    def ns(self, *_clock_id: object) -> int:
        self._ns += TICK_NS
        return self._ns

    def seconds(self, *_clock_id: object) -> float:
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
        if moment is None:
            moment = time.localtime()
        return _strftime(form, moment)

    _replace(undo, time, sleep=clock.sleep, strftime=strftime, asctime=_from(time.localtime, _asctime))
    _replace(undo, datetime, datetime=_pinned_datetime(clock))
    if sys.platform == "linux":
        if numpy.lib.NumpyVersion(numpy.__version__) >= "2.0.0":
            core = "numpy._core"
        else:
            core = "numpy.core"
        library = importlib.import_module(f"{core}._multiarray_umath").__file__
        undo.enter_context(replaced_clock(str(library), clock.whole_seconds))


def _from(current: Callable[[], Any], read: Callable[[Any], Any]) -> Callable[..., Any]:
    """Return a variant of `read` whose argument defaults to `current()`."""

    def reading(moment: Any = None) -> Any:
        if moment is None:
            moment = current()
        return read(moment)

    return reading


class _DatetimeType(type):
    """The metaclass of the pinned datetime class: instances of the real class count as its instances."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, _datetime)


def _pinned_datetime(clock: _Clock) -> type:
    class PinnedDatetime(_datetime, metaclass=_DatetimeType):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return cls.fromtimestamp(clock.seconds(), tz)

        @classmethod
        def utcnow(cls) -> Any:
            return cls.fromtimestamp(clock.seconds(), datetime.UTC).replace(tzinfo=None)

    PinnedDatetime.__name__ = PinnedDatetime.__qualname__ = "datetime"
    return PinnedDatetime


def _replace(undo: contextlib.ExitStack, owner: Any, **functions: Any) -> None:
    """Replace the attributes that `owner` has, and register their restoration with `undo`."""
    for name, function in functions.items():
        if hasattr(owner, name):
            undo.callback(setattr, owner, name, getattr(owner, name))
            setattr(owner, name, function)
