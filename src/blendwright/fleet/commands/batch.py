"""What `blendwright batch` does with --engine: submit a batch to a fleet, watch it, and read its results from the database."""

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

# Counting takes the database some time: a hundredth of its time at most.
LEAST_PAUSE = 1.0
PAUSES = 100.0
MOST_SHOWN = 20
MOST_LISTED = 100_000
"""Cases whose outputs are listed at the end, to remove what attempts left that were cut off."""


def run_on_fleet(engine: str, out: str, prepared: Prepared, *, detach: bool, json: bool) -> int:
    """Submit, and watch until every case has its row. Whoever stops watching stops nothing."""
    outputs, address = check_outputs(out), use_address(engine)
    from blendwright.fleet.submission import submit

    submitted = submit(address, outputs, prepared.batch, prepared.rows, Path.cwd())
    notes().show(f"{submitted.counts.open} cases wait in {address}; whoever ends this ends none of them")
    if detach:
        return _end(submitted.batch, submitted.counts, json=json, ok=True)
    return _watch(engine, outputs, submitted.batch, json=json)


def retry_on_fleet(engine: str, out: str, *, json: bool) -> int:
    outputs, address = check_outputs(out), use_address(engine)
    from blendwright.fleet.submission import put_open_cases

    with open_fleet_results(engine, outputs) as results:
        batch = results.batch()
        assert batch is not None
        results.retry_failed(batch.id)
        put_open_cases(address, outputs, batch, results, Path.cwd())
    return _watch(engine, outputs, batch.id, json=json)


def show_fleet(engine: str, out: str, *, json: bool) -> int:
    """How far the latest batch of a place is, and its failures."""
    with open_fleet_results(engine, out) as results:
        batch = results.batch()
        assert batch is not None
        counts = results.counts(batch.id)
        if counts.failed:
            failed = [row.to_json() for row in results.rows(batch.id) if row.status == "failed"]
        else:
            failed = []

    def show(shown: SafeConsole) -> None:
        shown.show(_line(counts))
        for row in failed[:MOST_SHOWN]:
            finding = row["findings"][0]
            shown.labelled(f"  {row['number']:06d}", f"{finding['code']}: {finding['message']}", "red")

    return present(json, lambda: {**_document(batch.id, counts), "failures": failed}, show)


def open_fleet_results(engine: str, out: str) -> ResultsTable:
    """The results of a place for outputs. Raises Refusal where no batch was submitted for it."""
    outputs, address = check_outputs(out), use_address(engine)
    from blendwright.fleet.database import Database
    from blendwright.fleet.results import PostgresResults

    results = PostgresResults(Database(address).open(), outputs)
    if results.batch() is None:
        results.close()
        message = f"no batch was submitted to {address} for {outputs}"
        raise Refusal.of(Fault.TARGET_NOT_FOUND, message, "Name what `blendwright batch run` had as --out.")
    return results


def _watch(engine: str, outputs: str, batch: str, *, json: bool) -> int:
    from blendwright.fleet.submission import remove_stale_outputs

    shown: Counts | None = None
    with open_fleet_results(engine, outputs) as results:
        while True:
            started = time.monotonic()
            counts = results.counts(batch)
            if counts != shown:
                _tell(batch, counts, json=json)
                shown = counts
            if not counts.open:
                if counts.total <= MOST_LISTED:
                    remove_stale_outputs(results, open_outputs(outputs))
                return _end(batch, counts, json=json, ok=not counts.failed)
            time.sleep(max(LEAST_PAUSE, PAUSES * (time.monotonic() - started)))


def _tell(batch: str, counts: Counts, *, json: bool) -> None:
    if json:
        _print_line({"event": "progress", **_document(batch, counts)})
    else:
        notes().show(_line(counts), "dim")


def _end(batch: str, counts: Counts, *, json: bool, ok: bool) -> int:
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
