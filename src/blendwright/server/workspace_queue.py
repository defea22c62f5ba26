"""The turns on an open workspace, and the queue of work for it.

Clients take turns: one that sends a hundred requests at once keeps nobody else waiting for all of them, and the requests of one client
are begun in their order. Only whoever has the turn touches the workspace. Work that has to wait for a person steps aside: others are
served until the answer is there, and it gets the next turn of its client. Blender starts in the background, so that a host is
answered before there is one.
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
# Nobody has asked for anything this long: the next request is not about to come.
REST_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class _Submitted:
    work: Work
    done: Future[Any]
    cancel: CancelToken


@dataclass(frozen=True, slots=True)
class _Returning:
    """Work that stepped aside and waits for its turn; `turn` is set when it has it."""

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
    """Serves one workspace. `close` ends what is running, rolls it back as any interruption does, and refuses the rest."""

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
        """Have `work` done with the open workspace when it is this client's turn. What cannot be opened fails it."""
        done: Future[T] = Future()
        with self._changed:
            if self._closed:
                raise EnvironmentUnfit("the server is shutting down", cure="Start it again.")
            self._waiting.setdefault(client, deque()).append(_Submitted(work, done, cancel))
            self._changed.notify()
        return done

    def step_aside(self, client: str, wait: Callable[[], T]) -> T:
        """For the work that has the turn: serve the others while `wait` lasts, which must end when the work is cancelled; then wait
        for the next turn of this client. The workspace may be another afterwards."""
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
                # It was begun before whatever else this client has sent.
                self._waiting.setdefault(client, deque()).appendleft(returning)
                self._changed.notify()
            returning.turn.wait()

    @property
    def length(self) -> int:
        """How many wait, without the one at work."""
        with self._changed:
            return sum(map(len, self._waiting.values()))

    @property
    def idle(self) -> bool:
        """Whether the workspace is open and nobody works in it or waits for a turn."""
        with self._changed:
            at_rest = self._running is None and not self._aside and not any(self._waiting.values())
            return at_rest and self._opened is not None and not self._closed

    @property
    def aside(self) -> int:
        """How many have stepped aside, and wait for a person."""
        with self._changed:
            return len(self._aside)

    def close(self) -> None:
        """Stop the work at hand cleanly and close the workspace; returns when both is done."""
        with self._changed:
            self._closed = True
            stopped = [*self._aside, *([] if self._running is None else [self._running])]
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
        """Serve until the workspace is closed, or the turn goes to a thread that had stepped aside, which serves on."""
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
                # An outermost place: the thread serves the next one, whatever became of this one.
                item.done.set_exception(error)
            with self._changed:
                self._running = None
        try:
            if self._opened is not None:
                self._opened.close()
        finally:
            self._ended.set()

    def _open_ahead(self) -> None:
        """Open ahead of the first request. What fails is tried again for the first request, which then reports it."""
        try:
            self._opened = self._opening()
            self._opened.warm()
        except BlendwrightError:
            return
        except Exception:
            # An outermost place: nobody else serves yet, and a defect must not leave everybody waiting.
            _log.exception("the workspace could not be opened ahead of the first request")

    def _next(self) -> _Submitted | _Returning | None:
        """Whose turn it is; None when the workspace is to be closed, which is after all that stepped aside have ended."""
        with self._changed:
            rests = False
            while True:
                if self._closed:
                    self._refuse_waiting()
                if self._waiting:
                    break
                if self._closed and not self._aside:
                    return None
                if not self._changed.wait(None if rests else REST_SECONDS):
                    rests = True
                    self._rest()
            client, line = self._waiting.popitem(last=False)
            item = line.popleft()
            if line:
                self._waiting[client] = line  # back to the end: the others first
            self._running = item.cancel
            if isinstance(item, _Returning):
                self._aside.remove(item.cancel)
            return item

    def _rest(self) -> None:
        """Let the workspace release caches, because no client works or waits."""
        if self._opened is not None and not self._aside:
            with contextlib.suppress(BlendwrightError):  # whoever asks next is told what is wrong
                self._opened.rest()

    def _refuse_waiting(self) -> None:
        for client, line in list(self._waiting.items()):
            for item in list(line):
                if isinstance(item, _Returning):
                    continue  # it was cancelled, and ends by itself
                line.remove(item)
                if item.done.set_running_or_notify_cancel():  # one that was cancelled gets no answer
                    item.done.set_exception(EnvironmentUnfit("the server is shutting down", cure="Start it again."))
            if not line:
                del self._waiting[client]
