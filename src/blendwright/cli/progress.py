"""How far a command has come: a display on a terminal, nothing anywhere else."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator
from datetime import timedelta
from math import ceil

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
)
from rich.status import Status
from rich.text import Text

from blendwright.cli.output import notes
from blendwright.values.report import OperationReport

# Seconds after which there is a rate to be told.
SHORTEST = 1.0


class Pausable:
    """A display that can be paused; nothing happens while there is none."""

    def __init__(self) -> None:
        self.live: Progress | Status | None = None

    @contextlib.contextmanager
    def pause(self) -> Generator[None]:
        live = self.live
        if live is not None:
            live.stop()
        try:
            yield
        finally:
            if live is not None:
                live.start()


class ProgressBar(Pausable):
    """The progress of a run: a bar on a terminal, nothing anywhere else."""

    @contextlib.contextmanager
    def running(self, operations: int, *, show: bool) -> Generator[Callable[[OperationReport], None] | None]:
        out = notes()
        if not show or not out.is_terminal:
            yield None
            return
        columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
                   Rate())  # fmt: skip
        with Progress(*columns, console=out.drawing, transient=True) as bar:
            self.live = bar
            task = bar.add_task("starting Blender", total=operations)

            def advance(report: OperationReport) -> None:
                # What is not run is told all at once, and is no progress.
                tried = report.status not in ("skipped", "refused")
                bar.update(task, advance=int(tried), description=f"{report.operation_id} {report.tool}"[:50])

            yield advance
        self.live = None


class Rate(ProgressColumn):
    """How many per second or minute, and how long it will take at that rate, once that is known."""

    def render(self, task: Task) -> Text:
        # Short ones say nothing: answers come in bulks, many at once.
        if not task.completed or (task.elapsed or 0.0) < SHORTEST:
            return Text("")
        speed = task.completed / (task.elapsed or 1.0)
        if speed >= 1:
            rate = f"{speed:.0f}/s"
        else:
            rate = f"{speed * 60:.0f}/min"
        if task.remaining is None:
            left = None
        else:
            left = task.remaining / speed
        return Text(rate if not left else f"{rate}  {timedelta(seconds=ceil(left))} left")


@contextlib.contextmanager
def waiting(what: str, *, show: bool, pausable: Pausable | None = None) -> Generator[None]:
    """While something is done whose length nobody knows beforehand: what it is and since when, on a terminal. `pausable` is what
    questions that come meanwhile stop the display by."""
    out = notes()
    if not show or not out.is_terminal:
        yield
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Progress(*columns, console=out.drawing, transient=True) as display:
        display.add_task(what, total=None)
        if pausable is not None:
            pausable.live = display
        yield
    if pausable is not None:
        pausable.live = None
