"""The timer function that runs a core's requests in Blender's main thread. This module uses only the standard library.

While requests arrive, it waits for the next one for a slice of time, since every return to Blender's event loop costs a redraw. The
length of the slice follows the duration of the redraw. Without requests, it returns to Blender at once.
"""

import logging
import queue
from collections.abc import Callable
from time import monotonic
from typing import Any, Protocol

from .connection import Core, Dropped, Listener, error_body, id_of, result_body
from .package_loader import CannotLoad

# The shortest and the longest slice, in seconds.
MIN_SLICE_SECONDS = 0.008
MAX_SLICE_SECONDS = 0.25
# The length of a slice as a multiple of the duration of a redraw.
SLICE_PER_REDRAW = 4
# For HOT_SECONDS after the last request the timer has no pause, then until WARM_SECONDS short pauses, then long ones.
HOT_SECONDS = 0.25
WARM_SECONDS = 3.0
WARM_INTERVAL_SECONDS = 0.02
IDLE_INTERVAL_SECONDS = 0.25
DROPPED = "dropped"
# The number of plans in the panel.
MAX_PLANS = 5

logger = logging.getLogger(__name__)


class Session(Protocol):
    """The interface of a session, which the core's package implements in `blendwright.blender.window.session`."""

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
    """The loop that takes requests from the queue of a listener and runs them in the session of the attached core."""

    def __init__(self, listener: Listener, attach: Attach) -> None:
        self._listener = listener
        self._attach = attach
        self._core: Core | None = None
        self.session: Session | None = None
        # Plans of previous cores in this file, newest first. A command is attached only while it runs.
        self.former_plans: list[dict[str, Any]] = []
        self._slice = MIN_SLICE_SECONDS
        self._last_request = 0.0
        self._returned: tuple[float, float] | None = None

    def tick(self) -> float:
        """Run requests for one slice, and return the seconds until Blender should call this again."""
        self._follow_redraw()
        try:
            self.pump(self._slice)
        except Exception:
            # Blender drops a timer that raises, and then no request would be answered any more.
            logger.exception("running requests failed; the core is disconnected")
            self._release()
        idle = monotonic() - self._last_request
        if idle < HOT_SECONDS:
            interval = 0.0
        elif idle < WARM_SECONDS:
            interval = WARM_INTERVAL_SECONDS
        else:
            interval = IDLE_INTERVAL_SECONDS
        self._returned = (monotonic(), interval)
        return interval

    def _follow_redraw(self) -> None:
        if self._returned is not None:
            returned_at, interval = self._returned
            redraw = monotonic() - returned_at - interval
            # After a pause the time is no measure of the redraw, since Blender's loop may have slept.
            if interval == 0.0:
                self._slice = min(max(SLICE_PER_REDRAW * redraw, MIN_SLICE_SECONDS), MAX_SLICE_SECONDS)

    def pump(self, slice_seconds: float) -> None:
        """Run queued requests, and requests that arrive within the slice if one arrived recently. Then send all pending answers."""
        ends = monotonic() + slice_seconds
        try:
            while self._step(ends):
                pass
        finally:
            self._flush()

    def _step(self, ends: float) -> bool:
        """Run at most one request, and return True if the caller should continue."""
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
            if core.drops_waiting:
                core.send(self.session.drop_waiting())
            else:
                core.send(self.session.retry())
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
        message = "the core no longer waits for this request"
        answers = [error_body(request_id, DROPPED, message) for request_id in dropped.ids]
        core.send([*answers, result_body(dropped.request_id, {"dropped": len(answers)})])

    def _next(self, core: Core, ends: float) -> bytes | Dropped | None:
        """Return the next request, or None if none arrives in time or the core has hung up.

        Sends pending answers before it waits for a request."""
        try:
            body = core.frames.get_nowait()
        except queue.Empty:
            self._flush()
            remaining_seconds = ends - monotonic()
            if remaining_seconds <= 0 or monotonic() - self._last_request > HOT_SECONDS:
                return None
            try:
                body = core.frames.get(timeout=remaining_seconds)
            except queue.Empty:
                return None
        if body is None:  # The core has hung up.
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
            # An error in the core's package must not stop the timer.
            logger.exception("a core could not be attached")
            core.send([error_body(1, "cannot_load", f"{type(error).__name__}: {error}")])
            self._release()
        else:
            core.send([result_body(1, answer)])

    def _flush(self) -> None:
        if self._core is not None and self.session is not None and self.session.ended is None:
            self._core.send(self.session.answer_pending())

    def close(self) -> None:
        """Close the session and disconnect the core because the user disconnects."""
        self._release()

    def _keep_plans(self, session: Session) -> None:
        plans: list[dict[str, Any]] = []
        # A session ends when another file is opened; its plans belong to the previous file.
        if session.ended is None:
            plans = [*session.status.plans, *self.former_plans]
        self.former_plans = plans[:MAX_PLANS]

    def _release(self) -> None:
        """Close the session and disconnect the core, for any reason."""
        session, core = self.session, self._core
        self.session = self._core = None
        try:
            if session is not None:
                session.close()
                self._keep_plans(session)
        except Exception:
            # The next core must be able to attach, whatever state the user has left Blender in.
            logger.exception("the session of a core could not be closed")
        if core is not None:
            self._listener.release(core)
