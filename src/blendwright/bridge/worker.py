"""One worker process, as the core holds it: requests in, answers out, deadlines, cancellation, death.

A worker's memory is only a cache, so every doubt about one ends the same way: SIGKILL, and the calls that waited fail.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections import deque
from collections.abc import Mapping
from concurrent.futures import Future, InvalidStateError
from pathlib import Path
from typing import Any, cast

import orjson

from blendwright.bridge import exit_diagnosis
from blendwright.bridge.send_queue import SendQueue
from blendwright.bridge.spawn import Child
from blendwright.values.cancel import CancelToken
from blendwright.values.directory_removal import remove_directory
from blendwright.values.errors import Cancelled, DeadlinePassed, ProtocolBreach, WorkerError, WorkerFault
from blendwright.wire import frames
from blendwright.wire.blender_profile import WorkerProfile
from blendwright.wire.methods import METHODS
from blendwright.wire.package_version import PACKAGE_MISMATCH, mismatch, same_package, this_package
from blendwright.wire.remote_scene import RemoteScene


class WorkerProcess(RemoteScene):
    """A worker that is a child process; also its own `ChildProcess`. Thread-safe."""

    def __init__(self, child: Child) -> None:
        self._child = child
        self._sending = SendQueue(child.write_fd)
        self._lock = threading.Lock()
        self._last_id = 0
        # Answers come in the order of the requests: the oldest waits at the left.
        self._waiting: deque[tuple[int, str, Future[Any]]] = deque()
        self._killed_because: str | None = None
        self._condemned: dict[Future[Any], WorkerError] = {}
        self._end: WorkerError | None = None
        self._reader = threading.Thread(target=self._read_answers, name=f"blendwright-worker-{self.pid}", daemon=True)
        self._reader.start()

    def greet(self, timeout: float) -> None:
        """The handshake, to be done once before anything else; a worker that fails it is closed."""
        try:
            greeting = {"protocol": frames.PROTOCOL, "package": this_package()}
            answer = self.call("hello", greeting, deadline=timeout)
            if not same_package(answer["package"]):
                raise WorkerFault(PACKAGE_MISMATCH, mismatch(this_package(), answer["package"]))
            self.profile = WorkerProfile.model_validate_json(orjson.dumps(answer["profile"]))
            self.catalogue = str(answer["catalogue"])
        except WorkerError as error:
            tail = exit_diagnosis.log_tail(self._child.log)
            self.close(0.0)
            raise exit_diagnosis.start_failed(error, tail) from error
        except (ValueError, KeyError, TypeError) as error:
            self.close(0.0)
            raise exit_diagnosis.start_failed(ProtocolBreach(f"its hello is not understood: {error}"), []) from error

    @property
    def process(self) -> WorkerProcess:
        return self

    @property
    def pid(self) -> int:
        return self._child.process.pid

    @property
    def scratch(self) -> Path:
        return self._child.scratch

    @property
    def scratch_mb(self) -> int:
        return self._child.scratch_mb

    @property
    def alive(self) -> bool:
        return self._end is None and self._killed_because is None

    def log_tail(self) -> list[str]:
        """The last lines that it, and Blender in it, wrote."""
        return exit_diagnosis.log_tail(self._child.log)

    def submit(self, method: str, params: Mapping[str, Any]) -> Future[Any]:
        """Send a request without waiting; the future has the result or the error. Never blocks, whatever the worker does."""
        future: Future[Any] = Future()
        # What the worker has been sent cannot be taken back, so the future must not be cancellable either.
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
        label = label or method
        if cancel is not None and cancel.cancelled:
            raise Cancelled(f"{label} was cancelled before it was sent")
        future = self.submit(method, params)
        unsubscribe = cancel and cancel.subscribe(lambda: self._condemn(future, Cancelled(f"{label} was cancelled")))
        try:
            return future.result(deadline)
        except TimeoutError:
            self._condemn(future, DeadlinePassed(f"{label} did not end within {deadline:g} s"))
            return future.result()
        finally:
            if unsubscribe:
                unsubscribe()

    def kill(self) -> None:
        """End it by SIGKILL; calls that wait fail with WorkerLost."""
        self._kill("killed by the core")

    def abandon(self) -> None:
        self.kill()

    def close(self, timeout: float = 1.0) -> None:
        """Let it end by itself, kill it after `timeout` seconds, and remove its scratch; a second time does nothing."""
        self._sending.close()
        self._reader.join(timeout)
        if self._reader.is_alive():
            self.kill()
            self._reader.join()
        remove_directory(self.scratch)

    def _kill(self, reason: str) -> None:
        if self._killed_because is None:
            self._killed_because = reason
        self._child.process.kill()

    def _condemn(self, future: Future[Any], error: WorkerError) -> None:
        """Kill the worker because of one call, which fails with `error`; the others learn that the worker is lost."""
        with self._lock:
            if future.done():
                return
            # Noted before the kill: the reader, which sees the death first, must not take this call for one of the others.
            self._condemned[future] = error
        self._kill(error.message)
        _fail(future, error)

    def _read_answers(self) -> None:
        """The reader thread: hands out answers until the pipe ends, and with it the worker."""
        breach: ProtocolBreach | None = None
        with frames.open_reader(self._child.read_fd) as reader:
            try:
                while (body := frames.read_frame(reader)) is not None:
                    self._deliver(body)
            except frames.TruncatedFrame:
                # It died while it wrote.
                pass
            except frames.OversizedFrame as error:
                breach = ProtocolBreach(str(error))
            except ProtocolBreach as error:
                breach = error
            # Without a breach the process is exiting already, and its status is decided: the signal cannot change that.
            # It only ends a worker that closed its pipe and lives on.
            if breach is not None:
                self._kill(breach.message)
            self._child.process.kill()
        self._end_calls(self._child.process.wait(), breach)

    def _deliver(self, body: bytes) -> None:
        """Give an answer to the call that waits for it. Raises ProtocolBreach for anything but the answer that is due."""
        answer_id, result, error = _parse_answer(body)
        if answer_id is None:
            raise ProtocolBreach(f"the worker could not read what it was sent: {error}")
        if not self._waiting or self._waiting[0][0] != answer_id:
            raise ProtocolBreach(f"the worker answered request {answer_id}, which is not the one that is due")
        _, method, future = self._waiting[0]
        definition = METHODS.get(method)  # of methods that are not listed nothing is known
        if error is None and definition is not None and not definition.answer_fits(result):
            # Left among those that wait: it fails with them.
            raise ProtocolBreach(f"the worker answered {method} with what is no answer to it")
        self._waiting.popleft()
        if error is not None:
            _fail(future, error)
        else:
            with contextlib.suppress(InvalidStateError):
                future.set_result(result)

    def _end_calls(self, status: int, breach: ProtocolBreach | None) -> None:
        end = breach or exit_diagnosis.worker_lost(
            self.pid, status, exit_diagnosis.log_tail(self._child.log), self._killed_because
        )
        with self._lock:
            self._end = end
            waiting = [future for _, _, future in self._waiting]
            self._waiting.clear()
        self._sending.close()
        if self._child.lifeline_fd is not None:
            os.close(self._child.lifeline_fd)
        for future in waiting:
            _fail(future, self._condemned.get(future, end))


def _fail(future: Future[Any], error: WorkerError) -> None:
    # Two threads may end the same call, a deadline and the reader say; the first one tells why.
    with contextlib.suppress(InvalidStateError):
        future.set_exception(error)


def _parse_answer(body: bytes) -> tuple[int | None, Any, WorkerFault | None]:
    """Id, result and error of an answer. Without an id the worker could not tell which request it was. Raises ProtocolBreach."""
    try:
        message: object = orjson.loads(body)
    except orjson.JSONDecodeError as unreadable:
        raise ProtocolBreach(f"the worker sent what is not JSON: {unreadable}") from unreadable
    if not isinstance(message, dict):
        raise ProtocolBreach("the worker sent what is not an object")
    answer = cast("dict[str, Any]", message)
    answer_id, error = answer.get("id"), answer.get("error")
    if answer.keys() == {"id", "result"} and type(answer_id) is int:
        return answer_id, answer["result"], None
    if answer.keys() != {"id", "error"} or not (answer_id is None or type(answer_id) is int):
        raise ProtocolBreach(f"the worker sent what is not an answer, an object with {sorted(answer)[:8]}")
    match error:
        case {"code": str(code), "message": str(text)}:
            return answer_id, None, WorkerFault(code, text)
        case _:
            raise ProtocolBreach("the worker sent an error without code and message")
