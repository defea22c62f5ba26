"""The main program of a worker process. It reads jobs from its parent, one line of JSON each, and writes a line of JSON for each answer.

It ends when the pipe from its parent closes, because the parent is gone then. It ignores SIGINT, which the parent handles.
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

# Exit code of a worker process whose parent is gone.
PARENT_GONE = 4


class Jobs:
    """The queue of messages from the parent. A thread reads the pipe and ends this process when the pipe closes."""

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
    # Other code may print to standard output. Redirect that to standard error, so that it cannot mix with the answers.
    answers = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    code = 0
    try:
        _work(answers)
    except BlendwrightError as error:
        _answer(answers, {"error": error.message, "cure": error.cure})
        code = 1
    except Exception as error:
        # The outermost handler: the parent reports the error to the user, and the log of the worker processes contains the trace.
        logging.getLogger(__name__).exception("a worker process failed")
        _answer(answers, {"error": f"{type(error).__name__}: {error}", "cure": "This is a defect. Report it."})
        code = 1
    # Exit at once. A normal exit would wait for the thread that reads the pipe.
    os._exit(code)


def _work(answers: BinaryIO) -> None:
    cancel = CancelToken()
    jobs = Jobs(sys.stdin.buffer, cancel)
    first_message = jobs.next()
    handler = CaseHandler(LaneSettings(**first_message["settings"]), cancel)
    try:
        handler.warm(first_message["blender"])
        _answer(answers, {"ready": os.getpid()})
        message = jobs.next()
        while "job" in message:
            report = handler(Job.from_json(message["job"]))
            answer = {"end": report.end, "row": report.row, "retire": report.retire, "reason": report.reason}
            _answer(answers, answer)
            message = jobs.next()
    finally:
        handler.close()


def _answer(answers: BinaryIO, message: dict[str, Any]) -> None:
    answers.write(orjson.dumps(message) + b"\n")


if __name__ == "__main__":
    main()
