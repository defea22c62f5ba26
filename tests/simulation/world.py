"""One simulated world: everything in it that is not the core's own doing comes from one seed, and so does the time.

Responsible for: the chance, the clock, the trace, and the instants at which something happens to the core: it is killed, interrupted,
cancelled, or the disk refuses. Nothing waits here: whoever would wait moves the clock.
"""

from __future__ import annotations

import contextlib
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field
from functools import lru_cache
from types import ModuleType
from typing import Any, NamedTuple, Protocol
from unittest.mock import patch

from blendwright.engine.code import sandbox_run as isolated_code
from blendwright.engine.scene import background_checkpoints
from blendwright.engine.scene.rebuild import WINDOW
from blendwright.engine.sending import bulk_policy, pipeline
from blendwright.util import crash_points
from blendwright.wire.remote_scene import HANG_SECONDS
from simulation.toy_code import ToyGuard, same_bytes

# No single thing that a core is asked for may take longer, in the time of this world: a worker that hangs in a rebuild is waited for as
# long as all steps of its request may take together, by the core and by whoever follows it.
LONGEST = 4 * WINDOW * HANG_SECONDS


class Killed(BaseException):
    """The core is dead. What it still does on its way out happens in a directory that nobody looks at any more."""


class Hangs(AssertionError):
    """The core waits for what never comes."""


@dataclass(slots=True)
class Rates:
    """How often each misfortune happens, out of one. Some worlds are calm, others are not."""

    dies: float = 0.0
    hangs: float = 0.0
    slow: float = 0.0
    breach: float = 0.0
    error: float = 0.0
    fails: float = 0.0
    spoils: float = 0.0
    no_start: float = 0.0
    excess: float = 0.0
    lies: float = 0.0
    last_moment: float = 0.5

    @classmethod
    def drawn(cls, chance: random.Random) -> Rates:
        severity = chance.choice((0.0, 0.2, 1.0, 1.0, 3.0))
        most = {
            "dies": 0.04,
            "hangs": 0.02,
            "slow": 0.03,
            "breach": 0.01,
            "error": 0.01,
            "fails": 0.05,
            "spoils": 0.01,
            "no_start": 0.03,
            "excess": 0.1,
        }
        drawn = {name: chance.random() * rate * severity for name, rate in most.items()}
        return cls(**drawn, lies=0.1 if chance.random() < 0.12 else 0.0)


@dataclass(slots=True)
class Waiting:
    """What will happen at a named point: `name` is "" where any point counts, `nth` says when."""

    nth: int
    act: Callable[[str], None]
    name: str = ""


class Job(Protocol):
    """What a thread of the core will do, after so many more named points."""

    points_left: int

    def run(self) -> None: ...


@lru_cache(maxsize=1)
def _clocks(modules: int) -> list[tuple[ModuleType, str]]:
    """Where the engine has the machine's clocks; looked up again when there are more modules than before."""
    clocks = (time.monotonic, time.perf_counter)
    engine = [module for name, module in sys.modules.items() if name.partition(".")[0] == "blendwright"]
    return [
        (module, name)
        for module in engine
        for name, value in list(vars(module).items())
        if any(value is clock for clock in clocks)
    ]


class _Done(NamedTuple):
    done: set[Future[Any]]
    not_done: set[Future[Any]]


@dataclass
class World:
    """The world of one seed."""

    seed: int
    chance: random.Random = field(init=False)
    rates: Rates = field(init=False)
    now: float = 1000.0
    dead: bool = False
    lied: bool = False
    """Whether a worker said of a sound scene that it is another one: only then may a workspace be quarantined."""
    trace: list[str] = field(default_factory=list[str])
    reached: Counter[str] = field(default_factory=Counter[str])
    struck: Counter[str] = field(default_factory=Counter[str])
    """What happened to the core, and at which points."""
    waiting: list[Waiting] = field(default_factory=list[Waiting])

    jobs: list[Job] = field(default_factory=list[Job])
    in_background: bool = False
    """Whether a thread of the core is at work, and not the one that a user waits for."""

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)
        self.rates = Rates.drawn(self.chance)
        self._bytes = random.Random(-1 - self.seed)
        self._action_began = self.now

    # ------------------------------------------------------------------ time

    def monotonic(self) -> float:
        return self.now

    def begin_action(self, what: str) -> None:
        self._action_began = self.now
        self.say(what)

    def advance_to(self, moment: float) -> None:
        self.now = max(self.now, moment)
        if self.now - self._action_began > LONGEST:
            raise Hangs(f"it took {self.now - self._action_began:.0f} s of this world's time, with no end in sight")

    # ------------------------------------------------------------------ what happens

    def say(self, what: str) -> None:
        self.trace.append(what)

    def happens(self, rate: float) -> bool:
        return self.chance.random() < rate

    def reach(self, name: str) -> None:
        """Instead of `crash_points.reach`."""
        if self.dead:
            return
        self.reached[name] += 1
        self._run_jobs()
        for one in list(self.waiting):
            if one.name in ("", name):
                one.nth -= 1
                if one.nth == 0:
                    self.waiting.remove(one)
                    one.act(name)

    def _run_jobs(self) -> None:
        for job in () if self.in_background else list(self.jobs):
            job.points_left -= 1
            if job.points_left <= 0:
                job.run()

    # ------------------------------------------------------------------ in place of the machine

    def _wait(self, futures: Sequence[Future[Any]], timeout: float | None = None) -> _Done:
        """Instead of `concurrent.futures.wait`, which knows no other time than the machine's."""
        (future,) = futures
        with contextlib.suppress(TimeoutError, Exception):
            future.result(timeout)
        done = {future} if future.done() else set[Future[Any]]()
        return _Done(done, set(futures) - done)

    @contextlib.contextmanager
    def installed(self, thread: Callable[[World], Executor]) -> Generator[None]:
        """The core lives in this world; `thread` makes what stands for the thread that it has besides its own."""
        with contextlib.ExitStack() as stack:
            for module, name in _clocks(len(sys.modules)):
                stack.enter_context(patch.object(module, name, self.monotonic))
            stack.enter_context(patch.object(pipeline, "wait", self._wait))
            if self.seed % 4 == 3:
                # Operations travel in bulks in every fourth world, of which a plan has several.
                stack.enter_context(patch.object(bulk_policy, "LONG_RUN", 2))
                stack.enter_context(patch.object(bulk_policy, "BULK", 32))
            stack.enter_context(patch.object(crash_points, "reach", self.reach))

            def begin_thread(workers: int, *, thread_name_prefix: str) -> Executor:
                return thread(self)

            def leave_priority(worker: object) -> None:
                """Processes that have the numbers of simulated workers are somebody else's."""

            stack.enter_context(patch.object(background_checkpoints, "ThreadPoolExecutor", begin_thread))
            stack.enter_context(patch.object(background_checkpoints, "_lower_priority", leave_priority))
            stack.enter_context(patch.object(isolated_code, "ResourceGuard", ToyGuard))
            stack.enter_context(patch.object(isolated_code, "same_content", same_bytes))
            stack.enter_context(patch.object(os, "urandom", self._bytes.randbytes))
            yield
