"""The batches that one console shows: where each lies, and how far it is while it runs, in whichever process."""

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

# Sends an event with its data to the page.
Tell = Callable[[str, Mapping[str, Any]], None]

POLL_SECONDS = 0.4
AGAIN_SECONDS = 1.0
# Rate and time left are those of the last minute or so.
RATE_SECONDS = 60.0


class ConsoleBatch(ABC):
    """`id` is its name in addresses, as that of a workspace. Methods raise Refusal where there is no batch any more, and EnvironmentUnfit
    where it cannot be read now."""

    poll_seconds = POLL_SECONDS

    def __init__(self, place: str) -> None:
        self.id = hashlib.sha256(f"batch {place}".encode()).hexdigest()[:12]

    @property
    @abstractmethod
    def told(self) -> dict[str, str]:
        """What the page is told of it."""

    @abstractmethod
    def open(self) -> AbstractContextManager[ResultsReader]: ...

    @abstractmethod
    def runs(self) -> bool:
        """Whether somebody works on it now."""

    @abstractmethod
    def hidden(self) -> Sequence[str]:
        """The names of parameters that are not shown."""

    @abstractmethod
    def has_files(self) -> bool:
        """Whether files that its cases made can be read from here at all."""

    @abstractmethod
    def open_file(self, attempt: str, name: str) -> tuple[BinaryIO, int]:
        """A file of an attempt, and its size. The name leads nowhere but into the directory of the attempt. Raises OSError, ValueError."""

    def follow(self, ended: threading.Event, tell: Tell) -> None:
        """Tell how far it is whenever that is another, and once that it cannot be read."""
        said: str | None = None

        def tell_figures(event: str, data: Mapping[str, Any]) -> None:
            nonlocal said
            said = None
            tell(event, data)

        while not ended.is_set():
            try:
                with self.open() as view:
                    self._poll(view, ended, tell_figures)
            except BlendwrightError as error:  # it cannot be read now, and may be later
                if said != error.message:
                    tell("away", {"message": error.message, "cure": error.cure})
                said = error.message
                ended.wait(AGAIN_SECONDS)

    def _poll(self, view: ResultsReader, ended: threading.Event, tell: Tell) -> None:
        rate, last = _Rate(), None
        while not ended.is_set():
            # Asked first: what is written meanwhile is seen the next time.
            now = view.version(), self.runs()
            if last != now:
                last = now
                found = view.batch()
                if found is None:
                    counts = Counts()
                else:
                    counts = view.counts(found[0].id)
                if found is None:
                    about = {}
                else:
                    about = {"program": found[0].source.name, "blender": found[0].blender_version}
                figures = {"counts": asdict(counts), "pause": view.pause, **rate.add(counts)}
                tell("changes", {**about, "runs": now[1], **figures})
            ended.wait(self.poll_seconds)


class DirectoryBatch(ConsoleBatch):
    """What `batch run` had as --out on this machine."""

    def __init__(self, directory: Path) -> None:
        self.place = BatchDirectory(directory.resolve())
        super().__init__(str(self.place.root))

    @property
    def told(self) -> dict[str, str]:
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
    """A plain file of an attempt below a directory, with no link on the way there. Raises OSError, ValueError."""
    opened = open_file(root / CASES / attempt / name)
    return opened, opened.seek(0, 2)


class _Rate:
    """How quickly cases end, as it was seen from here."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, int]] = deque()
        self._last: tuple[Counts, dict[str, Any]] | None = None

    def add(self, counts: Counts) -> dict[str, Any]:
        """The same figures, told again, say nothing about the time in between."""
        if self._last is None or self._last[0] is not counts:
            self._last = (counts, self._told(counts))
        return self._last[1]

    def _told(self, counts: Counts) -> dict[str, Any]:
        now, finished = monotonic(), counts.done + counts.failed
        self._seen.append((now, finished))
        # Where counting takes long, the time between two of them is longer than a minute.
        while len(self._seen) > 2 and self._seen[0][0] < now - RATE_SECONDS:
            self._seen.popleft()
        (since, before), passed = self._seen[0], now - self._seen[0][0]
        if passed <= 0 or finished <= before:
            return {"per_second": None, "seconds_left": None}
        rate = (finished - before) / (now - since)
        return {"per_second": round(rate, 3), "seconds_left": round(counts.open / rate)}
