"""What another capability can add to the console: batches, with their routes and their part of the page."""

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
        """What the page shows of each. May read from a database."""
        ...

    def close(self) -> None: ...


class BatchSection(Protocol):
    def is_batch(self, directory: Path) -> bool:
        """Whether a directory has the results of a batch."""
        ...

    def is_shared(self, place: str) -> bool:
        """Whether this is the URL of outputs that several machines share."""
        ...

    def identity(self, directory: Path) -> Hashable:
        """Equal for two paths of the same batch. Raises Refusal where there is no batch."""
        ...

    def open(self, directories: Sequence[Path], engine: str | None, places: Sequence[str]) -> OpenBatches:
        """Raises Refusal where there is no batch, and EnvironmentUnfit where the database does not answer."""
        ...


BATCHES: Point[BatchSection] = Point("console.batches")
