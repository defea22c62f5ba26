"""The one thread that touches an open workspace, and the queue of work for it.

Clients take turns: one that sends a hundred requests at once keeps nobody else waiting for all of them, and the requests of one client
are done in their order. Blender starts in the background, so that a host is answered before there is one.
"""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

from blendwright.app.open_scene import OpenScene
from blendwright.values.cancel import CancelToken
from blendwright.values.errors import BlendwrightError, EnvironmentUnfit

_log = logging.getLogger(__name__)

T = TypeVar("T")
Work = Callable[[OpenScene], Any]


class WorkspaceQueue:
    """Serves one workspace. `close` ends what is running, rolls it back as any interruption does, and refuses the rest."""

    def __init__(self, opening: Callable[[], OpenScene], *, warm: bool = True) -> None:
        self._opening = opening
        self._warm = warm
        self._waiting: OrderedDict[str, deque[tuple[Work, Future[Any], CancelToken]]] = OrderedDict()
        self._changed = threading.Condition()
        self._running: CancelToken | None = None
        self._closed = False
        self._thread = threading.Thread(target=self._work, name="workspace", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def submit(self, client: str, work: Callable[[OpenScene], T], cancel: CancelToken) -> Future[T]:
        """Have `work` done with the open workspace when it is this client's turn. What cannot be opened fails it."""
        done: Future[T] = Future()
        with self._changed:
            if self._closed:
                raise EnvironmentUnfit("the server is shutting down", cure="Start it again.")
            self._waiting.setdefault(client, deque()).append((work, done, cancel))
            self._changed.notify()
        return done

    @property
    def length(self) -> int:
        """How many wait, without the one at work."""
        with self._changed:
            return sum(map(len, self._waiting.values()))

    def close(self) -> None:
        """Stop the work at hand cleanly and close the workspace; returns when both is done."""
        with self._changed:
            self._closed = True
            running = self._running
            self._changed.notify()
        if running is not None:
            running.cancel()
        if self._thread.ident is not None:
            self._thread.join()

    def _work(self) -> None:
        opened = self._open_ahead() if self._warm else None
        try:
            while (item := self._next()) is not None:
                work, done, _ = item
                if not done.set_running_or_notify_cancel():
                    continue
                try:
                    if opened is None:
                        opened = self._opening()
                    done.set_result(work(opened))
                except BaseException as error:
                    # An outermost place: the thread serves the next one, whatever became of this one.
                    done.set_exception(error)
                with self._changed:
                    self._running = None
        finally:
            if opened is not None:
                opened.close()

    def _open_ahead(self) -> OpenScene | None:
        """Open ahead of the first request. What fails is tried again for the first request, which then reports it."""
        opened: OpenScene | None = None
        try:
            opened = self._opening()
            opened.warm()
        except BlendwrightError:
            return opened
        except Exception:
            # An outermost place: this is the only thread there is, and a defect must not leave everybody waiting for it.
            _log.exception("the workspace could not be opened ahead of the first request")
        return opened

    def _next(self) -> tuple[Work, Future[Any], CancelToken] | None:
        with self._changed:
            while not self._waiting and not self._closed:
                self._changed.wait()
            if self._closed:
                self._refuse_waiting()
                return None
            client, line = self._waiting.popitem(last=False)
            item = line.popleft()
            if line:
                self._waiting[client] = line  # back to the end: the others first
            self._running = item[2]
            return item

    def _refuse_waiting(self) -> None:
        for line in self._waiting.values():
            for _, done, _ in line:
                if done.set_running_or_notify_cancel():  # one that was cancelled gets no answer
                    done.set_exception(EnvironmentUnfit("the server is shutting down", cure="Start it again."))
        self._waiting.clear()
