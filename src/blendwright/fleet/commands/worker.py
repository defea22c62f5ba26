"""blendwright worker: take cases of batches from a database and do them here, until told to stop."""

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
from blendwright.fleet.requests import WorkPlace, machine_queue, open_engine

# Seconds after which a worker that was told to stop ends, whatever it waits for: others take up what it had.
LAST_WAIT = 20.0


def worker(
    engine: FleetEngine = None,
    workers: Annotated[
        int | None, typer.Option("--workers", metavar="N", help="Blenders at once; as many as processors.", min=1)
    ] = None,
    blender: Blender = None,
    work: Annotated[
        Path | None,
        typer.Option(
            "--work", metavar="DIR", help="A local directory for what is under way; in the user's cache otherwise."
        ),
    ] = None,
    outputs: Annotated[
        list[str] | None,
        typer.Option(
            "--outputs",
            metavar="URL|DIR",
            help="Write outputs there and below only; may be repeated. Otherwise s3:// and the like.",
        ),
    ] = None,
    approve: Annotated[
        list[str] | None,
        typer.Option(
            "--approve",
            metavar="NAME",
            help="Allow here what batches were allowed: destructive, a tool, a mode or a root.",
        ),
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="End when nothing waits.")] = False,
    grace: Annotated[
        float,
        typer.Option(
            "--grace", metavar="SECONDS", help="Told to stop, finish cases for so long; then give them back.", min=0
        ),
    ] = 30.0,
    stalled_after: Annotated[
        float,
        typer.Option(
            "--stalled-after",
            metavar="SECONDS",
            help="Without a sign of life, a worker counts as lost. Equal in all.",
            min=2,
        ),
    ] = 60.0,
    json: Annotated[bool, typer.Option("--json", help="Print a line of JSON for everything that happens.")] = False,
) -> int:
    """Do cases of batches that wait in a database, until told to stop. SIGTERM finishes or gives back what is under way."""
    tell = Teller(json)
    parse_grants(approve or ())
    places = allowed_places(outputs or ())
    place = WorkPlace.at(work)
    with place.locked():
        queue = machine_queue(place.root, blender)
        running = open_engine(engine, queue, blender=blender, stalled_after=stalled_after, once=once, note=tell.note)
        stopping = Stopping(running.stop, grace, tell.note)
        signal.signal(signal.SIGTERM, stopping.ask)
        signal.signal(signal.SIGINT, stopping.ask)
        tell.began(queue)
        running.work(place.lane_settings(approve or (), places), workers or os.cpu_count() or 1, tell.report)
        stopping.ended()
    tell.ended()
    return Exit.DONE


class Stopping:
    """First asked to stop, it finishes cases; asked again, or after `grace` seconds, it gives them back."""

    def __init__(self, stop: Callable[..., None], grace: float, note: Callable[[str], None]) -> None:
        self._stop = stop
        self._grace = grace
        self._note = note
        self._asked = 0
        self._timers: list[threading.Timer] = []

    def ask(self, *_: Any) -> None:
        self._asked += 1
        self._stop(at_once=self._asked > 1)
        if self._asked == 1:
            self._note("stopping: cases that are under way are finished")
            for seconds, then in ((self._grace, self._give_back), (self._grace + LAST_WAIT, self._leave)):
                timer = threading.Timer(seconds, then)
                timer.daemon = True
                timer.start()
                self._timers.append(timer)

    def ended(self) -> None:
        for timer in self._timers:
            timer.cancel()

    def _give_back(self) -> None:
        self._note("time is up: cases that are under way are given back")
        self._stop(at_once=True)

    def _leave(self) -> None:
        self._note("leaving: what was under way is taken up by others when no sign of life comes any more")
        os._exit(Exit.FAILED)


class Teller:
    """What happens, for people on standard error, or for programs as lines on standard output. Called from any thread."""

    def __init__(self, json: bool) -> None:
        self._json = json
        self._ends: Counter[str] = Counter()

    def began(self, queue: str) -> None:
        self._say("began", f"taking cases from {queue}", queue=queue, pid=os.getpid())

    def note(self, message: str) -> None:
        self._say("note", message, message=message)

    def report(self, report: JobReport) -> None:
        row = report.row or {}
        self._ends[row.get("status", report.end)] += 1
        number, status = row.get("number"), row.get("status")
        if row:
            seconds = row["times"].get("total")
            self._say("case", f"case {number} {status}, {seconds} s", number=number, status=status, seconds=seconds)
        else:
            said = f"a case was {report.end.replace('_', ' ')}" + (f": {report.reason}" if report.reason else "")
            self._say("case", said, key=report.job.case, status=report.end, reason=report.reason)

    def ended(self) -> None:
        counts = dict(self._ends)
        self._say(
            "ended", f"stopped: {counts.get('done', 0)} cases done, {counts.get('failed', 0)} failed", ends=counts
        )

    def _say(self, event: str, line: str, **document: Any) -> None:
        if self._json:
            sys.stdout.buffer.write(orjson.dumps({"event": event, **document}) + b"\n")
            sys.stdout.buffer.flush()
        else:
            notes().show(line)
