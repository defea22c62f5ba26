"""The process of one lane: takes jobs from its parent, one line of JSON each, does them on one warm Blender, and answers each.

It ends with its parent: when the pipe that jobs come by ends, whoever wrote to it is gone. SIGINT is the parent's to answer.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
from collections import deque
from typing import Any, BinaryIO

import orjson

from blendwright.batch.cases.job_handler import CaseHandler
from blendwright.batch.engines.engine import Job, LaneSettings
from blendwright.util.cancel import CancelToken
from blendwright.values.errors import BlendwrightError

PARENT_GONE = 4


class Jobs:
    """The jobs that the parent has sent, read in a thread of their own: the end of the pipe ends this process, whatever it is doing."""

    def __init__(self, pipe: BinaryIO, cancel: CancelToken) -> None:
        self._pipe = pipe
        self._cancel = cancel
        self._ready = threading.Condition()
        self._lines: deque[dict[str, Any]] = deque()
        threading.Thread(target=self._read, name="blendwright-jobs", daemon=True).start()

    def _read(self) -> None:
        for line in self._pipe:
            message: dict[str, Any] = orjson.loads(line)
            if message.get("stop") == "at_once":
                self._cancel.cancel()
            with self._ready:
                self._lines.append(message)
                self._ready.notify()
        os._exit(PARENT_GONE)

    def next(self) -> dict[str, Any]:
        with self._ready:
            while not self._lines:
                self._ready.wait()
            return self._lines.popleft()


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # What others print must not get between the answers.
    answers = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    code = 0
    try:
        _work(answers)
    except BlendwrightError as error:
        _answer(answers, {"error": error.message, "cure": error.cure})
        code = 1
    except Exception as error:
        # An outermost place: the parent tells the user, and the trace is in the log of the lanes.
        logging.getLogger(__name__).exception("a lane failed")
        _answer(answers, {"error": f"{type(error).__name__}: {error}", "cure": "This is a defect. Report it."})
        code = 1
    # Not by way of the interpreter, which would wait for the thread that reads.
    os._exit(code)


def _work(answers: BinaryIO) -> None:
    cancel = CancelToken()
    jobs = Jobs(sys.stdin.buffer, cancel)
    begin = jobs.next()
    handler = CaseHandler(LaneSettings(**begin["settings"]), cancel)
    try:
        handler.warm(begin["blender"])
        _answer(answers, {"ready": os.getpid()})
        while "job" in (message := jobs.next()):
            report = handler(Job.from_json(message["job"]))
            answer = {"end": report.end, "row": report.row, "retire": report.retire, "reason": report.reason}
            _answer(answers, answer)
    finally:
        handler.close()


def _answer(answers: BinaryIO, message: dict[str, Any]) -> None:
    answers.write(orjson.dumps(message) + b"\n")


if __name__ == "__main__":
    main()
