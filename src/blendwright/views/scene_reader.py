"""A Blender that looks at scenes of a workspace for whoever asks, in a thread of its own; it ends when nobody has asked for a while.

The workspace may be in use: nothing is locked, and nothing in its journal changes."""

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
# Whoever asks for more at once has left most of it behind already.
MOST_WAITING = 48

_Job = tuple[Callable[[SceneViews], Any], Future[Any]]


class SceneReader:
    """`urgent` work comes before the rest, which is done newest first: what somebody looks at now was asked for last."""

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
        """Have it done; what waits under the same key already is not done twice. Too old a job is cancelled."""
        with self._changed:
            if self._closed:
                raise EnvironmentUnfit("the console is shutting down", cure="Start it again.")
            if urgent:
                queue = self._urgent
            else:
                queue = self._waiting
            for place, (known, job) in enumerate(queue):
                if known == key:
                    queue.append(queue.pop(place))
                    return job[1]
            done: Future[T] = Future()
            queue.append((key, (work, done)))
            if len(queue) > MOST_WAITING:
                queue.pop(0)[1][1].cancel()
            if self._thread is None:
                self._thread = threading.Thread(target=self._serve, name="scene-reader", daemon=True)
                self._thread.start()
            self._changed.notify()
        return done

    def close(self) -> None:
        """End its Blender; returns when that is done."""
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
        """Until nobody has asked for a while. A Blender that could not be had, or broke, fails one job and is had anew for the next."""
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
                # An outermost place: whoever asked is told, and the thread goes on with the next one.
                if job is not None and not job[1].done():
                    job[1].set_exception(error)
                elif not isinstance(error, BlendwrightError):
                    raise

    def _next(self, *, wait: bool) -> _Job | None:
        with self._changed:
            while True:
                queue = self._urgent or self._waiting
                if queue:
                    _, job = queue.pop(0 if queue is self._urgent else -1)
                    if job[1].set_running_or_notify_cancel():
                        return job
                elif self._closed or not wait or not self._changed.wait(self._idle_seconds):
                    if self._urgent or self._waiting:
                        continue  # it came in the last moment
                    if not wait:
                        self._thread = None
                    return None
