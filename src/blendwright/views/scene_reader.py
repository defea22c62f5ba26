"""A Blender for views of a workspace's scenes, in a separate thread. It ends after a time without requests.

The workspace may be in use: the reader takes no lock and changes nothing in the journal.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any, TypeVar

from blendwright.bridge.worker_source import WorkerSource
from blendwright.values.errors import BlendwrightError, EnvironmentUnfit
from blendwright.views.scene_views import SceneViews
from blendwright.workspace.reading import inspection_workers, read_journal

T = TypeVar("T")
IDLE_SECONDS = 60.0
# The number of waiting jobs per queue. Beyond it, the oldest job is probably no longer of interest.
MAX_WAITING_JOBS = 48

_Job = tuple[Callable[[SceneViews], Any], Future[Any]]


class SceneReader:
    """A queue of view jobs with one worker thread. `urgent` jobs come first, in order; the other jobs run newest first.

    The newest job is most likely the one that the user is looking at.
    """

    def __init__(
        self,
        workspace: str | Path,
        *,
        blender: str | Path | WorkerSource | None = None,
        idle_seconds: float = IDLE_SECONDS,
    ) -> None:
        self._workspace = Path(workspace)
        self._blender = blender
        self._idle_seconds = idle_seconds
        self._changed = threading.Condition()
        self._urgent: list[tuple[str, _Job]] = []
        self._waiting: list[tuple[str, _Job]] = []
        self._thread: threading.Thread | None = None
        self._closed = False

    def submit(self, key: str, work: Callable[[SceneViews], T], *, urgent: bool = False) -> Future[T]:
        """Add a job and return its future.

        If a job with the same key is waiting, return that one. A full queue cancels its oldest job.
        """
        with self._changed:
            if self._closed:
                raise EnvironmentUnfit("the console is shutting down", cure="Start it again.")
            if urgent:
                queue = self._urgent
            else:
                queue = self._waiting
            for position, (queued_key, job) in enumerate(queue):
                if queued_key == key:
                    queue.append(queue.pop(position))
                    return job[1]
            done: Future[T] = Future()
            queue.append((key, (work, done)))
            if len(queue) > MAX_WAITING_JOBS:
                queue.pop(0)[1][1].cancel()
            if self._thread is None:
                self._thread = threading.Thread(target=self._serve, name="scene-reader", daemon=True)
                self._thread.start()
            self._changed.notify()
        return done

    def close(self) -> None:
        """Cancel the waiting jobs, and wait until the Blender has ended."""
        with self._changed:
            self._closed = True
            thread = self._thread
            for _, (_, done) in (*self._urgent, *self._waiting):
                done.cancel()
            self._urgent.clear()
            self._waiting.clear()
            self._changed.notify()
        if thread is not None:
            thread.join()

    def _serve(self) -> None:
        """Run jobs until the queue stays empty for a while.

        A Blender that fails to start or breaks fails one job; the next job starts another.
        """
        while (job := self._next(wait=False)) is not None:
            try:
                with (
                    read_journal(self._workspace) as journal,
                    inspection_workers(self._workspace, blender=self._blender) as workers,
                ):
                    views = SceneViews(journal, workers.worker())
                    while job is not None:
                        work, done = job
                        done.set_result(work(views))
                        job = self._next(wait=True)
            except Exception as error:
                # An outermost place: the future reports the error, and the thread continues with the next job.
                if job is not None and not job[1].done():
                    job[1].set_exception(error)
                elif not isinstance(error, BlendwrightError):
                    raise

    def _next(self, *, wait: bool) -> _Job | None:
        with self._changed:
            while True:
                queue = self._urgent or self._waiting
                if queue:
                    position = -1
                    if queue is self._urgent:
                        position = 0
                    _, job = queue.pop(position)
                    if job[1].set_running_or_notify_cancel():
                        return job
                elif self._closed or not wait or not self._changed.wait(self._idle_seconds):
                    if self._urgent or self._waiting:
                        continue  # a job came at the last moment
                    if not wait:
                        self._thread = None
                    return None
