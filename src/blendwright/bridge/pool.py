"""A pool of worker processes: ready spares first, new ones otherwise. Remembers all of them, so that none is left behind."""

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
# Whoever closes a pool waits so long for what workers left; the rest is for whoever uses that directory next.
CLEARING_SECONDS = 5.0


class Pool(WorkerPool):
    """Gives out workers and keeps warm spares. Built by a `ProcessSource` only. Thread-safe."""

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
        """A ready worker, the caller's from now on: a spare when there is one, even one that is still starting.

        Workers that have died since are cleared away in the background. Raises EnvironmentUnfit when Blender cannot be started, and
        DeadlinePassed when none is ready in so many seconds. A `bare` one may read nothing of what `allow` allows: where that is
        anything, no spare will do.
        """
        if seconds is None:
            ends = None
        else:
            ends = monotonic() + seconds
        self._clear_dead()
        bare = bare and bool(self._settings.readable)
        while not bare and (spare := self._next_spare()) is not None:
            # A spare that failed or died is no reason to fail: the worker started below succeeds, or says why not.
            if self._ended_well(spare, ends) and (worker := spare.result()).alive:
                return worker
        if ends is None:
            return self._start(bare=bare)
        with self._lock:
            if self._closed:
                raise WorkerLost(CLOSED)
            starting = self._starters.submit(self._start, bare=bare)
        self._ended_well(starting, ends, spare=not bare)
        return starting.result()

    def _ended_well(self, starting: Future[WorkerProcess], ends: float | None, *, spare: bool = True) -> bool:
        """Wait until a worker has started, or did not. One that takes too long is a spare for whoever comes next, if it can be."""
        try:
            return starting.exception(None if ends is None else max(0.0, ends - monotonic())) is None
        except TimeoutError:
            if spare:
                with self._lock:
                    self._spares.appendleft(starting)
            else:
                starting.add_done_callback(lambda late: late.exception() or late.result().kill())
            raise DeadlinePassed("no Blender process was ready in time") from None

    def warm(self) -> None:
        """Start a spare in the background, unless there are enough; how it went shows in `take`."""
        with self._lock:
            if not self._closed and len(self._spares) < self._limit:
                self._spares.append(self._starters.submit(self._start))
                if self._preparing is None:
                    self._preparing = threading.Thread(target=self.prepare_pictures, name="blendwright-pictures")
                    self._preparing.start()

    def allow(self, readable: Sequence[ReadableFile]) -> None:
        """Let workers that are started from now on read these files; a spare that may not is replaced by one that may."""
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

        It is the first one that `take` returns, if it is what the pool would start itself; otherwise it is ended.
        """
        with self._lock:
            early.adopted = True
            self._early = early

    def close(self) -> None:
        """End every worker that came from here, given out or not, and remove their scratch; a second time does nothing.

        Where one of them took the first picture on this machine, the next one will be quicker: that is waited for."""
        if any(map(shader_cache.has_drawn, list(self._workers))):
            self.prepare_pictures()
        with self._lock:
            self._closed = True
            workers = list(self._workers)
            self._workers.clear()
            self._spares.clear()
            early, self._early = self._early, None
        # All at once first, so that they end side by side.
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
            # Known from its first moment on: a pool that closes meanwhile must find it.
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
            # What was started early may be lost for any reason; one that stays shows with the next.
            return self._start(bare=bare)
        return worker

    def prepare_pictures(self) -> None:
        """Have shaders for the first picture of every worker from now on. How it goes changes nothing else."""
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
        with self._lock:
            dead = [worker for worker in self._workers if not worker.alive]
            self._workers.difference_update(dead)
        for worker in dead:
            self._clearing.submit(worker.close)

    def wait_until_cleared(self, seconds: float = CLEARING_SECONDS) -> bool:
        """Whether what dead workers left is gone within so many seconds; nobody needs to wait for it."""
        self._clear_dead()
        return self._clearing.wait(seconds)
