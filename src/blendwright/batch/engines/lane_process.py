"""A worker process as its engine sees it: the engine starts it, sends it jobs and stops it."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from pathlib import Path
from typing import Any

import orjson

from blendwright.batch.engines.engine import Job, LaneSettings

LOG = "lanes.log"


class LaneProcess:
    """A connection to one worker process. One thread uses it; only `stop_at_once` may come from any thread."""

    def __init__(self, settings: LaneSettings, blender: str | None) -> None:
        # A separate session, so that Ctrl-C on the terminal does not reach it. -P keeps the working directory out of sys.path.
        command = [sys.executable, "-P", "-m", "blendwright.batch.engines.lane"]
        self._log = Path(settings.work) / LOG
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, start_new_session=True
            )
        self._ready = False
        self._send({"settings": settings.to_json(), "blender": blender})

    @property
    def pid(self) -> int:
        return self._process.pid

    def do(self, job: Job) -> dict[str, Any] | None:
        """Send a job and return the answer. Return an answer with `error` if the process failed, and None if it died."""
        if not self._ready:
            answer = self._receive()
            if answer is None:
                answer = {"error": f"a worker process ended while it started: see {self._log}", "cure": None}
            if "error" in answer:
                return answer
            self._ready = True
        self._send({"job": job.to_json()})
        return self._receive()

    def stop_at_once(self) -> None:
        """Make the process cancel its current case and give it back."""
        self._send({"stop": "at_once"})

    def end(self) -> None:
        """Let the process close its Blender and exit. Kill it after 10 seconds."""
        self._send({"stop": "now"})
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                # The buffer may hold a message that a dead process did not read, and closing tries to send it.
                with contextlib.suppress(OSError):
                    pipe.close()

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(orjson.dumps(message) + b"\n")
            self._process.stdin.flush()
        except (OSError, ValueError):
            pass  # the process is gone, which the next `_receive` notices

    def _receive(self) -> dict[str, Any] | None:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if line.endswith(b"\n"):
            return orjson.loads(line)
        return None
