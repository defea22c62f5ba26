"""The batches of a fleet, whose results are in a database and whose files lie on storage: each place of outputs is one for the console."""

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
"""How long a list of places is not asked for again."""


class FleetBatch(ConsoleBatch):
    """A place of outputs: the batch that was submitted to it last."""

    poll_seconds = POLL_SECONDS

    def __init__(self, database: ReadingDatabase, outputs: str, policy: Path) -> None:
        super().__init__(f"{database.address} {outputs}")
        self._address = str(database.address)
        self._outputs = outputs
        self._policy = policy
        # One for all who look: it keeps what was counted.
        self._view = PostgresResultsView(database, outputs)

    @property
    def told(self) -> dict[str, str]:
        where = f"{self._outputs} in {self._address}"
        return {"id": self.id, "name": self._outputs, "directory": where, "engine": self._address}

    def open(self) -> AbstractContextManager[ResultsReader]:
        return nullcontext(self._view)

    def runs(self) -> bool:
        return self._view.is_worked_on()

    def hidden(self) -> Sequence[str]:
        return load_policy(self._policy).policy.audit.redact

    def has_files(self) -> bool:
        place = self._place
        if isinstance(place, Path):
            return (place / CASES).is_dir()
        return place is not None

    def open_file(self, attempt: str, name: str) -> tuple[BinaryIO, int]:
        place = self._place
        if place is None:
            raise FileNotFoundError(name)
        if isinstance(place, Path):
            return open_plain(place.resolve(), attempt, name)
        try:
            opened: Any = place.open(attempt, name)
            return cast("BinaryIO", opened), int(opened.size)
        except (OSError, BlendwrightError):
            raise
        except Exception as error:
            # Errors of foreign libraries: what is wrong with credentials, or with the way there, each tells by a class of its own.
            cure = "Check that this machine has credentials for it, and reaches it."
            raise EnvironmentUnfit(f"{self._outputs} cannot be read: {type(error).__name__}", cure=cure) from error

    @cached_property
    def _place(self) -> Path | FsspecOutputs | None:
        """None where this machine cannot read there: a package is missing, or a row of the database names what is no place."""
        try:
            url = check_url(self._outputs)
            if url.startswith(FILE):
                return Path(url.removeprefix(FILE))
            return FsspecOutputs(url)
        except BlendwrightError:
            return None


class Fleet:
    """The batches in one database: of the places that are named, or of all that have one, the newest first."""

    def __init__(self, engine: str, named: Sequence[str] = ()) -> None:
        """Raises Refusal for an address that is none or has a password where everybody can read it, and EnvironmentUnfit where the packages
        are missing. What the policy hides is that of the directory in which we are."""
        self._database = ReadingDatabase(read_address(engine))
        self._named = [check_url(place) for place in named]
        self._policy = Path.cwd()
        self._lock = threading.Lock()
        self._known: dict[str, FleetBatch] = {}
        self._asked = float("-inf")

    def open(self) -> Fleet:
        """Raises EnvironmentUnfit where the database does not answer, which whoever gave its address wants to know, and Refusal where
        there is nothing to show."""
        try:
            found = self._database.places(self._named)
            for place in self._named or found[:1] or [""]:
                if place not in found:
                    message = f"no batch was submitted to {self._database.address}{f' for {place}' if place else ''}"
                    raise Refusal.of(Fault.TARGET_NOT_FOUND, message, "Name what `blendwright batch run` had as --out.")
        except BlendwrightError:
            self.close()
            raise
        self._take(found)
        return self

    def batches(self) -> list[FleetBatch]:
        """Those that are known by now; where the database is away, those that were."""
        with self._lock:
            if monotonic() - self._asked > LIST_SECONDS:
                try:
                    self._take(self._database.places(self._named))
                except BlendwrightError:
                    self._asked = monotonic()
            return list(self._known.values())

    def close(self) -> None:
        self._database.close()

    def _take(self, found: Sequence[str]) -> None:
        """A place stays when it is gone from the list: pages may show it."""
        wanted = self._named or [*found, *(place for place in self._known if place not in found)]
        self._known = {
            place: self._known.get(place) or FleetBatch(self._database, place, self._policy) for place in wanted
        }
        self._asked = monotonic()
