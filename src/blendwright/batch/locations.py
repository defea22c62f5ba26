"""From the places that a batch names to what lies there: the table of results and the store of outputs, by path or URL."""

from __future__ import annotations

from pathlib import Path

from blendwright.batch.outputs import DirectoryOutputs, OutputStore
from blendwright.batch.results import ResultsTable
from blendwright.batch.results_sqlite import SqliteResults


def open_results(place: str) -> ResultsTable:
    """Raises EnvironmentUnfit where there can be none."""
    return SqliteResults(Path(place))


def open_outputs(place: str) -> OutputStore:
    return DirectoryOutputs(Path(place))
