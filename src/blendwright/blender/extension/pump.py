"""The timer that runs a core's requests in Blender's main thread. The standard library only; what runs them is given to it.

While requests come it waits for the next one for a slice, since every return to Blender's own loop costs a redraw. The slice follows
what that redraw costs. When nothing comes it lets Blender be.
"""

import logging
import queue
from collections.abc import Callable
from time import monotonic
from typing import Any, Protocol

from .connection import Core, Dropped, Listener, error_body, id_of, result_body
from .package_loader import CannotLoad

SHORTEST_SLICE = 0.008
LONGEST_SLICE = 0.25
# Of the time that goes by, so much more is ours than the redraw's.
SHARE = 4
# Since the last request: returned to Blender with no pause, with short pauses, with long ones.
HOT_SECONDS = 0.25
WARM_SECONDS = 3.0
WARM_INTERVAL = 0.02
IDLE_INTERVAL = 0.25
DROPPED = "dropped"
# As many as the panel shows.
MOST_PLANS = 5

logger = logging.getLogger(__name__)


class Session(Protocol):
    """What our package does with requests; see blendwright.blender.window.session."""

    ended: str | None
    status: Any

    @property
    def is_waiting(self) -> bool: ...
    def take(self, body: bytes) -> list[bytes]: ...
    def retry(self) -> list[bytes]: ...
    def drop_waiting(self) -> list[bytes]: ...
    def answer_pending(self) -> list[bytes]: ...
    def must_answer_pending(self) -> bool: ...
    def refusal(self, request_id: int | None) -> bytes: ...
    def console_page(self) -> str: ...
    def close(self) -> None: ...


Attach = Callable[[dict[str, Any]], tuple[Session, dict[str, Any]]]


class Pump:
    """Between the queue of a listener and the session of the attached core."""

    def __init__(self, listener: Listener, attach: Attach) -> None:
        self._listener = listener
        self._attach = attach
        self._core: Core | None = None
        self.session: Session | None = None
        # What cores that are gone have done in this file, the last first: a command attaches for as long as it runs.
        self.former_plans: list[dict[str, Any]] = []
        self._slice = SHORTEST_SLICE
        self._last_request = 0.0
        self._returned: tuple[float, float] | None = None

    def tick(self) -> float:
        """What the timer calls; returns in how many seconds it wants to be called again."""
        self._follow_redraw()
        try:
            self.pump(self._slice)
        except Exception:
            # An outermost place: Blender drops a timer that raises, and nobody would be answered any more.
            logger.exception("the core is hung up on")
            self._release()
        idle = monotonic() - self._last_request
        if idle < HOT_SECONDS:
            interval = 0.0
        elif idle < WARM_SECONDS:
            interval = WARM_INTERVAL
        else:
            interval = IDLE_INTERVAL
        self._returned = (monotonic(), interval)
        return interval

    def _follow_redraw(self) -> None:
        if self._returned is not None:
            at, interval = self._returned
            redraw = monotonic() - at - interval
            # After a pause there is nothing to be measured: the loop may have slept.
            if interval == 0.0:
                self._slice = min(max(SHARE * redraw, SHORTEST_SLICE), LONGEST_SLICE)

    def pump(self, slice_seconds: float) -> None:
        """Run what is queued, and what comes within the slice while requests come at all."""
        ends = monotonic() + slice_seconds
        try:
            while self._step(ends):
                pass
        finally:
            self._flush()

    def _step(self, ends: float) -> bool:
        """Run one request, if there is one; whether to go on."""
        core = self._listener.core
        if core is not self._core:
            self._release()
            self._core = core
        if core is None:
            return False
        if core.is_closed:
            self._release()
            return False
        if self.session is None:
            self._begin(core)
            return self.session is not None
        if self.session.is_waiting and self.session.ended is None:
            core.send(self.session.drop_waiting() if core.drops_waiting else self.session.retry())
            if self.session.is_waiting:
                self._last_request = monotonic()
                return False
            return True
        body = self._next(core, ends)
        if body is None:
            return False
        self._last_request = monotonic()
        if isinstance(body, Dropped):
            self._answer_dropped(core, body)
        else:
            self._run(core, self.session, body)
        return self._core is not None and monotonic() < ends

    def _answer_dropped(self, core: Core, dropped: Dropped) -> None:
        self._flush()
        core.drops_waiting = False
        answers = [error_body(each, DROPPED, "nobody waits for this request any more") for each in dropped.ids]
        core.send([*answers, result_body(dropped.request_id, {"dropped": len(answers)})])

    def _next(self, core: Core, ends: float) -> bytes | Dropped | None:
        """The next request; when none is there, the answers that wait go out before this does."""
        try:
            body = core.frames.get_nowait()
        except queue.Empty:
            self._flush()
            rest = ends - monotonic()
            if rest <= 0 or monotonic() - self._last_request > HOT_SECONDS:
                return None
            try:
                body = core.frames.get(timeout=rest)
            except queue.Empty:
                return None
        if body is None:  # it has hung up
            self._release()
        return body

    def _run(self, core: Core, session: Session, body: bytes) -> None:
        if session.ended is not None:
            core.send([session.refusal(id_of(body))])
            self._release()
            return
        core.send(session.take(body))
        if session.must_answer_pending():
            self._flush()

    def _begin(self, core: Core) -> None:
        self._last_request = monotonic()
        try:
            self.session, answer = self._attach(core.params)
            core.session = self.session
        except CannotLoad as error:
            core.send([error_body(1, error.code, str(error))])
            self._release()
        except Exception as error:
            # An outermost place: a core whose package fails must not stop the timer.
            logger.exception("a core could not be attached")
            core.send([error_body(1, "cannot_load", f"{type(error).__name__}: {error}")])
            self._release()
        else:
            core.send([result_body(1, answer)])

    def _flush(self) -> None:
        if self._core is not None and self.session is not None and self.session.ended is None:
            self._core.send(self.session.answer_pending())

    def close(self) -> None:
        """The person disconnects."""
        self._release()

    def _keep_plans(self, session: Session) -> None:
        # A session that was ended belongs to a file that is not open any more.
        if session.ended is not None:
            kept = []
        else:
            kept = [*session.status.plans, *self.former_plans]
        self.former_plans = kept[:MOST_PLANS]

    def _release(self) -> None:
        """Be done with a core, whoever ended it."""
        session, core = self.session, self._core
        self.session = self._core = None
        try:
            if session is not None:
                session.close()
                self._keep_plans(session)
        except Exception:
            # An outermost place, whatever the person has done to Blender meanwhile: the next core must find us.
            logger.exception("the session of a core could not be closed")
        if core is not None:
            self._listener.release(core)
