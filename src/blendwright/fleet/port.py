"""The fleet's implementation of the interface for batches. It imports psycopg and fsspec late, because extras install them."""

from __future__ import annotations

from collections.abc import Sequence

from blendwright.batch.fleet_port import FleetBatches
from blendwright.batch.input.prepare import Prepared
from blendwright.batch.results.table import ResultsTable
from blendwright.fleet.commands.batch import open_fleet_results, retry_on_fleet, run_on_fleet, show_fleet


class _FleetPort:
    def run(self, engine: str, out: str, prepared: Prepared, *, detach: bool, json: bool) -> int:
        return run_on_fleet(engine, out, prepared, detach=detach, json=json)

    def retry(self, engine: str, out: str, *, json: bool) -> int:
        return retry_on_fleet(engine, out, json=json)

    def show(self, engine: str, out: str, *, json: bool) -> int:
        return show_fleet(engine, out, json=json)

    def open_results(self, engine: str, out: str) -> ResultsTable:
        return open_fleet_results(engine, out)

    def results_of(self, outputs: str) -> ResultsTable:
        from blendwright.fleet.address import read_address
        from blendwright.fleet.database import Database
        from blendwright.fleet.results import PostgresResults

        return PostgresResults(Database(read_address(None)), outputs)

    def console_batches(self, engine: str, places: Sequence[str]) -> FleetBatches:
        from blendwright.fleet.console_batches import Fleet

        return Fleet(engine, places).open()


FLEET = _FleetPort()
