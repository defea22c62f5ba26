"""The batches that a console shows: their locations and the progress of their runs, which may happen in any process."""

from __future__ import annotations

import hashlib
import threading
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict
from pathlib import Path
from time import monotonic
from typing import Any, BinaryIO

from blendwright.batch.directory import BatchDirectory
from blendwright.batch.outputs.store import CASES
from blendwright.batch.results.reader import ResultsReader
from blendwright.batch.results.table import Counts
from blendwright.batch.results.view import ResultsView
from blendwright.util.no_follow import open_file
from blendwright.values.errors import BlendwrightError
from blendwright.workspace.policy_files import load_policy

# A function that sends an event with its data to the page.
Tell = Callable[[str, Mapping[str, Any]], None]

# Time between two looks at a batch, and before a look at an unreadable batch is repeated.
POLL_SECONDS = 0.4
AGAIN_SECONDS = 1.0
# Rate and remaining time are averages over about this time.
RATE_SECONDS = 60.0


class ConsoleBatch(ABC):
    """A batch in the console. `id` is its name in URLs, like the id of a workspace.

    The methods raise Refusal if the batch no longer exists, and EnvironmentUnfit if it cannot be read now."""

    poll_seconds = POLL_SECONDS

    def __init__(self, place: str) -> None:
        self.id = hashlib.sha256(f"batch {place}".encode()).hexdigest()[:12]

    @property
    @abstractmethod
    def description(self) -> dict[str, str]:
        """Return the description of this batch for the page."""

    @abstractmethod
    def open(self) -> AbstractContextManager[ResultsReader]:
        """Open the batch's table of results for reading."""

    @abstractmethod
    def runs(self) -> bool:
        """Return whether a process runs this batch now."""

    @abstractmethod
    def hidden(self) -> Sequence[str]:
        """Return the names of parameters that the page must not show."""

    @abstractmethod
    def has_files(self) -> bool:
        """Return whether this process can read the output files of the cases."""

    @abstractmethod
    def open_file(self, attempt: str, name: str) -> tuple[BinaryIO, int]:
        """Open an output file of an attempt and return it with its size in bytes. Raise OSError or ValueError.

        The name cannot lead out of the attempt's directory."""

    def follow(self, ended: threading.Event, tell: Tell) -> None:
        """Send the progress whenever it changes, until `ended` is set. Send one event when the batch becomes unreadable."""
        reported_problem: str | None = None

        def tell_figures(event: str, data: Mapping[str, Any]) -> None:
            nonlocal reported_problem
            reported_problem = None
            tell(event, data)

        while not ended.is_set():
            try:
                with self.open() as view:
                    self._poll(view, ended, tell_figures)
            except BlendwrightError as error:  # the batch may become readable later
                if reported_problem != error.message:
                    tell("away", {"message": error.message, "cure": error.cure})
                reported_problem = error.message
                ended.wait(AGAIN_SECONDS)

    def _poll(self, view: ResultsReader, ended: threading.Event, tell: Tell) -> None:
        rate, last_state = _Rate(), None
        while not ended.is_set():
            # Read the version first, so that the next look notices a change during this one.
            state = view.version(), self.runs()
            if last_state != state:
                last_state = state
                latest = view.batch()
                counts, about = Counts(), {}
                if latest is not None:
                    batch = latest[0]
                    counts = view.counts(batch.id)
                    about = {"program": batch.source.name, "blender": batch.blender_version}
                figures = {"counts": asdict(counts), "pause": view.pause, **rate.add(counts)}
                tell("changes", {**about, "runs": state[1], **figures})
            ended.wait(self.poll_seconds)


class DirectoryBatch(ConsoleBatch):
    """A batch in a directory of this machine, which `batch run` had as --out."""

    def __init__(self, directory: Path) -> None:
        self.place = BatchDirectory(directory.resolve())
        super().__init__(str(self.place.root))

    @property
    def description(self) -> dict[str, str]:
        return {"id": self.id, "name": self.place.root.name, "directory": str(self.place.root)}

    def open(self) -> ResultsView:
        self.place.require()
        return ResultsView(self.place.results)

    def runs(self) -> bool:
        return self.place.holder() is not None

    def hidden(self) -> Sequence[str]:
        return load_policy(self.place.root).policy.audit.redact

    def has_files(self) -> bool:
        return True

    def open_file(self, attempt: str, name: str) -> tuple[BinaryIO, int]:
        return open_plain(self.place.root, attempt, name)


def open_plain(root: Path, attempt: str, name: str) -> tuple[BinaryIO, int]:
    """Open a regular file of an attempt and return it with its size in bytes. Follow no symbolic link. Raise OSError or ValueError."""
    opened = open_file(root / CASES / attempt / name)
    return opened, opened.seek(0, 2)


class _Rate:
    """The rate at which cases finish, as observed by this process."""

    def __init__(self) -> None:
        self._samples: deque[tuple[float, int]] = deque()
        self._last: tuple[Counts, dict[str, Any]] | None = None

    def add(self, counts: Counts) -> dict[str, Any]:
        """Return the rate and the remaining time after these counts. The same counts object again returns the same figures."""
        if self._last is None or self._last[0] is not counts:
            self._last = (counts, self._figures(counts))
        return self._last[1]

    def _figures(self, counts: Counts) -> dict[str, Any]:
        time, finished = monotonic(), counts.done + counts.failed
        self._samples.append((time, finished))
        # Keep two samples even if they are more than a minute apart, because counting may take long.
        while len(self._samples) > 2 and self._samples[0][0] < time - RATE_SECONDS:
            self._samples.popleft()

        first_time, first_finished = self._samples[0]
        if time <= first_time or finished <= first_finished:
            return {"per_second": None, "seconds_left": None}
        rate = (finished - first_finished) / (time - first_time)
        return {"per_second": round(rate, 3), "seconds_left": round(counts.open / rate)}
