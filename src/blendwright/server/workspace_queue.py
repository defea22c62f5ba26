"""The queue of work on one open workspace.

Clients take turns, so that a client with a hundred requests does not block the others. The requests of one client
start in their order. Only the work that has the turn uses the workspace. Work that waits for a person steps aside:
the queue serves other clients, and the work gets the next turn of its client after the answer. Blender starts in the
background, so that the server answers hosts before Blender runs.
"""

from __future__ import annotations

import contextlib
import gc
import logging
import threading
from collections import OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, TypeVar

from blendwright.util.cancel import CancelToken
from blendwright.values.errors import BlendwrightError, EnvironmentUnfit
from blendwright.workspace.open_scene import OpenScene

_log = logging.getLogger(__name__)

T = TypeVar("T")
Work = Callable[[OpenScene], Any]
# The seconds without a request after which the workspace may release caches.
REST_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class _Submitted:
    work: Work
    done: Future[Any]
    cancel: CancelToken


@dataclass(frozen=True, slots=True)
class _Returning:
    """Work that stepped aside and waits for its turn. `turn` is set when the turn comes."""

    cancel: CancelToken
    turn: threading.Event = field(default_factory=threading.Event)


def freeze_loaded_objects() -> None:
    """Exclude the loaded code from garbage collection, once in a process.

    Python collects old objects only when a quarter as many are new. Without the loaded code, that is every 200 calls or so.
    """
    if gc.get_freeze_count():
        return
    gc.collect()
    gc.freeze()
    gc.collect()  # Python counts the old objects during a collection


class WorkspaceQueue:
    """The queue and threads that serve one workspace. `close` stops and rolls back running work and refuses waiting
    work.
    """

    def __init__(self, opening: Callable[[], OpenScene], *, warm: bool = True) -> None:
        self._opening = opening
        self._warm = warm
        self._opened: OpenScene | None = None
        self._waiting: OrderedDict[str, deque[_Submitted | _Returning]] = OrderedDict()
        self._changed = threading.Condition()
        self._running: CancelToken | None = None
        self._aside: list[CancelToken] = []
        self._started = False
        self._closed = False
        self._ended = threading.Event()

    def start(self) -> None:
        self._started = True
        threading.Thread(target=self._open_and_serve, name="workspace", daemon=True).start()

    def submit(self, client: str, work: Callable[[OpenScene], T], cancel: CancelToken) -> Future[T]:
        """Queue `work` for this client's turn and return its future result. If the workspace cannot be opened, the
        future has the error.
        """
        done: Future[T] = Future()
        with self._changed:
            if self._closed:
                raise EnvironmentUnfit("the server is shutting down", cure="Start it again.")
            self._waiting.setdefault(client, deque()).append(_Submitted(work, done, cancel))
            self._changed.notify()
        return done

    def step_aside(self, client: str, wait: Callable[[], T]) -> T:
        """Give up the turn, run `wait`, and return its result after the next turn of this client has come.

        Only the work that has the turn may call this. `wait` must end when the work is cancelled. The scene may have
        changed afterwards.
        """
        with self._changed:
            cancel, self._running = self._running, None
            assert cancel is not None, "only work that has the turn can give it up"
            self._aside.append(cancel)
        threading.Thread(target=self._serve, name="workspace", daemon=True).start()
        try:
            return wait()
        finally:
            returning = _Returning(cancel)
            with self._changed:
                # This work started before the client's other requests, so it comes first.
                self._waiting.setdefault(client, deque()).appendleft(returning)
                self._changed.notify()
            returning.turn.wait()

    @property
    def length(self) -> int:
        """Return the number of waiting items, without the running one."""
        with self._changed:
            return sum(map(len, self._waiting.values()))

    @property
    def idle(self) -> bool:
        """Return whether the workspace is open and no work runs or waits."""
        with self._changed:
            at_rest = self._running is None and not self._aside and not any(self._waiting.values())
            return at_rest and self._opened is not None and not self._closed

    @property
    def aside(self) -> int:
        """Return the number of items that stepped aside and wait for a person."""
        with self._changed:
            return len(self._aside)

    def close(self) -> None:
        """Stop running work cleanly and close the workspace. Returns when both are done."""
        with self._changed:
            self._closed = True
            stopped = [*self._aside]
            if self._running is not None:
                stopped.append(self._running)
            self._changed.notify()
        for cancel in stopped:
            cancel.cancel()
        if self._started:
            self._ended.wait()

    def _open_and_serve(self) -> None:
        if self._warm:
            self._open_ahead()
        freeze_loaded_objects()
        self._serve()

    def _serve(self) -> None:
        """Serve until the workspace is closed. If an item takes the turn back, its thread serves on and this one
        ends.
        """
        while (item := self._next()) is not None:
            if isinstance(item, _Returning):
                item.turn.set()
                return
            if not item.done.set_running_or_notify_cancel():
                continue
            try:
                if self._opened is None:
                    self._opened = self._opening()
                item.done.set_result(item.work(self._opened))
            except BaseException as error:
                # The outermost handler: the thread serves the next item after any error.
                item.done.set_exception(error)
            with self._changed:
                self._running = None
        try:
            if self._opened is not None:
                self._opened.close()
        finally:
            self._ended.set()

    def _open_ahead(self) -> None:
        """Open the workspace before the first request. After a failure the first request tries again and reports the
        error.
        """
        try:
            self._opened = self._opening()
            self._opened.warm()
        except BlendwrightError:
            return
        except Exception:
            # The outermost handler: after any defect the thread must go on to serve requests.
            _log.exception("the workspace could not be opened ahead of the first request")

    def _next(self) -> _Submitted | _Returning | None:
        """Wait for the next item and return it. Return None when the workspace is to be closed and all aside work has
        ended.
        """
        with self._changed:
            is_resting = False
            while True:
                if self._closed:
                    self._refuse_waiting()
                if self._waiting:
                    break
                if self._closed and not self._aside:
                    return None
                timeout = REST_SECONDS
                if is_resting:
                    timeout = None
                if not self._changed.wait(timeout):
                    is_resting = True
                    self._rest()
            client, line = self._waiting.popitem(last=False)
            item = line.popleft()
            if line:
                self._waiting[client] = line  # to the end, so that other clients come first
            self._running = item.cancel
            if isinstance(item, _Returning):
                self._aside.remove(item.cancel)
            return item

    def _rest(self) -> None:
        """Let the workspace release caches, because no client works or waits."""
        if self._opened is not None and not self._aside:
            with contextlib.suppress(BlendwrightError):  # the next request reports the error
                self._opened.rest()

    def _refuse_waiting(self) -> None:
        for client, line in list(self._waiting.items()):
            for item in list(line):
                if isinstance(item, _Returning):
                    continue  # it was cancelled and ends without the queue
                line.remove(item)
                if item.done.set_running_or_notify_cancel():  # cancelled items get no answer
                    item.done.set_exception(EnvironmentUnfit("the server is shutting down", cure="Start it again."))
            if not line:
                del self._waiting[client]
