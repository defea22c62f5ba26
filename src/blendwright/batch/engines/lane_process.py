"""The process of a lane, as the engine that drives it holds it: started, given jobs, told to stop."""

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
    """Used by one thread; `stop_at_once` comes from any."""

    def __init__(self, settings: LaneSettings, blender: str | None) -> None:
        # A session of its own, so that Ctrl-C on the terminal does not reach it. -P keeps the working directory out of sys.path.
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
        """The lane's answer; None where it died."""
        if not self._ready:
            answer = self._receive() or {"error": f"a lane ended while it started: see {self._log}", "cure": None}
            if "error" in answer:
                return answer
            self._ready = True
        self._send({"job": job.to_json()})
        return self._receive()

    def stop_at_once(self) -> None:
        """Its case is called off and given back."""
        self._send({"stop": "at_once"})

    def end(self) -> None:
        """Let it close its Blender and end; one that does not is killed."""
        self._send({"stop": "now"})
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                # What a lane that died was not told is still in the pipe's buffer, and closing tries once more.
                with contextlib.suppress(OSError):
                    pipe.close()

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(orjson.dumps(message) + b"\n")
            self._process.stdin.flush()
        except (OSError, ValueError):
            pass  # it is gone, which shows where it is waited for

    def _receive(self) -> dict[str, Any] | None:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if line.endswith(b"\n"):
            return orjson.loads(line)
        return None
