"""The interface through which another capability adds batches to the console, with their routes and their part of the page."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from starlette.routing import Route

from blendwright.capabilities import Point
from blendwright.console.live import Live


class OpenBatches(Protocol):
    """The batches of one console."""

    def routes(self, live: Live) -> list[Route]: ...

    def listed(self) -> Sequence[Mapping[str, str]]:
        """Return a description of each batch for the page. This may read from a database."""
        ...

    def close(self) -> None: ...


class BatchSection(Protocol):
    """The operations of the batch section."""

    def is_batch(self, directory: Path) -> bool:
        """Return whether a directory contains the results of a batch."""
        ...

    def is_shared(self, place: str) -> bool:
        """Return whether a location is the URL of outputs that several machines share."""
        ...

    def identity(self, directory: Path) -> Hashable:
        """Return a value that is equal for two paths of the same batch. Raise Refusal if there is no batch."""
        ...

    def open(self, directories: Sequence[Path], engine: str | None, places: Sequence[str]) -> OpenBatches:
        """Open batches for one console. Raise Refusal if a batch is missing, EnvironmentUnfit if the database does not answer."""
        ...


BATCHES: Point[BatchSection] = Point("console.batches")
