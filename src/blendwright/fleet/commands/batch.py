"""The implementation of `blendwright batch` with --engine: submit a batch to a fleet, watch it, and read its results."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from blendwright.batch.outputs.locations import open_outputs
from blendwright.cli.output import Exit, SafeConsole, notes, present
from blendwright.fleet.requests import check_outputs, use_address
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault

if TYPE_CHECKING:
    from blendwright.batch.input.prepare import Prepared
    from blendwright.batch.results.table import Counts, ResultsTable

# Counting is slow in the database. Between two counts, the command waits this many times as long as counting took.
MIN_PAUSE_SECONDS = 1.0
PAUSE_FACTOR = 100.0
# Failed cases that `batch status` prints.
MAX_LISTED_FAILURES = 20
MAX_SWEPT_CASES = 100_000
"""After larger batches, the command does not look for the outputs of interrupted attempts."""


def run_on_fleet(engine: str, out: str, prepared: Prepared, *, detach: bool, json: bool) -> int:
    """Submit a batch and watch it until every case has its row. Stopping the command does not stop the batch."""
    outputs, address = check_outputs(out), use_address(engine)
    from blendwright.fleet.submission import submit

    submitted = submit(address, outputs, prepared.batch, prepared.rows, Path.cwd())
    notes().show(f"{submitted.counts.open} cases wait in {address}; stopping this command does not stop them")
    if detach:
        return _end(submitted.batch, submitted.counts, json=json, ok=True)
    return _watch(engine, outputs, submitted.batch, json=json)


def retry_on_fleet(engine: str, out: str, *, json: bool) -> int:
    """Submit the failed cases of the latest batch again, and watch them."""
    outputs, address = check_outputs(out), use_address(engine)
    from blendwright.fleet.submission import put_open_cases

    with open_fleet_results(engine, outputs) as results:
        batch = results.batch()
        assert batch is not None
        results.retry_failed(batch.id)
        put_open_cases(address, outputs, batch, results, Path.cwd())
    return _watch(engine, outputs, batch.id, json=json)


def show_fleet(engine: str, out: str, *, json: bool) -> int:
    """Show the progress and the failures of the latest batch with these outputs."""
    with open_fleet_results(engine, out) as results:
        batch = results.batch()
        assert batch is not None
        counts = results.counts(batch.id)
        failed_rows: list[dict[str, Any]] = []
        if counts.failed:
            failed_rows = [row.to_json() for row in results.rows(batch.id) if row.status == "failed"]

    def show(shown: SafeConsole) -> None:
        shown.show(_line(counts))
        for row in failed_rows[:MAX_LISTED_FAILURES]:
            finding = row["findings"][0]
            shown.labelled(f"  {row['number']:06d}", f"{finding['code']}: {finding['message']}", "red")

    return present(json, lambda: {**_document(batch.id, counts), "failures": failed_rows}, show)


def open_fleet_results(engine: str, out: str) -> ResultsTable:
    """Open the results for an output location. Raise Refusal if no batch was submitted for it."""
    outputs, address = check_outputs(out), use_address(engine)
    from blendwright.fleet.database import Database
    from blendwright.fleet.results import PostgresResults

    results = PostgresResults(Database(address).open(), outputs)
    if results.batch() is None:
        results.close()
        message = f"no batch with the outputs {outputs} was submitted to {address}"
        raise Refusal.of(Fault.TARGET_NOT_FOUND, message, "Pass the URL that `blendwright batch run` had as --out.")
    return results


def _watch(engine: str, outputs: str, batch: str, *, json: bool) -> int:
    from blendwright.fleet.submission import remove_stale_outputs

    shown: Counts | None = None
    with open_fleet_results(engine, outputs) as results:
        while True:
            started = time.monotonic()
            counts = results.counts(batch)
            if counts != shown:
                _show_progress(batch, counts, json=json)
                shown = counts
            if not counts.open:
                if counts.total <= MAX_SWEPT_CASES:
                    remove_stale_outputs(results, open_outputs(outputs))
                return _end(batch, counts, json=json, ok=not counts.failed)
            time.sleep(max(MIN_PAUSE_SECONDS, PAUSE_FACTOR * (time.monotonic() - started)))


def _show_progress(batch: str, counts: Counts, *, json: bool) -> None:
    if json:
        _print_line({"event": "progress", **_document(batch, counts)})
    else:
        notes().show(_line(counts), "dim")


def _end(batch: str, counts: Counts, *, json: bool, ok: bool) -> int:
    """Print the final counts and return the exit code."""
    if json:
        _print_line({"event": "summary", **_document(batch, counts), "ok": ok})
    else:
        notes().show(_line(counts))
    if ok:
        return Exit.DONE
    return Exit.FAILED


def _document(batch: str, counts: Counts) -> dict[str, Any]:
    ok = not counts.failed and not counts.open
    return {
        "ok": ok, "batch": batch, "cases": counts.total, "done": counts.done, "failed": counts.failed,
        "running": counts.running, "waiting": counts.waiting,
    }  # fmt: skip


def _line(counts: Counts) -> str:
    return (
        f"{counts.done} of {counts.total} cases done, {counts.failed} failed, {counts.running} running,"
        f" {counts.waiting} waiting"
    )


def _print_line(document: dict[str, Any]) -> None:
    sys.stdout.buffer.write(orjson.dumps(document, option=orjson.OPT_APPEND_NEWLINE))
    sys.stdout.buffer.flush()
