"""The processes in which programs are evaluated, kept for the next program: starting one takes longer than most programs."""

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
# Two programs at the same time are common enough, more are not.
MOST_IDLE = 2
# What a process may have grown by is not known from outside; a new one now and then costs little.
MOST_PROGRAMS = 2000
START_SECONDS = 30.0


class EvaluatorEnded(Exception):
    """The process ended with the program in it. `in_time`: by itself, and not because its time was over. `line` is the last one
    that it told."""

    def __init__(self, in_time: bool, line: int | None) -> None:
        super().__init__("the evaluator ended")
        self.in_time = in_time
        self.line = line


class EvaluatorProcess:
    """One process. It is asked one program at a time."""

    def __init__(self) -> None:
        # A session of its own, so that Ctrl-C on the core's terminal does not reach it.
        environment = {
            **private_environment(Path(tempfile.gettempdir())),
            "PYTHONPATH": os.pathsep.join(_import_path()),
        }
        self._process = subprocess.Popen(
            [sys.executable, "-s", "-m", MODULE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            start_new_session=True,
        )
        assert self._process.stdin is not None and self._process.stdout is not None
        self._write_fd, self._read_fd = self._process.stdin.fileno(), self._process.stdout.fileno()
        self.asked = 0

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def ask(self, request: Mapping[str, Any], seconds: float, read_library: Callable[[str], str]) -> dict[str, Any]:
        """The result. Raises EvaluatorEnded, after which this process is of no use any more."""
        line: int | None = None
        try:
            if not self.asked:
                self._receive(time.monotonic() + START_SECONDS)  # it is ready
            self.asked += 1
            self._send(request)
            deadline = time.monotonic() + seconds
            while True:
                answer = self._receive(deadline)
                if "load" in answer:
                    self._send(_library(read_library, answer["load"]))
                elif "at" in answer:
                    line = answer["at"]
                elif answer["broken"]:
                    raise EOFError
                else:
                    return answer
        except TimeoutError:
            self.end()
            raise EvaluatorEnded(False, line) from None
        except (OSError, EOFError):
            self.end()
            raise EvaluatorEnded(True, line) from None

    def end(self) -> None:
        with contextlib.suppress(OSError):
            self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()

    def _send(self, message: Mapping[str, Any]) -> None:
        body = orjson.dumps(message)
        left = memoryview(LENGTH.pack(len(body)) + body)
        while left:
            left = left[os.write(self._write_fd, left) :]

    def _receive(self, deadline: float) -> dict[str, Any]:
        length = LENGTH.unpack(self._read(LENGTH.size, deadline))[0]
        return orjson.loads(self._read(length, deadline))

    def _read(self, length: int, deadline: float) -> bytes:
        parts: list[bytes] = []
        while length:
            ready, _, _ = select.select([self._read_fd], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                raise TimeoutError
            part = os.read(self._read_fd, min(length, 1 << 20))
            if not part:
                raise EOFError
            parts.append(part)
            length -= len(part)
        return b"".join(parts)


def _library(read: Callable[[str], str], path: str) -> dict[str, str]:
    try:
        return {"text": read(path)}
    except Refusal as refusal:
        return {"refused": refusal.findings[0].message}


def _import_path() -> list[str]:
    """Where this package and its libraries come from, whatever way they came there."""
    return [part for part in sys.path if part]


class Evaluators:
    """The idle processes. Whoever asks takes one or starts one, and gives it back."""

    def __init__(self) -> None:
        self._idle: list[EvaluatorProcess] = []
        self._lock = threading.Lock()

    def ask(self, request: Mapping[str, Any], seconds: float, read_library: Callable[[str], str]) -> dict[str, Any]:
        process = self._take()
        try:
            answer = process.ask(request, seconds, read_library)
        except BaseException:
            process.end()
            raise
        self._give_back(process, usable=process.asked < MOST_PROGRAMS)
        return answer

    def warm(self) -> None:
        """Have a process ready for the first program."""
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
            raise EnvironmentUnfit(f"no process can be started for the program: {error.strerror}") from error

    def _give_back(self, process: EvaluatorProcess, *, usable: bool) -> None:
        with self._lock:
            if usable and len(self._idle) < MOST_IDLE:
                self._idle.append(process)
                return
        process.end()


EVALUATORS = Evaluators()
atexit.register(EVALUATORS.close)
