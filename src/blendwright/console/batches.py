"""The batches that one console shows: where each lies, and how far it is while it runs, in whichever process."""

from __future__ import annotations

import hashlib
import threading
from collections import deque
from dataclasses import asdict
from pathlib import Path
from time import monotonic

from blendwright.batch.directory import BatchDirectory
from blendwright.batch.results import Counts
from blendwright.batch.results_view import ResultsView
from blendwright.console.live import Tell
from blendwright.values.errors import BlendwrightError

POLL_SECONDS = 0.4
# Rate and time left are those of the last minute or so.
RATE_SECONDS = 60.0


class ConsoleBatch:
    """`id` is its name in addresses, as that of a workspace."""

    def __init__(self, directory: Path) -> None:
        self.place = BatchDirectory(directory.resolve())
        self.id = hashlib.sha256(f"batch {self.place.root}".encode()).hexdigest()[:12]

    @property
    def told(self) -> dict[str, str]:
        """What the page is told of it."""
        return {"id": self.id, "name": self.place.root.name, "directory": str(self.place.root)}

    def open(self) -> ResultsView:
        """Raises Refusal where there is no batch any more."""
        self.place.require()
        return ResultsView(self.place.results)

    def follow(self, ended: threading.Event, tell: Tell) -> None:
        """Tell how far it is whenever that is another."""
        while not ended.is_set():
            try:
                with self.open() as view:
                    self._poll(view, ended, tell)
            except BlendwrightError:  # it cannot be read now, and may be later
                ended.wait(1.0)

    def _poll(self, view: ResultsView, ended: threading.Event, tell: Tell) -> None:
        rate, last = _Rate(), None
        while not ended.is_set():
            # Asked first: what is written meanwhile is seen the next time.
            version, runs = view.version(), self.place.holder() is not None
            if last is None or last[0] != version or last[1] != runs:
                last = (version, runs)
                found = view.batch()
                counts = Counts() if found is None else view.counts(found[0].id)
                tell("changes", {"counts": asdict(counts), "runs": runs, **rate.add(counts)})
            ended.wait(POLL_SECONDS)


class _Rate:
    """How quickly cases end, as it was seen from here."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, int]] = deque()

    def add(self, counts: Counts) -> dict[str, float | None]:
        now, finished = monotonic(), counts.done + counts.failed
        self._seen.append((now, finished))
        while self._seen[0][0] < now - RATE_SECONDS:
            self._seen.popleft()
        (since, before), passed = self._seen[0], now - self._seen[0][0]
        if passed <= 0 or finished <= before:
            return {"per_second": None, "seconds_left": None}
        rate = (finished - before) / (now - since)
        return {"per_second": round(rate, 3), "seconds_left": round(counts.open / rate)}
