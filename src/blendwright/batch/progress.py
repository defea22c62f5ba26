"""How far a batch has come: what was told of its jobs, as figures."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any

from blendwright.batch.engines.engine import JobReport
from blendwright.batch.results.table import Counts

# Rate and time left are those of the last minute or so: what came before may have been other cases, or fewer lanes.
WINDOW_SECONDS = 60.0
PICTURES = (".png", ".jpg", ".exr")


@dataclass(slots=True)
class Progress:
    """The cases of this run: `counts` are as they were when it began."""

    counts: Counts
    done: int = 0
    failed: int = 0
    lost: int = 0
    """How often a lane died with a case, which was then gone on with."""
    picture: Path | None = None
    _ends: deque[float] = field(default_factory=deque[float])
    _started: float = field(default_factory=monotonic)

    def add(self, report: JobReport) -> None:
        if report.end == "lost":
            self.lost += 1
        if report.end != "published" or report.row is None:
            return
        if report.row["status"] == "done":
            self.done += 1
        else:
            self.failed += 1
        self._ends.append(monotonic())
        pictures = [name for name in report.row["outputs"] if name.endswith(PICTURES)]
        if pictures:
            self.picture = Path(report.row["location"], pictures[0])

    @property
    def finished(self) -> int:
        """Of all runs together."""
        return self.counts.done + self.counts.failed + self.done + self.failed

    @property
    def rate(self) -> float | None:
        """Cases per second; None before there are two to tell by."""
        now = monotonic()
        while self._ends and self._ends[0] < now - WINDOW_SECONDS:
            self._ends.popleft()
        since = max(self._started, now - WINDOW_SECONDS)
        if len(self._ends) > 1 and now > since:
            return len(self._ends) / (now - since)
        return None

    @property
    def seconds_left(self) -> float | None:
        rate = self.rate
        if not rate:
            return None
        return max(0.0, (self.counts.total - self.finished) / rate)

    def to_json(self) -> dict[str, Any]:
        rate, left = self.rate, self.seconds_left
        return {
            "cases": self.counts.total,
            "done": self.counts.done + self.done,
            "failed": self.counts.failed + self.failed,
            "lost": self.lost,
            "per_second": None if rate is None else round(rate, 3),
            "seconds_left": None if left is None else round(left),
            "picture": None if self.picture is None else str(self.picture),
        }
