"""A pool of worker processes. It hands out ready spares first, then new workers, and keeps track of all of them until they end."""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from time import monotonic

from blendwright.bridge import shader_cache
from blendwright.bridge.spawn import Command, EarlyWorker, WorkerSettings, spawn
from blendwright.bridge.worker import WorkerProcess
from blendwright.util.background_removal import BackgroundClearing
from blendwright.values.errors import BlendwrightError, DeadlinePassed, WorkerLost
from blendwright.wire.worker_port import ReadableFile, WorkerPool

CLOSED = "the pool of workers is closed"
# The maximum number of seconds that `close` waits for the removal of workers' files. The next user of the directory removes the rest.
CLEARING_SECONDS = 5.0


class Pool(WorkerPool):
    """A thread-safe pool that hands out workers and keeps warm spares. Only a `ProcessSource` creates one."""

    def __init__(self, command: Command, settings: WorkerSettings, *, spares: int = 1) -> None:
        self._command = command
        self._settings = settings
        self._limit = spares
        self._lock = threading.Lock()
        self._closed = False
        self._early: EarlyWorker | None = None
        self._release: Callable[[], None] = lambda: None
        self._preparing: threading.Thread | None = None
        self._pictures = threading.Lock()
        self._workers: set[WorkerProcess] = set()
        self._spares: deque[Future[WorkerProcess]] = deque()
        self._clearing = BackgroundClearing()
        self._starters = ThreadPoolExecutor(max_workers=max(1, spares), thread_name_prefix="blendwright-spare")

    def take(self, *, bare: bool = False, seconds: float | None = None) -> WorkerProcess:
        """Return a ready worker, which then belongs to the caller. Prefer a spare, even one that is still starting.

        Remove dead workers in the background. Raise EnvironmentUnfit if Blender cannot start, and DeadlinePassed if no worker is ready
        within `seconds`. A `bare` worker may read no file from `allow`, so if there are such files, no spare is suitable.
        """
        if seconds is None:
            ends = None
        else:
            ends = monotonic() + seconds
        self._clear_dead()
        bare = bare and bool(self._settings.readable)
        if not bare:
            worker = self._take_spare(ends)
            if worker is not None:
                return worker

        if ends is None:
            return self._start(bare=bare)
        with self._lock:
            if self._closed:
                raise WorkerLost(CLOSED)
            starting = self._starters.submit(self._start, bare=bare)
        self._ended_well(starting, ends, spare=not bare)
        return starting.result()

    def _take_spare(self, ends: float | None) -> WorkerProcess | None:
        """Return a living spare; None without one.

        Skip spares that failed or died. The worker that `take` starts instead succeeds, or reports the reason."""
        while (spare := self._next_spare()) is not None:
            if self._ended_well(spare, ends):
                worker = spare.result()
                if worker.alive:
                    return worker
        return None

    def _ended_well(self, starting: Future[WorkerProcess], ends: float | None, *, spare: bool = True) -> bool:
        """Wait for a start and return True if it succeeded.

        After the deadline, keep the worker as a spare or kill it, and raise DeadlinePassed.
        """
        if ends is None:
            seconds = None
        else:
            seconds = max(0.0, ends - monotonic())
        try:
            return starting.exception(seconds) is None
        except TimeoutError:
            if spare:
                with self._lock:
                    self._spares.appendleft(starting)
            else:
                starting.add_done_callback(_kill_when_started)
            raise DeadlinePassed("no Blender process was ready in time") from None

    def warm(self) -> None:
        """Start a spare in the background, unless there are enough. `take` reports a failure."""
        with self._lock:
            if not self._closed and len(self._spares) < self._limit:
                self._spares.append(self._starters.submit(self._start))
                if self._preparing is None:
                    self._preparing = threading.Thread(target=self.prepare_pictures, name="blendwright-pictures")
                    self._preparing.start()

    def allow(self, readable: Sequence[ReadableFile]) -> None:
        """Let workers that start from now on read these files. Replace spares that may not."""
        with self._lock:
            if tuple(readable) == self._settings.readable:
                return
            self._settings = replace(self._settings, readable=tuple(readable))
            outdated = list(self._spares)
            self._spares.clear()
        for spare in outdated:
            if spare.exception() is None:
                spare.result().kill()
        for _ in outdated:
            self.warm()

    def adopt(self, early: EarlyWorker) -> None:
        """Take over a worker that was started before this pool existed.

        `take` returns it first if the pool would start the same process. Otherwise the pool ends it.
        """
        with self._lock:
            early.adopted = True
            self._early = early

    def close(self) -> None:
        """End every worker of this pool, handed out or not, and remove their scratch directories. A second call does nothing.

        If a worker took the first picture on this machine, prepare its shaders first, so that the next first picture is faster.
        """
        if any(map(shader_cache.has_drawn, list(self._workers))):
            self.prepare_pictures()
        with self._lock:
            self._closed = True
            workers = list(self._workers)
            self._workers.clear()
            self._spares.clear()
            early, self._early = self._early, None
        # Kill all of them before waiting for any, so that they end in parallel.
        for worker in workers:
            worker.kill()
        for worker in workers:
            self._clearing.submit(worker.close)
        if early is not None:
            early.discard()
        self._starters.shutdown(wait=True)
        if self._preparing is not None:
            self._preparing.join()
        self._clearing.wait(CLEARING_SECONDS)
        self._release()

    def _start(self, *, bare: bool = False) -> WorkerProcess:
        """Start and return a worker, or use the adopted one. Raise WorkerLost if the pool is closed."""
        with self._lock:
            if self._closed:
                raise WorkerLost(CLOSED)
            if bare:
                settings = replace(self._settings, readable=())
            else:
                settings = self._settings
            early, self._early = self._early, None
            if early is not None and early.fits(self._command([]), settings):
                child = early.child
            else:
                child = None
            # Add it immediately, so that a concurrent `close` finds it.
            worker = WorkerProcess(child or spawn(self._command, settings))
            self._workers.add(worker)
            if early is not None and child is not None:
                self._release = early.release
        if early is not None and child is None:
            early.discard()
        try:
            worker.greet(self._settings.start_timeout)
        except BlendwrightError:
            with self._lock:
                self._workers.discard(worker)
            if child is None:
                raise
            # An early worker may fail for a temporary reason. A permanent one shows with the next worker.
            return self._start(bare=bare)
        return worker

    def prepare_pictures(self) -> None:
        """Prepare shaders for the first picture of later workers. A failure has no consequences."""
        with self._pictures, contextlib.suppress(BlendwrightError):
            command = self._command([])
            if shader_cache.kept(command) is None:
                worker = self._start(bare=True)
                shader_cache.prepare(command, worker)
                worker.kill()

    def _next_spare(self) -> Future[WorkerProcess] | None:
        with self._lock:
            if self._spares:
                return self._spares.popleft()
            return None

    def _clear_dead(self) -> None:
        """Remove dead workers from the pool and their directories in the background."""
        with self._lock:
            dead = [worker for worker in self._workers if not worker.alive]
            self._workers.difference_update(dead)
        for worker in dead:
            self._clearing.submit(worker.close)

    def wait_until_cleared(self, seconds: float = CLEARING_SECONDS) -> bool:
        """Return True if the files of dead workers are removed within `seconds`. No caller depends on this."""
        self._clear_dead()
        return self._clearing.wait(seconds)


def _kill_when_started(start: Future[WorkerProcess]) -> None:
    if start.exception() is None:
        start.result().kill()
