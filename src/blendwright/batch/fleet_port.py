"""The interface between batches and a fleet, which keeps its queue and results in a database. The package `fleet` implements it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from blendwright.capabilities import Point
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault

if TYPE_CHECKING:
    from blendwright.batch.console.batches import ConsoleBatch
    from blendwright.batch.input.prepare import Prepared
    from blendwright.batch.results.table import ResultsTable


class FleetBatches(Protocol):
    """The batches of one database, for the console."""

    def batches(self) -> Sequence[ConsoleBatch]: ...
    def close(self) -> None: ...


class FleetPort(Protocol):
    """The operations of a fleet. `engine` is the address of the database, or `env`. `out` is the URL of the outputs."""

    def run(self, engine: str, out: str, prepared: Prepared, *, detach: bool, json: bool) -> int: ...
    def retry(self, engine: str, out: str, *, json: bool) -> int: ...
    def show(self, engine: str, out: str, *, json: bool) -> int: ...
    def open_results(self, engine: str, out: str) -> ResultsTable:
        """Return the table of results. Raise Refusal if no batch was submitted for these outputs."""
        ...

    def results_of(self, outputs: str) -> ResultsTable:
        """Return the table of results in the database that the environment names."""
        ...

    def console_batches(self, engine: str, places: Sequence[str]) -> FleetBatches:
        """Return the batches of a database. Raise EnvironmentUnfit if the database does not answer."""
        ...


FLEET: Point[FleetPort] = Point("batch.fleet")


def require_fleet() -> FleetPort:
    """Return the fleet's operations. Raise Refusal if the package is not installed."""
    fleet = FLEET.offer()
    if fleet is None:
        message = "this installation can run batches only on this machine"
        raise Refusal.of(Fault.ARGS_INVALID, message, "Leave out --engine, or install the package 'fleet'.")
    return fleet
