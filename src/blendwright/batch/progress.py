"""The progress of a running batch, computed from the reports of its jobs."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any

from blendwright.batch.engines.engine import JobReport
from blendwright.batch.results.table import Counts

# Rate and remaining time are averages over this time, since earlier cases may have been different or had fewer worker processes.
WINDOW_SECONDS = 60.0
PICTURES = (".png", ".jpg", ".exr")


@dataclass(slots=True)
class Progress:
    """The progress of one run. `counts` are the batch's counts at the beginning of the run."""

    counts: Counts
    done: int = 0
    failed: int = 0
    lost: int = 0
    """The number of worker processes that died during a case. Another process resumed the case."""
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
        """Return the number of finished cases of this run and all earlier runs."""
        return self.counts.done + self.counts.failed + self.done + self.failed

    @property
    def rate(self) -> float | None:
        """Return the finished cases per second, or None before two cases have finished."""
        now = monotonic()
        while self._ends and self._ends[0] < now - WINDOW_SECONDS:
            self._ends.popleft()
        window_start = max(self._started, now - WINDOW_SECONDS)
        if len(self._ends) > 1 and now > window_start:
            return len(self._ends) / (now - window_start)
        return None

    @property
    def seconds_left(self) -> float | None:
        """Return the estimated seconds until all cases are finished, or None without a rate."""
        rate = self.rate
        if not rate:
            return None
        return max(0.0, (self.counts.total - self.finished) / rate)

    def to_json(self) -> dict[str, Any]:
        rate, seconds_left, picture = self.rate, self.seconds_left, self.picture
        document: dict[str, Any] = {
            "cases": self.counts.total,
            "done": self.counts.done + self.done,
            "failed": self.counts.failed + self.failed,
            "lost": self.lost,
            "per_second": None,
            "seconds_left": None,
            "picture": None,
        }
        if rate is not None:
            document["per_second"] = round(rate, 3)
        if seconds_left is not None:
            document["seconds_left"] = round(seconds_left)
        if picture is not None:
            document["picture"] = str(picture)
        return document
