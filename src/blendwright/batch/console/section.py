"""The batch section of one console."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from starlette.routing import Route

from blendwright.batch.console.batches import ConsoleBatch, DirectoryBatch
from blendwright.batch.console.routes import BatchReading
from blendwright.batch.directory import is_batch
from blendwright.batch.fleet_port import FleetBatches, require_fleet
from blendwright.batch.outputs.shared_storage import is_url
from blendwright.console.live import Live


class _OpenBatches:
    def __init__(self, directories: Sequence[ConsoleBatch], fleet: FleetBatches | None) -> None:
        self._directories = tuple(directories)
        self._fleet = fleet
        self._batches: dict[str, ConsoleBatch] = {batch.id: batch for batch in directories}

    def routes(self, live: Live) -> list[Route]:
        return BatchReading(self._batches, live).routes()

    def listed(self) -> list[Mapping[str, str]]:
        if self._fleet is not None:
            # Users submit batches while the page is open. Loading the page again shows them, newest first.
            current = {batch.id: batch for batch in (*self._directories, *self._fleet.batches())}
            self._batches.clear()
            self._batches.update(current)
        return [batch.description for batch in self._batches.values()]

    def close(self) -> None:
        if self._fleet is not None:
            self._fleet.close()


class _Section:
    def is_batch(self, directory: Path) -> bool:
        return is_batch(directory)

    def is_shared(self, place: str) -> bool:
        return is_url(place)

    def identity(self, directory: Path) -> str:
        batch = DirectoryBatch(directory)
        batch.place.require()
        return batch.id

    def open(self, directories: Sequence[Path], engine: str | None, places: Sequence[str]) -> _OpenBatches:
        fleet = None
        if engine is not None:
            fleet = require_fleet().console_batches(engine, places)
        return _OpenBatches([DirectoryBatch(path) for path in directories], fleet)


SECTION = _Section()
