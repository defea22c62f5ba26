"""The core's end of a connection to one Blender over two descriptors: requests, answers, deadlines, cancellation.

A deadline or a broken stream has different consequences. The core kills a child process, but never a window that a user has open.
"""

from __future__ import annotations

import contextlib
import threading
from abc import abstractmethod
from collections import deque
from collections.abc import Mapping
from concurrent.futures import Future, InvalidStateError
from typing import Any, cast

import orjson

from blendwright.bridge.send_queue import SendQueue
from blendwright.util.cancel import CancelToken
from blendwright.values.errors import Cancelled, DeadlinePassed, ProtocolBreach, WorkerError, WorkerFault
from blendwright.wire import frames
from blendwright.wire.blender_profile import WorkerProfile
from blendwright.wire.methods import METHODS
from blendwright.wire.package_version import PACKAGE_MISMATCH, mismatch, same_package, this_package
from blendwright.wire.remote_scene import RemoteScene
from blendwright.wire.window_methods import WINDOW_METHODS


class Connection(RemoteScene):
    """A connection with requests and answers in the order of the requests. Thread-safe. Call `start_reading` once, after set-up."""

    def __init__(self, read_fd: int, sending: SendQueue) -> None:
        self._read_fd = read_fd
        self._sending = sending
        self._lock = threading.Lock()
        self._last_id = 0
        # Calls that wait for an answer, as (id, method, future), the oldest at the left.
        self._waiting: deque[tuple[int, str, Future[Any]]] = deque()
        self._end: WorkerError | None = None

    def start_reading(self, name: str) -> threading.Thread:
        """Start the reader thread and return it."""
        thread = threading.Thread(target=self._read_answers, name=name, daemon=True)
        thread.start()
        return thread

    def exchange_hello(self, timeout: float) -> None:
        """Exchange the handshake. Raise WorkerError, or ValueError, KeyError or TypeError for a malformed answer."""
        greeting = {"protocol": frames.PROTOCOL, "package": this_package()}
        answer = self.call("hello", greeting, deadline=timeout)
        if not same_package(answer["package"]):
            raise WorkerFault(PACKAGE_MISMATCH, mismatch(this_package(), answer["package"]))
        self.profile = WorkerProfile.model_validate_json(orjson.dumps(answer["profile"]))
        self.catalogue = str(answer["catalogue"])

    def submit(self, method: str, params: Mapping[str, Any]) -> Future[Any]:
        """Send a request without waiting. Return a future for the result or error. It never blocks, whatever the other side does."""
        future: Future[Any] = Future()
        # A sent request cannot be withdrawn, so the future must not be cancellable.
        future.set_running_or_notify_cancel()
        with self._lock:
            request_id = self._last_id + 1
            body = orjson.dumps({"id": request_id, "method": method, "params": params})
            if len(body) > frames.MAX_FRAME:
                message = f"the request has {len(body)} bytes, at most {frames.MAX_FRAME} fit a frame"
                raise WorkerFault("oversized_request", message)
            if self._end is not None:
                future.set_exception(self._end)
                return future
            self._last_id = request_id
            self._waiting.append((request_id, method, future))
            self._sending.send(body)
        return future

    def call(
        self,
        method: str,
        params: Mapping[str, Any],
        *,
        deadline: float | None,
        cancel: CancelToken | None = None,
        label: str | None = None,
    ) -> Any:
        """Send a request and return its result. `label` names the call in errors, `deadline` is in seconds."""
        label = label or method
        if cancel is not None and cancel.cancelled:
            raise Cancelled(f"{label} was cancelled before it was sent")
        future = self.submit(method, params)
        unsubscribe = None
        if cancel is not None:
            unsubscribe = cancel.subscribe(lambda: self._give_up(future, Cancelled(f"{label} was cancelled")))
        try:
            return future.result(deadline)
        except TimeoutError:
            self._give_up(future, DeadlinePassed(f"{label} did not end within {deadline:g} s"))
            return future.result()
        finally:
            if unsubscribe:
                unsubscribe()

    @abstractmethod
    def _give_up(self, future: Future[Any], error: WorkerError) -> None:
        """Stop waiting for one call, which fails with `error`."""

    @abstractmethod
    def _stream_ended(self, breach: ProtocolBreach | None) -> WorkerError:
        """Return the error with which all calls fail from now on, after the stream ended or broke the protocol."""

    def _read_answers(self) -> None:
        """Deliver answers until the stream ends. The reader thread runs this."""
        breach: ProtocolBreach | None = None
        with frames.open_reader(self._read_fd) as reader:
            try:
                while (body := frames.read_frame(reader)) is not None:
                    self._deliver(body)
            except (frames.TruncatedFrame, ConnectionError):
                pass  # the other side ended during a write
            except frames.OversizedFrame as error:
                breach = ProtocolBreach(str(error))
            except ProtocolBreach as error:
                breach = error
            end = self._stream_ended(breach)
        with self._lock:
            self._end = end
            waiting = [future for _, _, future in self._waiting]
            self._waiting.clear()
        self._sending.close()
        for future in waiting:
            fail(future, self._error_for(future, end))

    def _error_for(self, future: Future[Any], end: WorkerError) -> WorkerError:
        """Return the error of a call that was waiting when the stream ended."""
        return end

    def _deliver(self, body: bytes) -> None:
        """Give an answer to the call that waits for it. Raise ProtocolBreach if it is not the next expected answer."""
        answer_id, result, error = _parse_answer(body)
        if answer_id is None:
            raise ProtocolBreach(f"the worker could not read a request: {error}")
        if not self._waiting or self._waiting[0][0] != answer_id:
            raise ProtocolBreach(f"the worker answered request {answer_id} out of order")
        _, method, future = self._waiting[0]
        # There is no check for methods without a definition.
        definition = METHODS.get(method) or WINDOW_METHODS.get(method)
        if error is None and definition is not None and not definition.answer_fits(result):
            # The call stays in the queue and fails with the other calls.
            raise ProtocolBreach(f"the worker sent an invalid answer to {method}")
        self._waiting.popleft()
        if error is not None:
            fail(future, error)
        else:
            with contextlib.suppress(InvalidStateError):
                future.set_result(result)


def fail(future: Future[Any], error: WorkerError) -> None:
    # Two threads may end the same call, for example a deadline and the reader. The first error wins.
    """Fail a call with an error, unless it has ended already."""
    with contextlib.suppress(InvalidStateError):
        future.set_exception(error)


def _parse_answer(body: bytes) -> tuple[int | None, Any, WorkerFault | None]:
    """Return id, result and error of an answer. The id is None if the worker could not read the request. Raise ProtocolBreach."""
    try:
        message: object = orjson.loads(body)
    except orjson.JSONDecodeError as unreadable:
        raise ProtocolBreach(f"the worker sent invalid JSON: {unreadable}") from unreadable
    if not isinstance(message, dict):
        raise ProtocolBreach("the worker sent JSON that is not an object")
    answer = cast("dict[str, Any]", message)
    answer_id, error = answer.get("id"), answer.get("error")
    if answer.keys() == {"id", "result"} and type(answer_id) is int:
        return answer_id, answer["result"], None
    if answer.keys() != {"id", "error"} or not (answer_id is None or type(answer_id) is int):
        raise ProtocolBreach(f"the worker sent an object that is not an answer; its keys: {sorted(answer)[:8]}")
    match error:
        case {"code": str(code), "message": str(text)}:
            return answer_id, None, WorkerFault(code, text)
        case _:
            raise ProtocolBreach("the worker sent an error without code and message")
