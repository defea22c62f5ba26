"""The command `blendwright worker`, which runs cases of batches from a database on this machine until it is stopped."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import orjson
import typer

from blendwright.approvals.pending import parse_grants
from blendwright.batch.engines.engine import JobReport
from blendwright.batch.outputs.allowed_locations import allowed_places
from blendwright.cli.options import Blender, FleetEngine
from blendwright.cli.output import Exit, notes
from blendwright.fleet.requests import WorkDirectory, machine_queue, open_engine

# A worker that does not end within this time after the grace period exits at once. Other workers then take over its cases.
EXIT_SECONDS = 20.0


def worker(
    engine: FleetEngine = None,
    workers: Annotated[
        int | None,
        typer.Option(
            "--workers", metavar="N", help="Blenders that run at the same time; by default one per processor.", min=1
        ),
    ] = None,
    blender: Blender = None,
    work: Annotated[
        Path | None,
        typer.Option(
            "--work", metavar="DIR", help="A local directory for running cases; by default in the user's cache."
        ),
    ] = None,
    outputs: Annotated[
        list[str] | None,
        typer.Option(
            "--outputs",
            metavar="URL|DIR",
            help="Allow outputs only at this location and below; repeatable. By default any object storage, as s3://.",
        ),
    ] = None,
    approve: Annotated[
        list[str] | None,
        typer.Option(
            "--approve",
            metavar="NAME",
            help="A grant that batches may use here: destructive, a tool, a mode or a root; repeatable.",
        ),
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="Exit when no case waits.")] = False,
    grace: Annotated[
        float,
        typer.Option(
            "--grace",
            metavar="SECONDS",
            help="After a stop request, finish running cases for this time; then give them back.",
            min=0,
        ),
    ] = 30.0,
    stalled_after: Annotated[
        float,
        typer.Option(
            "--stalled-after",
            metavar="SECONDS",
            help="A worker without a heartbeat for this time counts as lost. Use the same value for all workers.",
            min=2,
        ),
    ] = 60.0,
    json: Annotated[bool, typer.Option("--json", help="Print a line of JSON for every event.")] = False,
) -> int:
    """Run cases of batches that wait in a database, until stopped. On SIGTERM, finish the running cases or give them back."""
    output = WorkerOutput(json)
    parse_grants(approve or ())
    places = allowed_places(outputs or ())
    directory = WorkDirectory.at(work)
    with directory.locked():
        queue = machine_queue(directory.root, blender)
        fleet_engine = open_engine(
            engine, queue, blender=blender, stalled_after=stalled_after, once=once, note=output.note
        )
        stopping = Stopping(fleet_engine.stop, grace, output.note)
        signal.signal(signal.SIGTERM, stopping.request)
        signal.signal(signal.SIGINT, stopping.request)
        output.began(queue)
        lane_settings = directory.lane_settings(approve or (), places)
        fleet_engine.work(lane_settings, workers or os.cpu_count() or 1, output.report)
        stopping.ended()
    output.ended()
    return Exit.DONE


class Stopping:
    """The stop requests of a worker. The first lets running cases finish; a second one, or the end of `grace` seconds, gives them back."""

    def __init__(self, stop: Callable[..., None], grace: float, note: Callable[[str], None]) -> None:
        self._stop = stop
        self._grace = grace
        self._note = note
        self._requests = 0
        self._timers: list[threading.Timer] = []

    def request(self, *_: Any) -> None:
        self._requests += 1
        self._stop(at_once=self._requests > 1)
        if self._requests == 1:
            self._note("stopping: finishing the running cases")
            for seconds, action in ((self._grace, self._give_back), (self._grace + EXIT_SECONDS, self._exit)):
                timer = threading.Timer(seconds, action)
                timer.daemon = True
                timer.start()
                self._timers.append(timer)

    def ended(self) -> None:
        for timer in self._timers:
            timer.cancel()

    def _give_back(self) -> None:
        self._note("the grace period is over: giving back the running cases")
        self._stop(at_once=True)

    def _exit(self) -> None:
        self._note("exiting: other workers take over the running cases after the heartbeat timeout")
        os._exit(Exit.FAILED)


class WorkerOutput:
    """The output of a worker: text on standard error, or lines of JSON on standard output. Any thread may call the methods."""

    def __init__(self, json: bool) -> None:
        self._json = json
        self._ends: Counter[str] = Counter()

    def began(self, queue: str) -> None:
        self._print("began", f"taking cases from {queue}", queue=queue, pid=os.getpid())

    def note(self, message: str) -> None:
        self._print("note", message, message=message)

    def report(self, report: JobReport) -> None:
        row = report.row or {}
        self._ends[row.get("status", report.end)] += 1
        number, status = row.get("number"), row.get("status")
        if row:
            seconds = row["times"].get("total")
            line = f"case {number} {status}, {seconds} s"
            self._print("case", line, number=number, status=status, seconds=seconds)
            return
        line = f"a case was {report.end.replace('_', ' ')}"
        if report.reason:
            line += f": {report.reason}"
        self._print("case", line, key=report.job.case, status=report.end, reason=report.reason)

    def ended(self) -> None:
        counts = dict(self._ends)
        line = f"stopped: {counts.get('done', 0)} cases done, {counts.get('failed', 0)} failed"
        self._print("ended", line, ends=counts)

    def _print(self, event: str, line: str, **document: Any) -> None:
        if self._json:
            sys.stdout.buffer.write(orjson.dumps({"event": event, **document}) + b"\n")
            sys.stdout.buffer.flush()
        else:
            notes().show(line)
