"""The batches of a fleet in the console. Their results are in a database, and their files on shared storage."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from pathlib import Path
from time import monotonic
from typing import Any, BinaryIO, cast

from blendwright.batch.console.batches import ConsoleBatch, open_plain
from blendwright.batch.outputs.shared_storage import FILE, FsspecOutputs, check_url
from blendwright.batch.outputs.store import CASES
from blendwright.batch.results.reader import ResultsReader
from blendwright.fleet.address import read_address
from blendwright.fleet.reading import ReadingDatabase
from blendwright.fleet.results_view import PostgresResultsView
from blendwright.values.errors import BlendwrightError, EnvironmentUnfit, Refusal
from blendwright.values.faults import Fault
from blendwright.workspace.policy_files import load_policy

POLL_SECONDS = 2.0
LIST_SECONDS = 5.0
"""How long the list of output locations stays valid."""


class FleetBatch(ConsoleBatch):
    """The batch that was submitted last for one output location."""

    poll_seconds = POLL_SECONDS

    def __init__(self, database: ReadingDatabase, outputs: str, policy: Path) -> None:
        super().__init__(f"{database.address} {outputs}")
        self._address = str(database.address)
        self._outputs = outputs
        self._policy = policy
        # All viewers share one view, which caches the counts.
        self._view = PostgresResultsView(database, outputs)

    @property
    def description(self) -> dict[str, str]:
        location = f"{self._outputs} in {self._address}"
        return {"id": self.id, "name": self._outputs, "directory": location, "engine": self._address}

    def open(self) -> AbstractContextManager[ResultsReader]:
        return nullcontext(self._view)

    def runs(self) -> bool:
        return self._view.is_worked_on()

    def hidden(self) -> Sequence[str]:
        return load_policy(self._policy).policy.audit.redact

    def has_files(self) -> bool:
        storage = self._storage
        if isinstance(storage, Path):
            return (storage / CASES).is_dir()
        return storage is not None

    def open_file(self, attempt: str, name: str) -> tuple[BinaryIO, int]:
        storage = self._storage
        if storage is None:
            raise FileNotFoundError(name)
        if isinstance(storage, Path):
            return open_plain(storage.resolve(), attempt, name)
        try:
            opened: Any = storage.open(attempt, name)
            return cast("BinaryIO", opened), int(opened.size)
        except (OSError, BlendwrightError):
            raise
        except Exception as error:
            # Storage libraries raise errors of their own classes for wrong credentials and lost connections.
            fix = "Check the network and this machine's credentials for it."
            raise EnvironmentUnfit(f"{self._outputs} cannot be read: {type(error).__name__}", cure=fix) from error

    @cached_property
    def _storage(self) -> Path | FsspecOutputs | None:
        """Return the storage of the outputs, or None if a package is missing or the database contains an invalid location."""
        try:
            url = check_url(self._outputs)
            if url.startswith(FILE):
                return Path(url.removeprefix(FILE))
            return FsspecOutputs(url)
        except BlendwrightError:
            return None


class Fleet:
    """The batches in one database, newest first. `named` limits them to these output locations."""

    def __init__(self, engine: str, named: Sequence[str] = ()) -> None:
        """Connect later, with `open`. Raise Refusal for an invalid address, EnvironmentUnfit if packages are missing.

        The policy of the current directory decides which parameters the page hides."""
        self._database = ReadingDatabase(read_address(engine))
        self._named = [check_url(place) for place in named]
        self._policy = Path.cwd()
        self._lock = threading.Lock()
        self._batches: dict[str, FleetBatch] = {}
        self._listed_at = float("-inf")

    def open(self) -> Fleet:
        """Read the list of batches. Raise EnvironmentUnfit if the database does not answer, Refusal if there is nothing to show."""
        try:
            locations = self._database.places(self._named)
            missing = [location for location in self._named if location not in locations]
            if missing or not locations:
                message = f"no batch was submitted to {self._database.address}"
                if missing:
                    message += f" for {missing[0]}"
                fix = "Pass the URL that `blendwright batch run` had as --out."
                raise Refusal.of(Fault.TARGET_NOT_FOUND, message, fix)
        except BlendwrightError:
            self.close()
            raise
        self._update(locations)
        return self

    def batches(self) -> list[FleetBatch]:
        """Return the current batches, or the last known ones if the database does not answer."""
        with self._lock:
            if monotonic() - self._listed_at > LIST_SECONDS:
                try:
                    self._update(self._database.places(self._named))
                except BlendwrightError:
                    self._listed_at = monotonic()
            return list(self._batches.values())

    def close(self) -> None:
        self._database.close()

    def _update(self, locations: Sequence[str]) -> None:
        """Add new batches. Keep batches that disappeared from the list, because pages may show them."""
        shown = self._named or [*locations, *(location for location in self._batches if location not in locations)]
        batches: dict[str, FleetBatch] = {}
        for location in shown:
            batch = self._batches.get(location)
            batches[location] = batch or FleetBatch(self._database, location, self._policy)
        self._batches = batches
        self._listed_at = monotonic()
