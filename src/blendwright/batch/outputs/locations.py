"""From the places that a batch names to what lies there: the table of results and the store of outputs, by path or URL."""

from __future__ import annotations

from pathlib import Path

from blendwright.batch.fleet_port import require_fleet
from blendwright.batch.outputs.store import DirectoryOutputs, OutputStore
from blendwright.batch.results.sqlite import SqliteResults
from blendwright.batch.results.table import ResultsTable

# Before the place of the outputs, whose results are in the database of the engine. Its address is no part of it: it may be a secret.
DATABASE = "database:"


def results_in_database(outputs: str) -> str:
    return f"{DATABASE}{outputs}"


def open_results(place: str) -> ResultsTable:
    """Raises EnvironmentUnfit where there can be none."""
    if place.startswith(DATABASE):
        return require_fleet().results_of(place.removeprefix(DATABASE))
    return SqliteResults(Path(place))


def open_outputs(place: str) -> OutputStore:
    if "://" in place:
        from blendwright.batch.outputs.shared_storage import FsspecOutputs

        return FsspecOutputs(place)
    return DirectoryOutputs(Path(place))
