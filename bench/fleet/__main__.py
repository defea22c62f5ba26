"""python -m bench.fleet: measures what PostgreSQL spends on a fleet here, and simulates a thousand machines with ten million cases."""

from __future__ import annotations

import sys
from dataclasses import fields, replace
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench.fleet.figures import Cost, Figures, measure_figures
from bench.fleet.simulation import Fleet, Outcome, simulate

CASES = 10_000_000
WINDOW = 20.0
"""Seconds that are simulated."""


def main() -> int:
    # The server of the tests: its own, in a temporary directory.
    sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
    from fleet.cluster import running_cluster

    with running_cluster() as cluster:
        figures = measure_figures(cluster.url(), cluster.pid)
    show_figures(figures)
    table = Table(
        "machines x lanes", "case", "cases / job", "db cores", "cases/s", "of ideal", "db busy", "answer ms", "p99 ms",
        "log MB/s", "10 M cases",
    )  # fmt: skip
    for fleet in fleets():
        table.add_row(*cells(fleet, simulate(fleet, figures, max(WINDOW, fleet.case_seconds))))
    Console(width=140).print(table)
    storage = (CASES * figures.case_bytes + CASES / 50 * figures.job_bytes) / 1e9
    print(
        f"tables and indexes for {CASES:,} cases: {storage:.0f} GB; counting them once: {CASES * figures.count_ms / 1000:.0f} s"
    )
    return 0


def fleets() -> list[Fleet]:
    base = Fleet()
    return [
        replace(base, machines=100),
        base,
        replace(base, cases_per_job=1),
        replace(base, claims_by_job=True),
        replace(base, database_cores=16),
        replace(base, database_cores=2),
        replace(base, case_seconds=0.2),
        replace(base, case_seconds=0.2, claims_by_job=True, database_cores=32),
        replace(base, case_seconds=5.0),
        replace(base, case_seconds=5.0, database_cores=2),
        replace(base, case_seconds=30.0, database_cores=2),
    ]


def cells(fleet: Fleet, outcome: Outcome) -> list[str]:
    jobs = f"{fleet.cases_per_job}{', claimed together' if fleet.claims_by_job else ''}"
    hours = CASES / outcome.cases_per_second / 3600
    return [
        f"{fleet.machines} x {fleet.lanes}", f"{fleet.case_seconds:g} s", jobs, str(fleet.database_cores),
        f"{outcome.cases_per_second:,.0f}", f"{outcome.efficiency:.0%}", f"{outcome.database_busy:.0%}",
        f"{outcome.answer_ms:.1f}", f"{outcome.slowest_percent_ms:.0f}", f"{outcome.log_mb_per_second:.1f}",
        f"{hours:.1f} h",
    ]  # fmt: skip


def show_figures(figures: Figures) -> None:
    table = Table("what the server spends on", "processor ms", "log bytes")
    for field in fields(figures):
        name, cost = field.name, getattr(figures, field.name)
        if isinstance(cost, Cost):
            table.add_row(name, f"{cost.cpu_ms:.2f}", f"{cost.log_bytes:.0f}")
    Console(width=100).print(table)
    print(
        f"a finished case {figures.case_bytes:.0f} bytes, a job that waits {figures.job_bytes:.0f} bytes,"
        f" a connection {figures.connection_mb:.1f} MB"
    )


if __name__ == "__main__":
    sys.exit(main())
