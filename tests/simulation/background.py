"""The thread in which background checkpoints are made, in a simulated world: what it is given is done whole, between two named points of
the core or while somebody waits for it, whenever the seed says."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any

from simulation.world import Killed, World

# Named points that the core comes by before it is the thread's turn.
LATEST = 40


class BackgroundJob(Future[Any]):
    """Whoever waits for it has it done."""

    def __init__(self, world: World, act: Callable[[], Any]) -> None:
        super().__init__()
        self._world = world
        self._act = act
        self._begun = False
        self.points_left = world.chance.randint(1, LATEST)

    def run(self) -> None:
        """Once. A kill of the process is no failure of the job; nor is what the simulation itself finds wrong."""
        if self._begun:
            return
        self._begun = True
        self.set_running_or_notify_cancel()
        world = self._world
        world.jobs.remove(self)
        world.in_background, was_there = True, world.in_background
        try:
            result = self._act()
        except (Killed, AssertionError):
            raise
        except BaseException as error:
            world.say(f"the thread failed: {type(error).__name__}: {error}")
            self.set_exception(error)
        else:
            self.set_result(result)
        finally:
            world.in_background = was_there

    def exception(self, timeout: float | None = None) -> BaseException | None:
        self.run()
        return super().exception(0)

    def result(self, timeout: float | None = None) -> Any:
        self.run()
        return super().result(0)


class BackgroundThread(Executor):
    """Instead of `ThreadPoolExecutor`."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._jobs: list[BackgroundJob] = []

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> BackgroundJob:
        job = BackgroundJob(self._world, lambda: fn(*args, **kwargs))
        self._jobs.append(job)
        self._world.jobs.append(job)
        return job

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        if wait:
            for job in self._jobs:
                job.run()
