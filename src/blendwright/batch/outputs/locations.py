"""Functions that open the table of results and the output store of a batch by path or URL."""

from __future__ import annotations

from pathlib import Path

from blendwright.batch.fleet_port import require_fleet
from blendwright.batch.outputs.store import DirectoryOutputs, OutputStore
from blendwright.batch.results.sqlite import SqliteResults
from blendwright.batch.results.table import ResultsTable

# Prefix of an output URL whose results are in the engine's database. The database's address is not included, since it may be secret.
DATABASE = "database:"


def results_in_database(outputs: str) -> str:
    """Return the location of the results of a batch in the database, by the URL of its outputs."""
    return f"{DATABASE}{outputs}"


def open_results(place: str) -> ResultsTable:
    """Open a table of results by its path or database location. Raise EnvironmentUnfit if that fails."""
    if place.startswith(DATABASE):
        return require_fleet().results_of(place.removeprefix(DATABASE))
    return SqliteResults(Path(place))


def open_outputs(place: str) -> OutputStore:
    """Open an output store by its path or URL."""
    if "://" in place:
        from blendwright.batch.outputs.shared_storage import FsspecOutputs

        return FsspecOutputs(place)
    return DirectoryOutputs(Path(place))
