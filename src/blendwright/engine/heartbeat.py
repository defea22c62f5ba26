"""Progress of one long call: its running time, and the last line that it printed.

A worker writes its output and the progress of a render to a file in its scratch directory. The core reads that
file and never waits for it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import Self

from blendwright.util.no_follow import open_file
from blendwright.wire.methods import PRINTED_FILE

INTERVAL_SECONDS = 1.0
# Bytes read from the end of the file, and characters of the reported line.
MAX_TAIL_BYTES = 4096
MAX_LINE_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class Waiting:
    """The progress of a running call: `seconds` of `limit`. `last` is the last line of its output, or the progress
    of a render.
    """

    tool: str
    seconds: float
    limit: float
    last: str

    def __str__(self) -> str:
        text = f"{self.tool}: {self.seconds:.0f} of {self.limit:g} s"
        if self.last:
            text += f", {self.last}"
        return text


class Heartbeat:
    """A context manager that calls `report` about once per second while its block runs. Without `report` it starts
    no thread.
    """

    def __init__(self, report: Callable[[Waiting], None] | None, tool: str, limit: float, scratch: Path | None) -> None:
        self._report = report
        self._tool = tool
        self._limit = limit
        self._scratch = scratch
        self._began = monotonic()
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        if self._report is not None:
            self._thread = threading.Thread(target=self._report_regularly, name="blendwright-waiting", daemon=True)
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        if self._thread is not None:
            self._thread.join()

    def _report_regularly(self) -> None:
        assert self._report is not None
        while not self._ended.wait(INTERVAL_SECONDS):
            self._report(Waiting(self._tool, monotonic() - self._began, self._limit, last_line(self._scratch)))


def last_line(scratch: Path | None) -> str:
    """Return the last nonempty line that the call has printed so far, or "" if there is none."""
    if scratch is None:
        return ""
    try:
        with open_file(scratch / PRINTED_FILE) as opened:
            opened.seek(max(0, opened.seek(0, 2) - MAX_TAIL_BYTES))
            lines = opened.read(MAX_TAIL_BYTES).decode("utf-8", "replace").splitlines()
    except OSError:
        return ""

    for line in reversed(lines):
        text = line.strip()
        if text:
            return text[:MAX_LINE_CHARACTERS]
    return ""
