"""What can be told of a call that takes long, while it runs: how long it has been running, and the last that it said.

What a worker prints, and how far it has rendered, is in a file of its scratch: the core reads it there, and never waits for it.
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

INTERVAL = 1.0
# Of the file, from its end; and of the line that is told.
TAIL_BYTES = 4096
LONGEST_LINE = 200


@dataclass(frozen=True, slots=True)
class Waiting:
    """A call that runs: `seconds` of `limit`; `last` is the last line that it printed, or how far a render is."""

    tool: str
    seconds: float
    limit: float
    last: str

    def __str__(self) -> str:
        return f"{self.tool}: {self.seconds:.0f} of {self.limit:g} s" + (f", {self.last}" if self.last else "")


class Heartbeat:
    """Tells of a call for the length of a `with` block, from the first second on; nothing where nobody listens."""

    def __init__(self, told: Callable[[Waiting], None] | None, tool: str, limit: float, scratch: Path | None) -> None:
        self._told = told
        self._tool, self._limit, self._scratch = tool, limit, scratch
        self._began = monotonic()
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        if self._told is not None:
            self._thread = threading.Thread(target=self._tell, name="blendwright-waiting", daemon=True)
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        if self._thread is not None:
            self._thread.join()

    def _tell(self) -> None:
        assert self._told is not None
        while not self._ended.wait(INTERVAL):
            self._told(Waiting(self._tool, monotonic() - self._began, self._limit, last_line(self._scratch)))


def last_line(scratch: Path | None) -> str:
    """The last whole line that the call has printed so far."""
    if scratch is None:
        return ""
    try:
        with open_file(scratch / PRINTED_FILE) as opened:
            opened.seek(max(0, opened.seek(0, 2) - TAIL_BYTES))
            lines = opened.read(TAIL_BYTES).decode("utf-8", "replace").splitlines()
    except OSError:
        return ""
    return next((line.strip()[:LONGEST_LINE] for line in reversed(lines) if line.strip()), "")
