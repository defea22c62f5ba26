"""Processes that evaluate programs.

They are kept for the next program, because starting one takes longer than most programs.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import select
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import orjson

from blendwright.values.errors import EnvironmentUnfit, Refusal
from blendwright.wire.worker_environment import private_environment

LENGTH = struct.Struct(">I")
MODULE = "blendwright.programs.evaluator"
# Idle processes to keep; two programs at the same time are common, more are rare.
MAX_IDLE = 2
MOST_AT_ONCE = 4
# Programs that one process evaluates before another replaces it.
MAX_PROGRAMS = 2000
START_SECONDS = 30.0


# Seconds between calls of `go_on` during an evaluation.
GO_ON_INTERVAL_SECONDS = 0.2
# A process notices the end of its time itself. If it does not do so within this time, the core kills it.
GRACE_SECONDS = 0.5
# Takes the seconds since the start of an evaluation; returns True if the evaluation should continue.
GoOn = Callable[[float], bool]


class EvaluatorEnded(Exception):
    """The end of the process during an evaluation.

    `in_time` is True if it ended before its time was over. `line` is the last line that it reported.
    """

    def __init__(self, in_time: bool, line: int) -> None:
        super().__init__("the evaluator ended")
        self.in_time = in_time
        self.line = line


class EvaluationStopped(Exception):
    """The end of an evaluation because its caller no longer wants the result."""


class EvaluatorProcess:
    """An evaluator process. It evaluates one program at a time."""

    def __init__(self) -> None:
        # The process gets a separate session, so that Ctrl-C in the core's terminal does not reach it.
        environment = {
            **private_environment(Path(tempfile.gettempdir())),
            "PYTHONPATH": os.pathsep.join(_import_path()),
        }
        # The process stores its current line in this file, which outlives the process.
        self._reached = tempfile.TemporaryFile()  # noqa: SIM115 (it is closed with the process)
        try:
            self._reached.write(bytes(LENGTH.size))
            self._reached.flush()
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-s", "-m", MODULE, str(self._reached.fileno())],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=environment,
                pass_fds=(self._reached.fileno(),),
                start_new_session=True,
            )
        except OSError:
            self._reached.close()
            raise
        assert self._process.stdin is not None and self._process.stdout is not None
        self._write_fd, self._read_fd = self._process.stdin.fileno(), self._process.stdout.fileno()
        self.asked = 0

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def ask(
        self,
        request: Mapping[str, Any],
        seconds: float,
        read_library: Callable[[str], str],
        go_on: GoOn = lambda seconds: True,
    ) -> dict[str, Any]:
        """Return the result. Raise EvaluatorEnded or EvaluationStopped, after which this process is unusable."""
        try:
            if not self.asked:
                self._receive(time.monotonic() + START_SECONDS, lambda: go_on(0.0))  # it is ready
            self.asked += 1
            self._send(request)
            started = time.monotonic()
            while True:
                answer = self._receive(started + seconds + GRACE_SECONDS, lambda: go_on(time.monotonic() - started))
                if "load" in answer:
                    self._send(_library(read_library, answer["load"]))
                elif answer["broken"]:
                    raise EOFError
                else:
                    return answer
        except TimeoutError:
            raise EvaluatorEnded(False, self._line()) from None
        except (OSError, EOFError):
            raise EvaluatorEnded(True, self._line()) from None

    def _line(self) -> int:
        return max(1, LENGTH.unpack(os.pread(self._reached.fileno(), LENGTH.size, 0))[0])

    def end(self) -> None:
        with contextlib.suppress(OSError):
            self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._reached):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()

    def _send(self, message: Mapping[str, Any]) -> None:
        body = orjson.dumps(message)
        remaining = memoryview(LENGTH.pack(len(body)) + body)
        while remaining:
            remaining = remaining[os.write(self._write_fd, remaining) :]

    def _receive(self, deadline: float, go_on: Callable[[], bool]) -> dict[str, Any]:
        length = LENGTH.unpack(self._read(LENGTH.size, deadline, go_on))[0]
        return orjson.loads(self._read(length, deadline, go_on))

    def _read(self, length: int, deadline: float, go_on: Callable[[], bool]) -> bytes:
        parts: list[bytes] = []
        while length:
            remaining = deadline - time.monotonic()
            ready, _, _ = select.select([self._read_fd], [], [], max(0.0, min(remaining, GO_ON_INTERVAL_SECONDS)))
            if ready:
                part = os.read(self._read_fd, min(length, 1 << 20))
                if not part:
                    raise EOFError
                parts.append(part)
                length -= len(part)
            elif remaining <= 0:
                raise TimeoutError
            elif not go_on():
                raise EvaluationStopped
        return b"".join(parts)


def _library(read: Callable[[str], str], path: str) -> dict[str, str]:
    try:
        return {"text": read(path)}
    except Refusal as refusal:
        return {"refused": refusal.findings[0].message}


def _import_path() -> list[str]:
    """Return the import path of this package and its libraries."""
    return [part for part in sys.path if part]


class Evaluators:
    """A pool with a limited number of evaluator processes, since each may use much memory and a core."""

    def __init__(self, at_once: int = MOST_AT_ONCE) -> None:
        self._idle: list[EvaluatorProcess] = []
        self._lock = threading.Lock()
        self._places = threading.BoundedSemaphore(at_once)

    def ask(
        self,
        request: Mapping[str, Any],
        seconds: float,
        read_library: Callable[[str], str],
        go_on: GoOn = lambda seconds: True,
    ) -> dict[str, Any]:
        with self._places:
            process = self._take()
            try:
                answer = process.ask(request, seconds, read_library, go_on)
            except BaseException:
                process.end()
                raise
            self._give_back(process, usable=process.asked < MAX_PROGRAMS and not answer["worn"])
        return answer

    def warm(self) -> None:
        """Start a process for the first program."""
        self._give_back(self._take(), usable=True)

    def close(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        for process in idle:
            process.end()

    def _take(self) -> EvaluatorProcess:
        with self._lock:
            while self._idle:
                process = self._idle.pop()
                if process.alive:
                    return process
                process.end()
        try:
            return EvaluatorProcess()
        except OSError as error:
            raise EnvironmentUnfit(f"cannot start a process for the program: {error.strerror}") from error

    def _give_back(self, process: EvaluatorProcess, *, usable: bool) -> None:
        with self._lock:
            if usable and len(self._idle) < MAX_IDLE:
                self._idle.append(process)
                return
        process.end()


EVALUATORS = Evaluators()
atexit.register(EVALUATORS.close)
